import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { CountersignError } from '../../src/core/errors.ts';
import type { JobResult } from '../../src/ports/jobs.ts';
import type { JobHandler } from '../../src/ports/queue.ts';
import { watchedStorage } from '../crash/durable-writes.ts';
import type { OpenDatabase } from '../support/database.ts';
import { type CreateQueue, type QueueBench, useQueueBench } from './queue-bench.ts';
import { rawJob } from './raw-job.ts';

const DONE: JobResult = { kind: 'done' };

/** A queue whose own transactions wait from `stall` to `goOn`, as in a process that gets no processor time. */
function stallingQueue(bench: QueueBench) {
  const { storage } = bench;
  let gate = Promise.resolve();
  let goOn = () => {};
  const queue = bench.make({
    storage: {
      read: storage.read,
      fenced: (lease, work) => storage.fenced(lease, work),
      transaction: (work) => gate.then(() => storage.transaction(work)),
      version: () => storage.version(),
      check: () => storage.check(),
      backup: (path) => storage.backup(path),
      giveBack: (pages) => storage.giveBack(pages),
      close: () => storage.close(),
    },
  });
  return {
    queue,
    stall() {
      ({ promise: gate, resolve: goOn } = Promise.withResolvers<void>());
    },
    goOn: () => goOn(),
  };
}

