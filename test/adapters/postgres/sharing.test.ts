// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../../src/adapters/embedded-queue/embedded.ts';
import { openPostgres } from '../../../src/adapters/postgres/open.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';
import { servingOf } from '../../../src/adapters/postgres/serving.ts';
import { systemTimers } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import type { WorkShare } from '../../../src/ports/work-share.ts';
import { everyKind } from '../../contract/every-kind.ts';
import { databaseOf, type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres.ts';
import { at } from '../../support/rows.ts';
import { startPostgresProxy } from '../../two-processes/postgres-proxy.ts';

const clock = { now: () => at(0) };
/** How long one must have reached the database before it removes others that are silent; it begins to count after a moment. */
const GRACE_MS = 10_000;
const BOTH = { installations: true, ownWork: true };
const INSTALLATIONS = Array.from({ length: 20 }, (_, index) => index + 1);
/** PostgreSQL does not read what is in such JSON, and the text is no field. */
const ODD_EVENT = JSON.stringify({ event: { text: '\0 \ud83d "installation_id":9', installation_id: 8 } });
const MORE = INSTALLATIONS.map((id) => id + INSTALLATIONS.length);

/** A process that shares the work on a database. */
interface Process {
  id: string;
  share: WorkShare;
  storage: Storage;
  /** Those that it knows to be its own, of 0 to 40. */
  own(): number[];
  leases: WorkShare['leases'];
  mayWrite(): boolean;
  isLost(): boolean;
  /** How many timers it has begun. */
  timers(): number;
  /** Its time; its own clock always says January. */
  now(): Date;
  /** Moves its monotonic clock, which only tests move. */
  advance(ms: number): void;
  /** From now on it begins nothing by itself, until it is woken. Resolves when nothing is under way. */
  sleep(): Promise<void>;
  wake(): void;
  leave(): Promise<void>;
}

describe.skipIf(postgresPrograms === undefined)('processes that share the work on a database', () => {
  let server: PostgresServer;
  let url: string;
  const processes: Process[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    url = await server.newMigrated();
  });
  afterEach(async () => {
    for (const one of processes.splice(0)) await one.leave();
  });
  afterAll(() => server?.remove());

  const query = (sql: string) => server.query(sql, databaseOf(url));

  /** @param address of the database, for this process */
  async function begin(does = BOTH, address = url): Promise<Process> {
    const place = placeOf(address);
    let isLost = false;
    let timers = 0;
    let elapsedMs = 0;
    let asleep: (() => void)[] | undefined;
    const serving = servingOf(place, {
      clock,
      timers: {
        ...systemTimers,
        elapsedMs: () => elapsedMs,
        after(ms, work) {
          timers += 1;
          return systemTimers.after(ms, () => void (asleep ? asleep.push(work) : work()));
        },
      },
      onLost() {
        isLost = true;
      },
      beside: { does, onDivided() {}, onNotDivided() {} },
    });
    const claim = await serving.claim();
    const { share } = serving;
    if (!claim.ok || !share) throw new Error('another process serves the database alone');
    const storage = await openPostgres(place, { clock, fence: () => claim.fence });
    share.begin();
    const one: Process = {
      id: share.worker,
      share,
      storage,
      own: () => [0, ...INSTALLATIONS, ...MORE].filter((id) => share.has(id)),
      leases: () => share.leases(),
      mayWrite: () => share.mayWrite(),
      isLost: () => isLost,
      timers: () => timers,
      now: () => share.clock.now(),
      advance(ms) {
        elapsedMs += ms;
      },
      async sleep() {
        const waiting: (() => void)[] = [];
        asleep = waiting;
        await expect.poll(() => waiting.length).toBe(2);
      },
      wake() {
        for (const work of asleep?.splice(0) ?? []) work();
        asleep = undefined;
      },
      async leave() {
        await storage.close();
        await claim.release();
        await serving.close();
        const index = processes.indexOf(one);
        if (index >= 0) processes.splice(index, 1);
      },
    };
    processes.push(one);
    return one;
  }

  /** Each has divided the work at least once since. */
  async function divided(...some: Process[]): Promise<void> {
    const before = some.map((one) => one.timers());
    // Of five timers one after the other, one at least is the second for dividing: renewing is four times as rare.
    for (const [index, one] of some.entries())
      await expect.poll(() => one.timers()).toBeGreaterThan((before[index] ?? 0) + 4);
  }

  /** Some seconds pass for it, in which it reaches the database. */
  async function pass(one: Process, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 2_500) {
      one.advance(Math.min(left, 2_500));
      await divided(one);
    }
  }

  /** As if nobody had renewed a lease for long. */
  async function runOut(): Promise<void> {
    await query(`UPDATE workers SET until = '-infinity'`);
    await query(`UPDATE serving SET until = '-infinity'`);
  }

  const workers = async () => (await query('SELECT id FROM workers ORDER BY id')).map(({ id }) => id);

  /** A job for each installation, and one that belongs to none. */
  async function insertJobs({ storage }: Process, installations = INSTALLATIONS): Promise<void> {
    const installationIds = [null, ...installations];
    await storage.transaction((tx) =>
      tx.jobs.insert(
        ...installationIds.map((installationId) => ({
          kind: 'wake',
          key: `wake:${installationId}`,
          payload: '{}',
          runAt: at(0),
          installationId,
        })),
      ),
    );
  }

  const claim = (one: Process) =>
    one.storage.transaction(async (tx) => {
      const rows = await tx.jobs.claim(at(1), at(31), `token of ${one.id}`, 100, { worker: one.id });
      return rows.map(({ installationId }) => installationId ?? 0).sort((a, b) => a - b);
    });

  const haveAll = (...some: Process[]) =>
    expect.poll(() => some.flatMap((one) => one.own()).sort((a, b) => a - b));

  it('divide all installations, and each claims only jobs of its own', async () => {
    const first = await begin();
    await insertJobs(first);
    await haveAll(first).toEqual([0, ...INSTALLATIONS]);
    const second = await begin();
    await expect.poll(() => second.own().length).toBeGreaterThan(0);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS]);
    const claimed = [await claim(first), await claim(second)];
    expect(claimed).toEqual([first.own(), second.own()]);
    expect(claimed.flat()).toHaveLength(1 + INSTALLATIONS.length);
    for (const one of [first, second]) {
      const ownWork = one.own().includes(0);
      expect(one.leases()).toEqual({ installations: one.own().length - (ownWork ? 1 : 0), ownWork });
    }
  });

  it('make jobs of the deliveries of their own installations only, also of new ones', async () => {
    const [first, second] = [await begin(), await begin()];
    await first.storage.transaction((tx) =>
      tx.deliveries.record(
        INSTALLATIONS.map((installationId) => ({
          guid: `guid-${installationId}`,
          event: 'ping',
          action: null,
          installationId,
          body: new Uint8Array([123, 125]),
          receivedAt: at(0),
          queueKey: `key-${installationId}`,
        })),
      ),
    );
    await haveAll(first, second).toEqual(INSTALLATIONS);
    for (const one of [first, second]) {
      const taken = await one.storage.transaction((tx) => tx.deliveries.claimUnqueued(100, one.id));
      expect(taken.map(({ installationId }) => installationId)).toEqual(one.own());
    }
  });

  it('run no job of an installation that they do not know to have got, because they remember what is out of date', async () => {
    const one = await begin();
    await insertJobs(one, [8]);
    await haveAll(one).toEqual([0, 8]);
    // As after a change whose answer was lost.
    await one.sleep();
    await query(`INSERT INTO installation_leases VALUES (7, '${one.id}')`);
    await insertJobs(one, [7]);
    const { share, storage } = one;
    const happened: string[] = [];
    share.onGained((installations) => void happened.push(`forget ${installations}`));
    const queue = createEmbeddedQueue({
      storage,
      clock,
      log: silentLog,
      share: {
        ...{ worker: one.id, clock, begin() {}, retire() {}, mayWrite: () => true },
        ...{ leases: () => share.leases(), onGained: (listener) => share.onGained(listener) },
        has: (installation) => share.has(installation),
      },
    });
    queue.start({
      handlers: everyKind(async ({ key }) => {
        happened.push(key);
        return { kind: 'done' };
      }),
      onRetriesExhausted: async () => undefined,
    });
    await expect.poll(() => happened.toSorted()).toEqual(['wake:8', 'wake:null', 'wake:null']);
    const left = 'SELECT key, attempts, lease_token FROM jobs';
    await expect.poll(() => query(left)).toEqual([{ key: 'wake:7', attempts: '0', lease_token: null }]);
    one.wake();
    await expect.poll(() => happened.slice(3)).toEqual(['forget 7', 'wake:7']);
    await queue.stop(0);
  });

  it('leave an installation where it is while one of its jobs is held', async () => {
    const first = await begin();
    await insertJobs(first);
    await haveAll(first).toEqual([0, ...INSTALLATIONS]);
    await claim(first);
    const second = await begin();
    // Once both have some of these, both have looked at the other one.
    await insertJobs(first, MORE);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS, ...MORE]);
    expect(second.own().length).toBeGreaterThan(0);
    expect(first.own().slice(0, 1 + INSTALLATIONS.length)).toEqual([0, ...INSTALLATIONS]);
    await first.storage.transaction(async (tx) => {
      for (const { id, leaseToken } of await tx.jobs.ofKeys(INSTALLATIONS.map((n) => `wake:${n}`)))
        await tx.jobs.complete(id, leaseToken ?? '');
    });
    await insertJobs(second);
    await expect.poll(() => second.own().some((id) => INSTALLATIONS.includes(id))).toBe(true);
  });

  it('take over from one that is silent for too long, which cannot write any more', async () => {
    const first = await begin();
    await insertJobs(first);
    await haveAll(first).toEqual([0, ...INSTALLATIONS]);
    const held = await claim(first);
    const second = await begin();
    await pass(second, GRACE_MS + 2_500);
    await first.sleep();
    await query(`UPDATE workers SET until = '-infinity' WHERE id = '${first.id}'`);
    await haveAll(second).toEqual([0, ...INSTALLATIONS]);
    await expect(insertJobs(first)).rejects.toMatchObject({ code: 'storage.not_serving' });
    first.wake();
    await expect.poll(() => first.isLost()).toBe(true);
    const released = await second.storage.transaction(async (tx) => {
      const tokens = await tx.jobs.leaseTokens(second.id);
      const rows = await Promise.all(tokens.map((token) => tx.jobs.release(token, second.id)));
      return rows.flat();
    });
    expect(released).toHaveLength(held.length);
    expect(await claim(second)).toEqual(held);
  });

  it('leave each other time to come back after their server was away for longer than their leases', async () => {
    const [first, second] = [await begin(), await begin()];
    await insertJobs(first);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS]);
    for (const one of [first, second]) await pass(one, GRACE_MS + 2_500);
    await server.down('fast');
    // Each has tried to look for installations since, in vain.
    await divided(first, second);
    await server.up();
    await runOut();
    await expect.poll(() => query('SELECT id FROM workers WHERE until > clock_timestamp()')).toHaveLength(2);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS]);
    expect([first.isLost(), second.isLost()]).toEqual([false, false]);
  });

  it('are joined, and not removed, by one that starts and is the first to reach the database after an outage', async () => {
    const first = await begin();
    await insertJobs(first);
    await haveAll(first).toEqual([0, ...INSTALLATIONS]);
    await first.sleep();
    await runOut();
    const second = await begin();
    await insertJobs(second, MORE);
    // It does what nobody else does, and leaves the other one its own.
    await expect.poll(() => second.own()).toEqual(MORE);
    await pass(second, GRACE_MS - 2_500);
    expect(await workers()).toEqual([first.id, second.id].toSorted());
    await insertJobs(first);
    first.wake();
    await expect.poll(() => query('SELECT id FROM workers WHERE until > clock_timestamp()')).toHaveLength(2);
    await pass(second, GRACE_MS + 2_500);
    expect([first.isLost(), second.isLost()]).toEqual([false, false]);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS, ...MORE]);
  });

  it('are removed by one that starts when they stay silent, which then has the work of all', async () => {
    const first = await begin();
    await insertJobs(first);
    await haveAll(first).toEqual([0, ...INSTALLATIONS]);
    await first.sleep();
    await runOut();
    const second = await begin();
    await pass(second, GRACE_MS + 2_500);
    await haveAll(second).toEqual([0, ...INSTALLATIONS]);
    expect(await workers()).toEqual([second.id]);
    await expect(insertJobs(first)).rejects.toMatchObject({ code: 'storage.not_serving' });
  });

  it('leave others time to come back after they were stopped themselves', async () => {
    const [first, second] = [await begin(), await begin()];
    await pass(second, GRACE_MS + 2_500);
    await first.sleep();
    await second.sleep();
    // As when a machine that has all of them was suspended.
    second.advance(60_000);
    await query(`UPDATE workers SET until = '-infinity' WHERE id = '${first.id}'`);
    second.wake();
    await divided(second);
    expect(await workers()).toEqual([first.id, second.id].toSorted());
    await pass(second, GRACE_MS + 2_500);
    expect(await workers()).toEqual([second.id]);
  });

  it('write to GitHub until 2 s before others may take over, and again after they have given a sign of life', async () => {
    const one = await begin();
    await one.sleep();
    one.advance(7_999);
    expect(one.mayWrite()).toBe(true);
    one.advance(1);
    expect(one.mayWrite()).toBe(false);
    await server.down('fast');
    one.wake();
    await divided(one);
    expect(one.mayWrite()).toBe(false);
    await server.up();
    await expect.poll(() => one.mayWrite()).toBe(true);
    await one.leave();
    expect(one.mayWrite()).toBe(false);
  });

  it('keep the leases of one whose connections were dropped without a word while others work', async () => {
    const network = await startPostgresProxy(server.folder);
    try {
      const first = await begin(BOTH, network.urlFor(url));
      const second = await begin();
      await pass(second, GRACE_MS + 2_500);
      const renewed = async () =>
        (await query(`SELECT until FROM workers WHERE id = '${first.id}'`)).map(({ until }) => String(until));
      // Renewing and dividing have begun together, so each has a connection.
      await first.sleep();
      first.wake();
      await first.sleep();
      network.cut();
      network.heal('forgotten');
      first.wake();
      const seen = new Set<string>();
      // The first may have been on its way.
      await expect.poll(async () => (await renewed()).every((until) => seen.add(until)) && seen.size).toBe(3);
      expect(await workers()).toEqual([first.id, second.id].toSorted());
      expect(first.isLost()).toBe(false);
    } finally {
      await network.stop();
    }
  });

  it('succeed one that served the database alone and is silent, which cannot write any more', async () => {
    const timers = { ...systemTimers, after: () => () => {} };
    const alone = servingOf(placeOf(url), { clock, timers, onLost() {} });
    const claimed = await alone.claim();
    if (!claimed.ok) throw new Error('another process serves the database');
    const storage = await openPostgres(placeOf(url), { clock, fence: () => claimed.fence });
    await storage.transaction((tx) => tx.jobs.removeWaiting('wake', 'none'));
    await query(`UPDATE serving SET until = '-infinity'`);
    await insertJobs(await begin());
    await expect(storage.transaction((tx) => tx.jobs.removeWaiting('wake', 'none'))).rejects.toMatchObject({
      code: 'storage.not_serving',
    });
    await storage.close();
    await alone.close();
  });

  it('go by the clock of the database, however wrong their own are', async () => {
    const { now } = await begin();
    expect(Math.abs(now().getTime() - Date.now())).toBeLessThan(90_000);
  });

  it('go on at once with the work of one that leaves', async () => {
    const [first, second] = [await begin(), await begin()];
    await insertJobs(first);
    await haveAll(first, second).toEqual([0, ...INSTALLATIONS]);
    await first.leave();
    await haveAll(second).toEqual([0, ...INSTALLATIONS]);
  });

  it('have what belongs to no installation done by the one with that role, and by the others without it', async () => {
    const worker = await begin({ installations: true, ownWork: false });
    await insertJobs(worker);
    await haveAll(worker).toEqual([0, ...INSTALLATIONS]);
    const scheduler = await begin({ installations: false, ownWork: true });
    await expect.poll(() => scheduler.own()).toEqual([0]);
    expect(worker.own()).toEqual(INSTALLATIONS);
    await worker.leave();
    await expect.poll(async () => query('SELECT installation_id FROM installation_leases')).toHaveLength(1);
    expect(scheduler.own()).toEqual([0]);
  });

  it('find out whose work the jobs are that the version before has left', async () => {
    const { storage } = await begin();
    await storage.transaction((tx) =>
      tx.jobs.insert(
        { kind: 'questions', key: 'questions:7', payload: '{"installation_id":7}', runAt: at(0) },
        { kind: 'event', key: 'pr:1#1', payload: ODD_EVENT, runAt: at(0) },
        { kind: 'reconcile', key: 'reconcile', payload: '{"of":"installations"}', runAt: at(0) },
        { kind: 'retention', key: 'retention', payload: '{}', runAt: at(0) },
      ),
    );
    await expect
      .poll(() => query('SELECT kind, installation_id AS of FROM jobs ORDER BY kind'))
      .toEqual([
        { kind: 'event', of: '8' },
        { kind: 'questions', of: '7' },
        { kind: 'reconcile', of: null },
        { kind: 'retention', of: null },
      ]);
  });

  it('do not work beside the version before, which has taken over from one that was silent', async () => {
    const first = await begin();
    await query(
      `UPDATE serving SET fence = fence + 1, until = clock_timestamp() + interval '10 s',
         holder = '{"pid":1,"host":"old","since":"2026-01-05T12:00:00.000Z"}'`,
    );
    await expect(begin()).rejects.toThrow('another process serves the database alone');
    await expect.poll(() => first.isLost()).toBe(true);
    await expect(insertJobs(first)).rejects.toMatchObject({ code: 'storage.not_serving' });
  });

  it('let nobody serve the database alone until the last of them has left', async () => {
    const [first, second] = [await begin(), await begin()];
    const alone = servingOf(placeOf(url), { clock, onLost() {} });
    expect(await alone.claim()).toMatchObject({ ok: false, holder: { pid: process.pid } });
    await first.leave();
    expect(await alone.claim()).toMatchObject({ ok: false });
    await second.leave();
    const claimed = await alone.claim();
    expect(claimed).toMatchObject({ ok: true });
    await expect(begin()).rejects.toThrow('another process serves the database alone');
    if (claimed.ok) await claimed.release();
    await alone.close();
  });
});
