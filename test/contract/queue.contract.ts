import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { CountersignError } from '../../src/core/errors.ts';
import { jobsOfNewDeliveries } from '../../src/entrypoints/webhook/delivery/new-jobs.ts';
import type { Job, JobKind, JobResult } from '../../src/ports/jobs.ts';
import type { JobHandler, Worker } from '../../src/ports/queue.ts';
import type { OpenDatabase } from '../support/database.ts';
import { delivery } from '../support/rows.ts';
import { everyKind } from './every-kind.ts';
import { type CreateQueue, type QueueBench, useQueueBench } from './queue-bench.ts';
import { rawJob } from './raw-job.ts';

const DONE: JobResult = { kind: 'done' };

/** Longer than any test waits: what comes sooner was not found by polling. */
const NEVER_MS = 86_400_000;

/** Who does which work when. */
export function queueContract(open: OpenDatabase, create: CreateQueue): void {
  const current = useQueueBench(open, create);
  let bench: QueueBench;
  beforeEach(() => {
    bench = current();
  });

  it('the queue hands a job to the handler of its kind', async () => {
    const seen: [JobKind, Job][] = [];
    const handler =
      (kind: JobKind): JobHandler =>
      async (job) => {
        seen.push([kind, job]);
        return DONE;
      };
    bench.queue.start({
      handlers: {
        delivery: handler('delivery'),
        event: handler('event'),
        session: handler('session'),
        review: handler('review'),
        wake: handler('wake'),
        effect: handler('effect'),
        ask: handler('ask'),
        thread: handler('thread'),
        signal: handler('signal'),
        missed_deliveries: handler('missed_deliveries'),
        reconcile: handler('reconcile'),
        merge_group: handler('merge_group'),
        questions: handler('questions'),
        notify: handler('notify'),
        retention: handler('retention'),
        bodies: handler('bodies'),
        chains: handler('chains'),
        skill_indexes: handler('skill_indexes'),
        schedules: handler('schedules'),
      },
      onRetriesExhausted: async () => undefined,
    });
    await bench.enqueue('run1', { kind: 'session', payload: { id: 'ses1', deep: ['ü'] } });
    await bench.queue.idle();
    const job = {
      kind: 'session',
      key: 'run1',
      payload: { id: 'ses1', deep: ['ü'] },
      attempts: 0,
      unavailableSince: null,
    };
    expect(seen).toEqual([['session', job]]);
  });

  it('the queue runs what was enqueued before it started', async () => {
    const seen: string[] = [];
    await bench.enqueue('a');
    bench.start(async ({ key }) => {
      seen.push(key);
      return DONE;
    });
    await bench.queue.idle();
    expect(seen).toEqual(['a']);
  });

  it('the queue starts soon after the commit, without waiting to poll', async () => {
    bench.queue = bench.make({ pollMs: NEVER_MS, leaseMs: NEVER_MS });
    const begun = Promise.withResolvers<void>();
    bench.start(async () => {
      begun.resolve();
      return DONE;
    });
    await bench.queue.idle();
    await bench.enqueue('a');
    await begun.promise;
  });

  it('the queue starts soon after the commit of a slow transaction', async () => {
    bench.queue = bench.make({ pollMs: NEVER_MS, leaseMs: NEVER_MS });
    const begun = Promise.withResolvers<void>();
    bench.start(async () => {
      begun.resolve();
      return DONE;
    });
    await bench.queue.idle();
    await bench.storage.transaction(async (tx) => {
      await bench.queue.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: null }));
      await sleep(30);
    });
    await begun.promise;
  });

  it('the queue says how many of its slots are busy, reviews apart', async () => {
    bench.queue = bench.make({ concurrency: 3, reviews: 2 });
    const end = Promise.withResolvers<void>();
    bench.start(async () => {
      await end.promise;
      return DONE;
    });
    for (const key of ['a', 'b', 'c', 'd']) await bench.enqueue(key);
    await bench.enqueue('e', { kind: 'review' });
    await expect
      .poll(() => bench.queue.slots())
      .toEqual({ reviews: { slots: 2, busy: 1 }, others: { slots: 3, busy: 3 } });
    end.resolve();
    await bench.queue.idle();
    expect(bench.queue.slots()).toEqual({ reviews: { slots: 2, busy: 0 }, others: { slots: 3, busy: 0 } });
  });

  it.each([
    ['reviews', 'review', 'session'],
    ['other work', 'session', 'review'],
  ] as const)('a burst of %s delays nothing else', async (_name, burst, other) => {
    bench.queue = bench.make({ concurrency: 2, reviews: 2 });
    const begun: string[] = [];
    const end = Promise.withResolvers<void>();
    bench.start(async ({ key, kind }) => {
      begun.push(key);
      if (kind === burst) await end.promise;
      return DONE;
    });
    for (const key of ['burst1', 'burst2', 'burst3']) await bench.enqueue(key, { kind: burst });
    await bench.enqueue('other', { kind: other });
    await expect.poll(() => begun.toSorted()).toEqual(['burst1', 'burst2', 'other']);
    end.resolve();
    await bench.queue.idle();
    expect(begun.toSorted()).toEqual(['burst1', 'burst2', 'burst3', 'other']);
  });

  it('the queue never runs what was rolled back', async () => {
    let count = 0;
    bench.start(async () => {
      count++;
      return DONE;
    });
    const failing = bench.storage.transaction(async (tx) => {
      await bench.queue.enqueue(tx, rawJob({ kind: 'wake', key: 'a', payload: null }));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await bench.queue.idle();
    expect(count).toBe(0);
  });

  it('handlers can use transactions and enqueue more', async () => {
    const seen: string[] = [];
    bench.start(async ({ key }) => {
      seen.push(key);
      if (key === 'first') await bench.enqueue('second');
      return DONE;
    });
    await bench.enqueue('first');
    await bench.queue.idle();
    expect(seen).toEqual(['first', 'second']);
  });

  it('the queue waits until a job is due', async () => {
    const seen: string[] = [];
    bench.start(async ({ key }) => {
      seen.push(key);
      return DONE;
    });
    await bench.enqueue('later', { runAt: bench.inMs(5_000) });
    await bench.enqueue('now');
    await bench.moveOn(4_999);
    expect(seen).toEqual(['now']);
    await bench.moveOn(1);
    expect(seen).toEqual(['now', 'later']);
  });

  it('the queue notices what another process enqueued', async () => {
    const begun = Promise.withResolvers<void>();
    bench.start(async () => {
      begun.resolve();
      return DONE;
    });
    await bench.queue.idle();
    const runAt = bench.clock.now();
    await bench.storage.transaction((tx) => tx.jobs.insert({ kind: 'wake', key: 'a', payload: '1', runAt }));
    await begun.promise;
  });

  describe('jobs with the same key', () => {
    it('run one after another, in the order of their times', async () => {
      const order: string[] = [];
      bench.start(async ({ payload }) => {
        order.push(`${payload} begins`);
        await sleep(3);
        order.push(`${payload} ends`);
        return DONE;
      });
      await bench.storage.transaction(async (tx) => {
        for (const payload of [1, 2, 3])
          await bench.queue.enqueue(tx, rawJob({ kind: 'event', key: 'pr', payload }));
      });
      await bench.queue.idle();
      expect(order).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
    });

    it('never run at once in two workers either', async () => {
      const other = bench.make();
      const under = new Map<string, number>();
      let most = 0;
      let count = 0;
      const handler: JobHandler = async ({ key }) => {
        count++;
        under.set(key, (under.get(key) ?? 0) + 1);
        most = Math.max(most, under.get(key) ?? 0);
        await sleep(1);
        under.set(key, (under.get(key) ?? 0) - 1);
        return DONE;
      };
      bench.start(handler);
      bench.start(handler, other);
      for (let n = 0; n < 60; n++) await bench.enqueue(`k${n % 5}`);
      await bench.queue.idle();
      await other.idle();
      expect({ most, count }).toEqual({ most: 1, count: 60 });
    });
  });

  it('jobs of different keys run at once, up to the limit', async () => {
    let under = 0;
    let most = 0;
    bench.start(async () => {
      most = Math.max(most, ++under);
      await sleep(5);
      under--;
      return DONE;
    });
    await bench.storage.transaction(async (tx) => {
      for (let n = 0; n < 10; n++)
        await bench.queue.enqueue(tx, rawJob({ kind: 'wake', key: `k${n}`, payload: n }));
    });
    await bench.queue.idle();
    expect(most).toBe(4);
  });

  describe('coalescing', () => {
    it('brings a waiting job forward instead of adding one', async () => {
      const seen: string[] = [];
      bench.start(async ({ key }) => {
        seen.push(key);
        return DONE;
      });
      await bench.enqueue('a', { coalesce: true, runAt: bench.inMs(60_000) });
      await bench.enqueue('a', { coalesce: true });
      await bench.queue.idle();
      await bench.moveOn(60_000);
      expect(seen).toEqual(['a']);
    });

    it('finds a job of the same call', async () => {
      const seen: string[] = [];
      bench.start(async ({ key }) => {
        seen.push(key);
        return DONE;
      });
      const job = rawJob({ kind: 'wake', key: 'a', payload: null, coalesce: true });
      await bench.storage.transaction((tx) => bench.queue.enqueue(tx, job, { ...job, key: 'b' }, job));
      await bench.queue.idle();
      expect(seen).toEqual(['a', 'b']);
    });

    it('adds a job while the other is running, because that one may have read too early', async () => {
      let count = 0;
      bench.start(async () => {
        if (++count === 1) await bench.enqueue('a', { coalesce: true });
        return DONE;
      });
      await bench.enqueue('a', { coalesce: true });
      await bench.queue.idle();
      expect(count).toBe(2);
    });
  });

  describe('a job that throws', () => {
    it('is retried after one second, then two, each at least half', async () => {
      const tries: number[] = [];
      const begin = bench.clock.now().getTime();
      bench.start(async ({ attempts }) => {
        tries.push(bench.clock.now().getTime() - begin);
        if (attempts < 2) throw new Error('not yet');
        return DONE;
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      await bench.moveOn(499);
      await bench.moveOn(1);
      await bench.moveOn(999);
      await bench.moveOn(1);
      expect(tries).toEqual([0, 500, 1_500]);
      expect(bench.retriesExhausted).toEqual([]);
    });

    it('too often is given up and deleted', async () => {
      let count = 0;
      bench.start(async () => {
        count++;
        throw new Error(`try ${count}`);
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      for (let n = 0; n < 5; n++) await bench.moveOn(60_000);
      expect(count).toBe(3);
      expect(bench.retriesExhausted).toEqual([
        {
          job: { kind: 'wake', key: 'a', payload: { key: 'a' }, attempts: 2, unavailableSince: null },
          error: new Error('try 3'),
        },
      ]);
      expect(await bench.storage.read.jobs.countDue(bench.inMs(1e9))).toBe(0);
    });

    it('is kept until onRetriesExhausted succeeds, without another attempt', async () => {
      let tries = 0;
      let gaveUp = 0;
      const handler: JobHandler = async () => {
        tries++;
        throw new Error('no');
      };
      bench.queue.start({
        handlers: everyKind(handler),
        onRetriesExhausted: async () => {
          if (++gaveUp < 2) throw new Error('the disk is full');
        },
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      for (let n = 0; n < 5; n++) await bench.moveOn(60_000);
      expect({ tries, gaveUp }).toEqual({ tries: 3, gaveUp: 2 });
      expect(await bench.storage.read.jobs.countDue(bench.inMs(1e9))).toBe(0);
    });
  });

  it('a job is rescheduled when a handler says so, however often, without counting a failure', async () => {
    const attempts: number[] = [];
    bench.start(async (job) => {
      attempts.push(job.attempts);
      if (attempts.length === 2) throw new Error('once');
      return attempts.length < 7 ? { kind: 'reschedule', at: bench.inMs(1_000) } : DONE;
    });
    await bench.enqueue('a');
    await bench.queue.idle();
    for (let n = 0; n < 9; n++) await bench.moveOn(1_000);
    expect(attempts).toEqual([0, 0, 1, 0, 0, 0, 0]);
    expect(bench.retriesExhausted).toEqual([]);
  });

  it('a job is deferred when a handler says so, with its earlier counts', async () => {
    const unavailableSince = bench.clock.now();
    const seen: unknown[] = [];
    bench.start(async ({ attempts, unavailableSince: since }) => {
      seen.push({ attempts, since });
      const at = bench.inMs(1_000);
      switch (seen.length) {
        case 1:
          throw new Error('once');
        case 2:
          return { kind: 'defer', at, unavailableSince };
        case 3:
          return { kind: 'defer', at };
        case 4:
          throw new CountersignError('storage.unavailable', 'The disk is full.');
        case 5:
          throw new Error('twice');
        case 6:
          return { kind: 'reschedule', at };
        default:
          return DONE;
      }
    });
    await bench.enqueue('a');
    await bench.queue.idle();
    for (let n = 0; n < 9; n++) await bench.moveOn(15_000);
    expect(seen).toEqual([
      { attempts: 0, since: null },
      { attempts: 1, since: null },
      { attempts: 1, since: unavailableSince },
      { attempts: 1, since: unavailableSince },
      { attempts: 1, since: unavailableSince },
      { attempts: 2, since: unavailableSince },
      { attempts: 0, since: null },
    ]);
  });

  it('a job that is requested again while an attempt fails stays one job', async () => {
    let tries = 0;
    bench.start(async () => {
      // The attempt may have started from outdated data, so a request meanwhile becomes its own job at first.
      if (++tries === 1) await bench.enqueue('a', { coalesce: true });
      return { kind: 'defer', at: bench.inMs(60_000), unavailableSince: bench.clock.now() };
    });
    await bench.enqueue('a', { coalesce: true });
    await bench.queue.idle();
    await bench.moveOn(60_000);
    await bench.moveOn(60_000);
    expect(tries).toBe(4);
    expect(await bench.storage.read.jobs.countDue(bench.inMs(1e9))).toBe(1);
  });

  describe('what a worker prepares', () => {
    /** @returns what each job began with, by its key */
    function startPreparing(prepare: Worker['prepare']): Map<string, unknown> {
      const begun = new Map<string, unknown>();
      const note: JobHandler = async ({ key, prepared }) => {
        begun.set(key, prepared);
        return DONE;
      };
      bench.queue.start({
        handlers: everyKind(note),
        onRetriesExhausted: async () => undefined,
        ...(prepare && { prepare }),
      });
      return begun;
    }

    it('is written in the transaction that takes the job, and given to it', async () => {
      const begun = startPreparing(async (tx, { key }) => {
        await tx.cursors.set(`prepared:${key}`, true, bench.clock.now());
        return `for ${key}`;
      });
      await bench.queue.idle();
      await bench.enqueue('a');
      expect(await bench.storage.read.cursors.get('prepared:a')).toBe(true);
      await bench.queue.idle();
      expect(begun).toEqual(new Map([['a', 'for a']]));
    });

    // What a job has opened, such as a connection, can keep the job itself in memory.
    it('is kept no longer than its job runs', async () => {
      const jobs: Job[] = [];
      bench.queue.start({
        handlers: everyKind(async (job) => {
          jobs.push(job);
          return DONE;
        }),
        onRetriesExhausted: async () => undefined,
        prepare: async () => 'much',
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      expect(jobs.map(({ prepared }) => prepared)).toEqual([undefined]);
    });

    it('is prepared again by whatever takes the job after a failure', async () => {
      let times = 0;
      const seen: unknown[] = [];
      bench.queue.start({
        handlers: everyKind(async ({ prepared }) => {
          seen.push(prepared);
          if (seen.length === 1) throw new Error('no');
          return DONE;
        }),
        onRetriesExhausted: async () => undefined,
        prepare: async () => ++times,
      });
      await bench.enqueue('a');
      await bench.queue.idle();
      await bench.moveOn(60_000);
      expect(seen).toEqual([1, 2]);
    });

    it('stops neither its job nor others when it fails', async () => {
      const begun = startPreparing(async (_, { key }) => {
        if (key === 'a') throw new Error('no');
        return key;
      });
      await bench.storage.transaction((tx) =>
        bench.queue.enqueue(
          tx,
          rawJob({ kind: 'wake', key: 'a', payload: 0 }),
          rawJob({ kind: 'wake', key: 'b', payload: 0 }),
        ),
      );
      await bench.queue.idle();
      expect(begun).toEqual(
        new Map([
          ['a', undefined],
          ['b', 'b'],
        ]),
      );
    });
  });

  describe('a job that a worker can do with the transaction that takes it', () => {
    /** Starts the queue on jobs that wait already. @returns the keys that came to their handler */
    async function finishing(finish: NonNullable<Worker['finish']>): Promise<string[]> {
      const run: string[] = [];
      await bench.storage.transaction((tx) =>
        bench.queue.enqueue(
          tx,
          rawJob({ kind: 'wake', key: 'a', payload: 0 }),
          rawJob({ kind: 'wake', key: 'b', payload: 0 }),
        ),
      );
      bench.queue.start({
        handlers: everyKind(async ({ key }) => {
          run.push(key);
          return DONE;
        }),
        onRetriesExhausted: async () => undefined,
        finish,
      });
      await bench.queue.idle();
      return run;
    }

    it('is over with it, and its handler never runs', async () => {
      const run = await finishing(({ key }) => async (tx) => {
        if (key === 'b') return false;
        await tx.cursors.set('finished:a', true, bench.clock.now());
        return true;
      });
      expect(run).toEqual(['b']);
      expect(await bench.storage.read.cursors.get('finished:a')).toBe(true);
      expect(await bench.storage.read.jobs.ofKeys(['a', 'b'])).toEqual([]);
    });

    it('is run by its handler if it fails there, and nothing of the failed attempt is kept', async () => {
      const run = await finishing(({ key }) => async (tx) => {
        await tx.cursors.set(`finished:${key}`, true, bench.clock.now());
        if (key === 'b') throw new Error('no');
        return true;
      });
      expect(run).toEqual(['b']);
      expect(await bench.storage.read.cursors.get('finished:a')).toBe(true);
      expect(await bench.storage.read.cursors.get('finished:b')).toBeUndefined();
    });
  });

  describe('what was recorded without a job', () => {
    const record = (count: number) =>
      bench.storage.transaction((tx) =>
        tx.deliveries.record(
          Array.from({ length: count }, (_, n) => delivery(`g${n}`, { queueKey: `key${n % 7}` })),
        ),
      );

    /** Starts the queue on new deliveries. @returns what it has done. */
    function startOnNew(pendingJobs = jobsOfNewDeliveries): { key: string; payload: unknown }[] {
      const seen: { key: string; payload: unknown }[] = [];
      const note: JobHandler = async ({ key, payload }) => {
        seen.push({ key, payload });
        return DONE;
      };
      bench.queue.start({
        handlers: everyKind(note),
        onRetriesExhausted: async () => undefined,
        pendingJobs,
      });
      return seen;
    }

    it('is done once, by its key in order, however much there is', async () => {
      await record(500);
      const seen = startOnNew();
      await bench.queue.idle();
      expect(seen).toHaveLength(500);
      for (let n = 0; n < 7; n++) {
        const ids = seen.flatMap(({ key, payload }) => (key === `key${n}` ? [payload] : []));
        expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => ({ deliveryId: 1 + n + 7 * i })));
      }
    });

    it('is done at once if the clock of the process that recorded it is a minute ahead', async () => {
      await bench.storage.transaction((tx) =>
        tx.deliveries.record([delivery('early', { queueKey: 'key', receivedAt: bench.inMs(60_000) })]),
      );
      const seen = startOnNew();
      await bench.queue.idle();
      expect(seen).toHaveLength(1);
    });

    it('is done soon after the queue is notified', async () => {
      bench.queue = bench.make({ pollMs: NEVER_MS, leaseMs: NEVER_MS });
      const seen = startOnNew();
      await bench.queue.idle();
      await record(3);
      bench.queue.wake();
      await expect.poll(() => seen).toHaveLength(3);
    });

    it('does not wait for everything before it with another key', async () => {
      bench.queue = bench.make({ pollMs: NEVER_MS, leaseMs: NEVER_MS });
      const of = (key: string, count: number) =>
        Array.from({ length: count }, (_, n) => delivery(`${key}${n}`, { queueKey: key }));
      await bench.storage.transaction((tx) => tx.deliveries.record([...of('busy', 300), ...of('other', 1)]));
      const end = Promise.withResolvers<void>();
      const seen: string[] = [];
      const handler: JobHandler = async ({ key }) => {
        seen.push(key);
        await end.promise;
        return DONE;
      };
      const pendingJobs = jobsOfNewDeliveries;
      bench.queue.start({
        handlers: everyKind(handler),
        onRetriesExhausted: async () => undefined,
        pendingJobs,
      });
      await expect.poll(() => seen).toEqual(['busy', 'other']);
      end.resolve();
      await bench.queue.idle();
    });

    it('stays where it is while no slot is free, and while the queue stops', async () => {
      bench.queue = bench.make({ concurrency: 1, pollMs: 5 });
      const begun: string[] = [];
      const end = Promise.withResolvers<void>();
      const handler: JobHandler = async ({ key }) => {
        begun.push(key);
        await end.promise;
        return DONE;
      };
      const pendingJobs = jobsOfNewDeliveries;
      bench.queue.start({
        handlers: everyKind(handler),
        onRetriesExhausted: async () => undefined,
        pendingJobs,
      });
      await bench.enqueue('busy');
      await expect.poll(() => begun).toEqual(['busy']);
      await record(3);
      bench.queue.wake();
      await sleep(30);
      const stopped = bench.queue.stop(60_000);
      end.resolve();
      await stopped;
      const left = await bench.storage.transaction((tx) => tx.deliveries.claimUnqueued(9));
      expect({ begun, left: left.length }).toEqual({ begun: ['busy'], left: 3 });
    });

    it('comes before what was enqueued for its key since', async () => {
      const came = bench.clock.now();
      await bench.storage.transaction((tx) =>
        tx.deliveries.record([delivery('g1', { queueKey: 'a', receivedAt: came })]),
      );
      bench.clock.advance(1_000);
      await bench.enqueue('a', { payload: 'later' });
      const seen = startOnNew();
      await bench.queue.idle();
      expect(seen.map(({ payload }) => payload)).toEqual([{ deliveryId: 1 }, 'later']);
    });

    it('is not lost when the turn that claimed it fails', async () => {
      let fails = 2;
      await record(3);
      const seen = startOnNew(async (tx, most) => {
        const jobs = await jobsOfNewDeliveries(tx, most);
        if (fails-- > 0) throw new Error('the disk is full');
        return jobs;
      });
      await bench.queue.idle();
      expect(seen).toHaveLength(3);
    });
  });

  it('a job of a kind that only a newer version knows waits for that version, however often this one meets it', async () => {
    bench.start(async () => DONE);
    const runAt = bench.clock.now();
    await bench.storage.transaction((tx) => tx.jobs.insert({ kind: 'dance', key: 'a', payload: '1', runAt }));
    for (let n = 0; n < 4; n++) await bench.moveOn(60_000);
    expect(bench.retriesExhausted).toEqual([]);
    await bench.queue.stop(0);
    const done: Job[] = [];
    const dance = async (job: Job) => {
      done.push(job);
      return DONE;
    };
    const newer = bench.make();
    newer.start({
      handlers: Object.assign(
        everyKind(async () => DONE),
        { dance },
      ),
      onRetriesExhausted: async () => undefined,
    });
    bench.clock.advance(60_000);
    newer.wake();
    await newer.idle();
    expect(done).toMatchObject([{ kind: 'dance', attempts: 0 }]);
  });
}