/** How a queue holds on to its work, loses it, and releases it. */
export function queueHoldingContract(open: OpenDatabase, create: CreateQueue): void {
  const current = useQueueBench(open, create);
  let bench: QueueBench;
  beforeEach(() => {
    bench = current();
  });

  describe('a lease', () => {
    it('is renewed while the handler works', async () => {
      let renewed = 0;
      const watched = watchedStorage(bench.storage, (writes) => (when) => {
        if (when === 'after' && writes.includes('jobs.extend')) renewed++;
      });
      const holding = bench.make({ storage: watched });
      let begun = 0;
      let aborted = false;
      const end = Promise.withResolvers<void>();
      const handler: JobHandler = async (_job, signal) => {
        begun++;
        await end.promise;
        aborted = signal.aborted;
        return DONE;
      };
      bench.start(handler, holding);
      await bench.enqueue('a');
      await expect.poll(() => begun).toBe(1);
      bench.start(handler);
      for (let n = 1; n <= 5; n++) {
        bench.clock.advance(11_000);
        await expect.poll(() => renewed).toBe(n);
      }
      end.resolve();
      await holding.idle();
      expect({ begun, aborted }).toEqual({ begun: 1, aborted: false });
    });

    it('that was lost aborts the handler, whose result no longer counts', async () => {
      const signals: AbortSignal[] = [];
      const end = Promise.withResolvers<void>();
      bench.start(async (_job, signal) => {
        signals.push(signal);
        if (signals.length === 1) await end.promise;
        return { kind: 'reschedule', at: bench.inMs(60_000) };
      });
      await bench.enqueue('a');
      await expect.poll(() => signals.length).toBe(1);
      const [token] = await bench.storage.read.jobs.leaseTokens();
      await bench.storage.transaction((tx) => tx.jobs.release(token ?? ''));
      bench.clock.advance(11_000);
      await expect.poll(() => signals[0]?.aborted).toBe(true);
      await expect.poll(() => signals.length).toBe(2);
      end.resolve();
      await bench.queue.idle();
      expect(signals[1]?.aborted).toBe(false);
      expect(await bench.storage.read.jobs.nextDue(bench.clock.now())).toEqual(bench.inMs(60_000));
      expect(await bench.storage.read.jobs.countDue(bench.inMs(60_000))).toBe(1);
    });

    it('that was lost prevents all writes, by however old a handler', async () => {
      const { queue: stalling, stall, goOn } = stallingQueue(bench);
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const said: unknown[] = [];
      const note = (note: string) =>
        bench.storage.transaction((tx) =>
          tx.jobs.insert({ kind: 'wake', key: note, payload: '0', runAt: bench.inMs(900_000) }),
        );
      bench.start(async () => {
        await note('first, in time');
        begun.resolve();
        await end.promise;
        await note('first, too late').catch((error: unknown) => said.push(error));
        return DONE;
      }, stalling);
      await bench.enqueue('a');
      stalling.wake();
      await begun.promise;

      stall();
      bench.clock.advance(30_001);
      bench.start(async () => {
        await note('second');
        return DONE;
      });
      await bench.queue.idle();
      end.resolve();
      await expect.poll(() => said).toMatchObject([{ code: 'queue.lease_lost' }]);
      goOn();
      await stalling.idle();
      bench.clock.advance(900_000);
      const left = await bench.storage.transaction((tx) =>
        tx.jobs.claim(bench.clock.now(), bench.inMs(1_000), 'test', 10),
      );
      expect(left.map(({ key }) => key)).toEqual(['first, in time', 'second']);
    });

    it('that was lost unnoticed does not count as the last of the job’s failures', async () => {
      const { queue: stalling, stall, goOn } = stallingQueue(bench);
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      /** Another process takes the job and dies. */
      const takeAway = async () => {
        const now = bench.clock.now();
        await bench.storage.transaction((tx) => tx.jobs.claim(now, bench.inMs(1_000), 'other:1:1:x', 1));
        bench.clock.advance(1_000);
      };
      const said: unknown[] = [];
      const rememberAndThrow = (error: CountersignError) => {
        said.push(error.code);
        throw error;
      };
      bench.start(async () => {
        begun.resolve();
        await end.promise;
        await bench.storage.transaction(async () => undefined).catch(rememberAndThrow);
        return DONE;
      }, stalling);
      await bench.enqueue('a');
      for (let n = 0; n < 2; n++) await takeAway();
      stalling.wake();
      await begun.promise;
      stall();
      bench.clock.advance(30_001);
      await takeAway();
      end.resolve();
      await expect.poll(() => said).toEqual(['queue.lease_lost']);
      await sleep(20);
      expect(bench.retriesExhausted).toEqual([]);
      goOn();
    });

    it('of a process that died repeatedly exhausts the retries', async () => {
      await bench.enqueue('a');
      for (let n = 0; n < 3; n++) {
        const now = bench.clock.now();
        await bench.storage.transaction((tx) => tx.jobs.claim(now, bench.inMs(1_000), `other:1:1:${n}`, 1));
        bench.clock.advance(1_000);
      }
      let count = 0;
      bench.start(async () => {
        count++;
        return DONE;
      });
      await bench.queue.idle();
      expect(count).toBe(0);
      expect(bench.retriesExhausted).toMatchObject([
        { job: { attempts: 3 }, error: { code: 'queue.given_up' } },
      ]);
    });
  });

  describe('a database that cannot be written to', () => {
    it('costs a job no attempt, however long that lasts', async () => {
      const attempts: number[] = [];
      bench.start(async (job) => {
        attempts.push(job.attempts);
        if (attempts.length < 6) throw new CountersignError('storage.unavailable', 'The disk is full.');
        return DONE;
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      for (let n = 0; n < 5; n++) await bench.moveOn(15_000);
      expect(attempts).toEqual([0, 0, 0, 0, 0, 0]);
      expect(bench.retriesExhausted).toEqual([]);
    });
  });

  describe('stopping', () => {
    it('waits for what is under way and starts nothing new', async () => {
      const events: string[] = [];
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      bench.start(async ({ key }) => {
        events.push(`${key} begins`);
        begun.resolve();
        await end.promise;
        events.push(`${key} ends`);
        return DONE;
      });
      await bench.enqueue('a');
      await begun.promise;
      const stopped = bench.queue.stop(60_000);
      await bench.enqueue('b');
      await sleep(50);
      end.resolve();
      await stopped;
      expect(events).toEqual(['a begins', 'a ends']);
      expect(await bench.storage.read.jobs.countDue(bench.clock.now())).toBe(1);
    });

    it('waits for a job that a transaction claimed just before', async () => {
      const events: string[] = [];
      let stopped: Promise<void> | undefined;
      bench.start(async ({ key }, signal) => {
        if (key === 'a') {
          // So that no turn of the queue is under way.
          await sleep(50);
          await bench.storage.transaction(async (tx) => {
            await bench.queue.enqueue(tx, rawJob({ kind: 'wake', key: 'b', payload: null }));
            // After the queue has claimed the job, and before the commit.
            const last = (left: number) => async () => {
              if (left > 0) tx.beforeCommit(last(left - 1));
              else stopped = bench.queue.stop(60_000);
            };
            tx.beforeCommit(last(5));
          });
          return DONE;
        }
        await sleep(20);
        events.push(signal.aborted ? `${key} is aborted` : `${key} ends`);
        return DONE;
      });
      await bench.enqueue('a');
      await expect.poll(() => stopped !== undefined).toBe(true);
      await stopped;
      expect(events).toEqual(['b ends']);
      expect(await bench.storage.read.jobs.countDue(bench.clock.now())).toBe(0);
    });

    it('aborts what takes too long and returns it at once, uncounted', async () => {
      const begun = Promise.withResolvers<void>();
      bench.start(async (_job, signal) => {
        begun.resolve();
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
        return DONE;
      });
      await bench.enqueue('a');
      await begun.promise;
      await bench.queue.stop(10);
      const next = bench.make();
      const attempts: number[] = [];
      bench.start(async (job) => {
        attempts.push(job.attempts);
        return DONE;
      }, next);
      await next.idle();
      expect(attempts).toEqual([0]);
    });

    it('leaves its lease to a handler that ignores the abort', async () => {
      const end = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      bench.start(async () => {
        begun.resolve();
        await end.promise;
        return DONE;
      });
      await bench.enqueue('a');
      await begun.promise;
      await bench.queue.stop(10);
      expect(await bench.storage.read.jobs.leaseTokens()).toHaveLength(1);
      end.resolve();
      await sleep(20);
      expect(await bench.storage.read.jobs.leaseTokens()).toHaveLength(1);
    });

    it('rejects for callers who wait until the queue is idle', async () => {
      bench.start(async () => {
        await sleep(20);
        return DONE;
      });
      for (let n = 0; n < 20; n++) await bench.enqueue('a');
      const idle = expect(bench.queue.idle()).rejects.toMatchObject({ code: 'queue.not_working' });
      await bench.queue.stop(60_000);
      await idle;
      await expect(bench.queue.idle()).rejects.toMatchObject({ code: 'queue.not_working' });
    });

    it('can be called before the start, and twice', async () => {
      await bench.queue.stop(10);
      await expect(bench.queue.stop(10)).resolves.toBeUndefined();
    });
  });
}
