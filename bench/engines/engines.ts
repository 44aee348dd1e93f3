import { Logger, run } from 'graphile-worker';
import { PgBoss } from 'pg-boss';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { everyKind } from '../../test/contract/every-kind.ts';

/** A queue on PostgreSQL at work. */
export interface Engine {
  /** Resolves when the job is committed. */
  send(id: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** How many jobs each works on at the same time, and so many connections send. */
export const AT_ONCE = 16;

/** @param onStart what a worker does with a job: nothing that needs the database */
type Start = (url: string, onStart: (id: string) => void) => Promise<Engine>;

/** Each on a migrated database of its own. The queue has one job of its kind for each key, and theirs have none. */
export const ENGINES: Readonly<Record<string, Start>> = {
  Countersign: async (url, onStart) => {
    const storage = await openStorage(url);
    const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog, concurrency: AT_ONCE });
    queue.start({
      handlers: everyKind(async ({ key }) => {
        onStart(key);
        return { kind: 'done' };
      }),
      onRetriesExhausted: async () => {},
    });
    return {
      send: (id) =>
        storage.transaction((tx) =>
          queue.enqueue(tx, { kind: 'wake', installationId: null, key: id, payload: { runId: id } }),
        ),
      async stop() {
        await queue.idle();
        await queue.stop(1_000);
        await storage.close();
      },
    };
  },

  'pg-boss, its defaults': (url, onStart) => pgBoss(url, onStart, {}),

  'pg-boss, woken, batches': (url, onStart) =>
    pgBoss(url, onStart, {
      isWoken: true,
      polling: { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
      batchSize: AT_ONCE,
    }),

  'graphile-worker, its defaults': (url, onStart) => graphile(url, onStart, {}),

  'graphile-worker, 16 at once, local queue': (url, onStart) =>
    graphile(url, onStart, {
      concurrentJobs: AT_ONCE,
      maxPoolSize: AT_ONCE + 2,
      localQueue: { size: 4 * AT_ONCE },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    }),
};

async function pgBoss(
  url: string,
  onStart: (id: string) => void,
  { isWoken = false, polling = {}, batchSize }: { isWoken?: boolean; polling?: object; batchSize?: number },
): Promise<Engine> {
  const boss = new PgBoss({ connectionString: url, useListenNotify: isWoken, max: AT_ONCE + 2 });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue('bench', isWoken ? { notify: true } : {});
  await boss.work<{ id: string }>('bench', { ...polling, ...(batchSize && { batchSize }) }, async (jobs) => {
    for (const { data } of jobs) onStart(data.id);
  });
  return { send: (id) => boss.send('bench', { id }), stop: () => boss.stop({ graceful: false }) };
}

async function graphile(url: string, onStart: (id: string) => void, worker: object): Promise<Engine> {
  const runner = await run({
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: {
      async bench(payload) {
        onStart((payload as { id: string }).id);
      },
    },
    preset: { worker: { connectionString: url, ...worker } },
  });
  return { send: (id) => runner.addJob('bench', { id }), stop: () => runner.stop() };
}
