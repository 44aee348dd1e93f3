import { describe, expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../src/adapters/embedded-queue/embedded.ts';
import { silentLog } from '../../src/core/log.ts';
import { createOutagePolicy } from '../../src/engine/jobs/outage-policy.ts';
import { GitHubError, SignInRefused } from '../../src/ports/github.ts';
import type { Job, JobKind } from '../../src/ports/jobs.ts';
import { ManualClock } from '../support/clock.ts';
import { sqliteTestDatabase } from '../support/temp.ts';
import { everyKind } from './every-kind.ts';
import { useQueueBench } from './queue-bench.ts';

const AWAY = new GitHubError('unavailable', 502, 'GitHub answered 502');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const clock = new ManualClock('2026-03-02T09:00:00.000Z');
const inMs = (ms: number) => new Date(clock.now().getTime() + ms);

/** What happens to a job of that kind whose handler throws; chance gives the longest pauses. */
function throwing(error: unknown, over: Partial<Job> = {}) {
  const outagePolicy = createOutagePolicy({ clock, log: silentLog, random: () => 1 });
  const job: Job = { kind: 'effect', key: 'a', payload: null, attempts: 3, unavailableSince: null, ...over };
  const handlers = outagePolicy.patient(everyKind(() => Promise.reject(error)));
  return { outagePolicy, result: handlers[job.kind](job, new AbortController().signal) };
}

describe('while GitHub is unavailable', () => {
  it.each<[JobKind, number]>([
    ['delivery', MINUTE],
    ['event', MINUTE],
    ['effect', 5 * MINUTE],
  ])('a job of kind %s waits, up to %i ms', async (kind, longest) => {
    const soon = { kind: 'defer', at: inMs(1_000), unavailableSince: clock.now() };
    expect(await throwing(AWAY, { kind }).result).toEqual(soon);
    const late = await throwing(AWAY, { kind, unavailableSince: inMs(-DAY / 2) }).result;
    expect(late).toMatchObject({ at: inMs(longest) });
  });

  it.each([
    [10_000, 5_000],
    [2 * MINUTE, MINUTE],
    [20 * MINUTE, 5 * MINUTE],
    [DAY - 1, 5 * MINUTE],
  ])('a job that has waited for %i ms waits for another %i', async (waited, pause) => {
    const unavailableSince = inMs(-waited);
    expect(await throwing(AWAY, { unavailableSince }).result).toEqual({
      kind: 'defer',
      at: inMs(pause),
      unavailableSince,
    });
  });

  it('a job that was retried for a day fails, but time without a running process does not count', async () => {
    const later = new ManualClock('2026-03-05T09:00:00.000Z');
    const outagePolicy = createOutagePolicy({ clock: later, log: silentLog, random: () => 1 });
    const handlers = outagePolicy.patient(everyKind(() => Promise.reject(AWAY)));
    const job: Job = { kind: 'effect', key: 'a', payload: null, attempts: 3, unavailableSince: clock.now() };
    const { signal } = new AbortController();
    expect(await handlers.effect(job, signal)).toMatchObject({
      kind: 'defer',
      unavailableSince: clock.now(),
    });
    later.advance(DAY);
    await expect(handlers.effect(job, signal)).rejects.toBe(AWAY);
  });

  it.each<JobKind>(['session', 'ask', 'reconcile', 'missed_deliveries'])(
    'a job of kind %s fails, because people see the error or the job returns by itself',
    async (kind) => {
      await expect(throwing(AWAY, { kind }).result).rejects.toBe(AWAY);
    },
  );

  it.each([new GitHubError('invalid', 422, 'no'), new Error('broken')])('%s is a failure', async (error) => {
    await expect(throwing(error).result).rejects.toBe(error);
  });

  it.each<JobKind>(['session', 'effect'])(
    'a job of kind %s comes again at the time that GitHub gave',
    async (kind) => {
      const retryAt = inMs(40 * MINUTE);
      const { outagePolicy, result } = throwing(new GitHubError('rate_limited', 429, 'spent', retryAt), {
        kind,
      });
      expect(await result).toEqual({ kind: 'reschedule', at: retryAt });
      expect([...outagePolicy.waiting()]).toEqual([[kind, 1]]);
    },
  );
});

describe('while GitHub does not let the app sign in', () => {
  const HOUR = 60 * MINUTE;
  const KINDS: JobKind[] = [
    'delivery',
    'event',
    'effect',
    'session',
    'ask',
    'reconcile',
    'missed_deliveries',
  ];
  /** Whether a job still waits after that much time of retries, in a process that runs as long. */
  async function waits(kind: JobKind, whose: SignInRefused['whose'], triedForMs: number): Promise<boolean> {
    const own = new ManualClock('2026-03-02T09:00:00.000Z');
    const outagePolicy = createOutagePolicy({ clock: own, log: silentLog, random: () => 1 });
    const unavailableSince = own.now();
    own.advance(triedForMs);
    const refused = new SignInRefused(whose, 401, 'no');
    const handlers = outagePolicy.patient(everyKind(() => Promise.reject(refused)));
    const job: Job = { kind, key: 'a', payload: null, attempts: 3, unavailableSince };
    const result = await handlers[kind](job, new AbortController().signal).catch((error: unknown) => error);
    expect([refused, expect.objectContaining({ kind: 'defer', unavailableSince })]).toContainEqual(result);
    return result !== refused;
  }

  it.each(KINDS)('a job of kind %s waits for a day if the app itself is refused', async (kind) => {
    expect([await waits(kind, 'app', DAY - 1), await waits(kind, 'app', DAY)]).toEqual([true, false]);
  });

  it.each<[JobKind, number]>([
    ['delivery', DAY],
    ['event', DAY],
    ['effect', DAY],
    ['session', HOUR],
    ['ask', HOUR],
    ['reconcile', HOUR],
  ])('a job of kind %s waits for %i ms if an installation is refused', async (kind, bound) => {
    expect([await waits(kind, 'installation', bound - 1), await waits(kind, 'installation', bound)]).toEqual([
      true,
      false,
    ]);
  });
});

describe('in the queue', () => {
  const current = useQueueBench(sqliteTestDatabase, createEmbeddedQueue);

  it('a job whose process dies during an outage is done once GitHub is back', { tags: 'slow' }, async () => {
    const bench = current();
    const outagePolicy = createOutagePolicy({ clock: bench.clock, log: silentLog, random: () => 0 });
    let back = false;
    let tries = 0;
    bench.queue.start({
      handlers: outagePolicy.patient(
        everyKind(async () => {
          tries++;
          if (!back) throw AWAY;
          return { kind: 'done' };
        }),
      ),
      onRetriesExhausted: async (job, error) => void bench.retriesExhausted.push({ job, error }),
    });
    await bench.enqueue('a', { kind: 'delivery' });
    await bench.queue.idle();
    for (let minute = 0; minute < 60; minute++) {
      await bench.moveOn(MINUTE);
      if (minute !== 30 && minute !== 40) continue;
      // Another process takes the job and dies, as often as the bench allows.
      const at = bench.inMs(10 * MINUTE);
      await bench.storage.transaction((tx) => tx.jobs.claim(at, bench.inMs(11 * MINUTE), 'another', 1));
      await bench.storage.transaction((tx) => tx.jobs.release('another'));
    }
    expect(tries).toBeGreaterThan(20);
    back = true;
    await bench.moveOn(2 * MINUTE);
    expect(bench.retriesExhausted).toEqual([]);
    expect(await bench.storage.read.jobs.countDue(bench.inMs(DAY))).toBe(0);
  });

  it('a job is given up after GitHub was unavailable for a day', { tags: 'slow' }, async () => {
    const bench = current();
    const outagePolicy = createOutagePolicy({ clock: bench.clock, log: silentLog, random: () => 0 });
    bench.queue.start({
      handlers: outagePolicy.patient(everyKind(() => Promise.reject(AWAY))),
      onRetriesExhausted: async (job, error) => void bench.retriesExhausted.push({ job, error }),
    });
    await bench.enqueue('a', { kind: 'effect' });
    await bench.queue.idle();
    for (let minute = 0; minute < 24 * 60; minute += 5) await bench.moveOn(5 * MINUTE);
    expect(bench.retriesExhausted).toEqual([]);
    for (let n = 0; n < 5; n++) await bench.moveOn(5 * MINUTE);
    expect(bench.retriesExhausted).toMatchObject([{ error: { message: 'GitHub answered 502' } }]);
  });
});
