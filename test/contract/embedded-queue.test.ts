import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { leaseToken } from '../../src/adapters/embedded-queue/owner.ts';
import { openStorage } from '../../src/composition/storage.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { jobsOfNewDeliveries } from '../../src/entrypoints/webhook/delivery/new-jobs.ts';
import type { Job } from '../../src/ports/jobs.ts';
import type { JobHandler } from '../../src/ports/queue.ts';
import { ManualClock } from '../support/clock.ts';
import { delivery } from '../support/rows.ts';
import { sqliteTestDatabase, temporaryFolders } from '../support/temp.ts';
import { everyKind } from './every-kind.ts';
import { queueContract } from './queue.contract.ts';
import { queueHoldingContract } from './queue-holding.contract.ts';
import { rawJob } from './raw-job.ts';

// Apart from each other, because each makes a database for every test in its place.
describe('the embedded queue', () => queueContract(sqliteTestDatabase, createEmbeddedQueue));
describe('the embedded queue', () => queueHoldingContract(sqliteTestDatabase, createEmbeddedQueue));

describe('the embedded queue', () => {
  const folder = temporaryFolders();

  it('takes over at once from a process that was killed', { tags: 'slow' }, async () => {
    const url = `sqlite:${join(folder(), 'test.db')}`;
    const worker = spawn(process.execPath, [resolve(import.meta.dirname, 'hanging-worker.ts'), url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(worker.stdout, 'data');
    expect(String(line)).toBe('working\n');
    worker.kill('SIGKILL');
    await once(worker, 'exit');

    const storage = await openStorage(url);
    // On this clock the lease of the dead process never ends.
    const clock = new ManualClock(new Date().toISOString());
    const queue = createEmbeddedQueue({ storage, clock, log: silentLog });
    const seen: Job[] = [];
    const handler: JobHandler = async (job) => {
      seen.push(job);
      return { kind: 'done' };
    };
    queue.start({ handlers: everyKind(handler), onRetriesExhausted: async () => undefined });
    await queue.idle();
    expect(seen).toEqual([{ kind: 'wake', key: 'a', payload: 'hang', attempts: 1, unavailableSince: null }]);
    await queue.stop(1_000);
    await storage.close();
  });

  it('works on after a newer version died with a job of a kind that this one does not know', async () => {
    const clock = new ManualClock(new Date().toISOString());
    const { storage, remove } = await sqliteTestDatabase(clock);
    const now = clock.now();
    await storage.transaction(async (tx) => {
      await tx.jobs.insert({ kind: 'dance', key: 'a', payload: '1', runAt: now });
      const token = leaseToken({ host: 'elsewhere', pid: 1, start: 1 });
      await tx.jobs.claim(now, new Date(now.getTime() + 60_000), token, 1, { reviews: 0, endsLeases: false });
    });
    const done: string[] = [];
    const queue = createEmbeddedQueue({ storage, clock, log: silentLog, worksAlone: true });
    queue.start({
      handlers: everyKind(async ({ kind }) => {
        done.push(kind);
        return { kind: 'done' };
      }),
      onRetriesExhausted: async () => undefined,
      onInterrupted: async (_, { kind }) => {
        throw new Error(`nothing is known of ${kind}`);
      },
    });
    await storage.transaction((tx) => queue.enqueue(tx, rawJob({ kind: 'wake', key: 'b', payload: null })));
    await queue.idle();
    expect(done).toEqual(['wake']);
    expect(await storage.transaction((tx) => tx.jobs.leaseTokens())).toEqual([]);
    await queue.stop(0);
    await remove();
  });

  it.each([true, false])(
    'takes over the jobs of a machine that it cannot ask only if it works alone: %s',
    async (worksAlone) => {
      const clock = new ManualClock(new Date().toISOString());
      const { storage, remove } = await sqliteTestDatabase(clock);
      const elsewhere = createEmbeddedQueue({ storage, clock, log: silentLog });
      await storage.transaction(async (tx) => {
        await elsewhere.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: null }));
      });
      const until = new Date(clock.now().getTime() + 30_000);
      await storage.transaction((tx) => tx.jobs.claim(clock.now(), until, 'other-machine:1:1:token', 1));
      const queue = createEmbeddedQueue({ storage, clock, log: silentLog, worksAlone });
      const seen: string[] = [];
      queue.start({
        handlers: everyKind(async ({ key, attempts }) => {
          seen.push(`${key}, begun ${attempts} times before`);
          return { kind: 'done' };
        }),
        onRetriesExhausted: async () => undefined,
      });
      await storage.transaction((tx) => queue.enqueue(tx, rawJob({ kind: 'wake', key: 'b', payload: null })));
      await expect.poll(() => seen).toContain('b, begun 0 times before');
      expect(seen.includes('a, begun 1 times before')).toBe(worksAlone);
      await queue.stop(1_000);
      await remove();
    },
  );

  it('is not idle before everything recorded without a job is done, on a clock that runs', {
    tags: 'slow',
  }, async () => {
    const { storage, remove } = await sqliteTestDatabase(systemClock);
    const queue = createEmbeddedQueue({ storage, clock: systemClock, log: silentLog });
    let done = 0;
    const handler: JobHandler = async () => {
      done++;
      return { kind: 'done' };
    };
    const pendingJobs = jobsOfNewDeliveries;
    queue.start({ handlers: everyKind(handler), onRetriesExhausted: async () => undefined, pendingJobs });
    for (let round = 1; round <= 100; round++) {
      const receivedAt = systemClock.now();
      await storage.transaction((tx) => tx.deliveries.record([delivery(`g${round}`, { receivedAt })]));
      await queue.idle();
      expect(done).toBe(round);
    }
    await queue.stop(1_000);
    await remove();
  });

  it('continues after its database failed for a while', async () => {
    const database = await sqliteTestDatabase(systemClock);
    const { storage } = database;
    let failures = 2;
    const flaky = {
      ...storage,
      read: storage.read,
      fenced: storage.fenced.bind(storage),
      transaction: ((work) => {
        if (failures-- > 0) return Promise.reject(new Error('the disk is away'));
        return storage.transaction(work);
      }) as typeof storage.transaction,
    };
    const queue = createEmbeddedQueue({ storage: flaky, clock: systemClock, log: silentLog, pollMs: 10 });
    const handler: JobHandler = async () => ({ kind: 'done' });
    await storage.transaction((tx) => queue.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: null })));
    queue.start({ handlers: everyKind(handler), onRetriesExhausted: async () => undefined });
    await queue.idle();
    expect(failures).toBeLessThan(0);
    expect(await storage.read.jobs.countDue(new Date())).toBe(0);
    await queue.stop(1_000);
    await database.remove();
  });

  it('stops while its database is away, although each attempt to reach it takes longer than the time between them', async () => {
    const database = await sqliteTestDatabase(systemClock);
    const { storage } = database;
    let attempts = 0;
    const away = {
      ...storage,
      read: storage.read,
      fenced: storage.fenced.bind(storage),
      transaction: (async () => {
        attempts += 1;
        await sleep(50);
        throw new Error('the database is away');
      }) as typeof storage.transaction,
    };
    const queue = createEmbeddedQueue({ storage: away, clock: systemClock, log: silentLog, pollMs: 5 });
    const handlers = everyKind(async () => ({ kind: 'done' }));
    queue.start({ handlers, onRetriesExhausted: async () => undefined });
    await expect.poll(() => attempts).toBeGreaterThan(1);
    await queue.stop(1_000);
    await database.remove();
  });
});
