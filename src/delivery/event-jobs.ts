import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Event } from '../event/event.ts';
import { waitsFor } from '../github/outage.ts';
import { eventJobSchema, type Job, type JobResult, type Queue } from '../queue/queue.ts';
import type { Storage } from '../storage/storage.ts';

/** Events that no delivery brought: fired by hand, or found by looking. */
export interface EventJobs {
  perform(job: Job): Promise<JobResult>;
  giveUp(job: Job, error: unknown): Promise<void>;
}

export function createEventJobs(deps: {
  storage: Storage;
  queue: Queue;
  clock: Clock;
  log: Log;
  onEvent(event: Event, cause: null): Promise<void>;
}): EventJobs {
  const { storage, queue, clock, log, onEvent } = deps;
  return {
    async perform({ payload }) {
      const { event } = eventJobSchema.parse(payload);
      await onEvent(event, null);
      return { kind: 'done' };
    },

    async giveUp({ kind, key, payload }, error) {
      const { event, since } = eventJobSchema.parse(payload);
      const now = clock.now();
      const cameAt = since === undefined ? now : new Date(since);
      const runAt = waitsFor(error, cameAt, now);
      if (!runAt) {
        log.error({ event: event.kind, key, err: error }, 'gave up on an event');
        return;
      }
      log.warn({ event: event.kind, key, err: messageOf(error) }, 'GitHub cannot be asked; the event waits');
      const waiting = { event, since: cameAt.toISOString() };
      await storage.transaction((tx) => queue.enqueue(tx, { kind, key, payload: waiting, runAt }));
    },
  };
}
