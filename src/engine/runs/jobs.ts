import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Event } from '../../domain/event/event.ts';
import type { JobPayload, JobRunners } from '../../ports/jobs.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import type { Engine } from './engine.ts';
import { neverFired } from './schedules.ts';

/** The jobs that drive runs: events without a delivery, signals from another process, and timers. */
export function runJobs(deps: {
  storage: Storage;
  clock: Clock;
  engine: Engine;
  onEvent(event: Event): Promise<void>;
  log: Log;
}): Pick<JobRunners, 'event' | 'signal' | 'wake'> {
  const { storage, engine, onEvent, log } = deps;
  const wake = async (tx: Tx, { runId }: JobPayload<'wake'>) => {
    await engine.signal(tx, runId, { kind: 'time' }, { kind: 'time' });
  };
  const onRetriesExhausted = (kind: string) => async (payload: object, err: unknown) =>
    log.error({ job: kind, payload, err }, 'gave up on a job');

  return {
    event: {
      async run({ event }) {
        await onEvent(event);
        return { kind: 'done' };
      },
      async onRetriesExhausted(payload, error) {
        await onRetriesExhausted('event')(payload, error);
        const { event } = payload;
        if (event.kind === 'schedule.fired') await neverFired(deps, event, messageOf(error));
      },
    },
    signal: {
      async run({ runId, signal, by }) {
        await storage.transaction(async (tx) => {
          await engine.signal(tx, runId, signal, by);
          tx.endJob();
        });
        return { kind: 'done' };
      },
      onRetriesExhausted: onRetriesExhausted('signal'),
    },
    wake: {
      async run(payload) {
        await storage.transaction(async (tx) => {
          await wake(tx, payload);
          tx.endJob();
        });
        return { kind: 'done' };
      },
      finish: (payload) => async (tx) => {
        await wake(tx, payload);
        return true;
      },
      onRetriesExhausted: onRetriesExhausted('wake'),
    },
  };
}
