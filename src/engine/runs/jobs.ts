import type { Log } from '../../core/log.ts';
import type { Event } from '../../domain/event/event.ts';
import type { JobRunners } from '../../ports/jobs.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Engine } from './engine.ts';

/** The jobs that drive runs: events without a delivery, signals from another process, and timers. */
export function runJobs(deps: {
  storage: Storage;
  engine: Engine;
  onEvent(event: Event): Promise<void>;
  log: Log;
}): Pick<JobRunners, 'event' | 'signal' | 'wake'> {
  const { storage, engine, onEvent, log } = deps;
  const onRetriesExhausted = (kind: string) => async (payload: object, err: unknown) =>
    log.error({ job: kind, payload, err }, 'gave up on a job');

  return {
    event: {
      async run({ event }) {
        await onEvent(event);
        return { kind: 'done' };
      },
      onRetriesExhausted: onRetriesExhausted('event'),
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
      async run({ runId }) {
        await storage.transaction(async (tx) => {
          await engine.signal(tx, runId, { kind: 'time' }, { kind: 'time' });
          tx.endJob();
        });
        return { kind: 'done' };
      },
      onRetriesExhausted: onRetriesExhausted('wake'),
    },
  };
}
