// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedQueue } from '../../../src/adapters/embedded-queue/embedded.ts';
import { openCopyTarget } from '../../../src/adapters/postgres/copy-target.ts';
import { openPostgres } from '../../../src/adapters/postgres/open.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';
import { openPool, type Pool } from '../../../src/adapters/postgres/pool.ts';
import { type Fence, servingOf } from '../../../src/adapters/postgres/serving.ts';
import { COPIED_FROM } from '../../../src/adapters/postgres/unfinished-copy.ts';
import type { CopyTarget } from '../../../src/adapters/sql/copy.ts';
import { SharedClock, type Timers } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { everyKind } from '../../contract/every-kind.ts';
import { ManualClock } from '../../support/clock.ts';
import { hurriedTimers } from '../../support/hurried-timers.ts';
import { databaseOf, type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres.ts';
import { at, runState } from '../../support/rows.ts';

const HOUR_MS = 3_600_000;
const clock = { now: () => at(0) };
const silent = { clock, onLost() {} };

describe.skipIf(postgresPrograms === undefined)('a storage on PostgreSQL', () => {
  let server: PostgresServer;
  let url: string;
  const opened: Storage[] = [];

  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    url = await server.newMigrated();
  });
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
  });
  afterAll(() => server?.remove());

  async function open(
    options: { fence?: () => Fence | undefined; pool?: Pool; timers?: Timers } = {},
  ): Promise<Storage> {
    const storage = await openPostgres(placeOf(url), { clock, ...options });
    opened.push(storage);
    return storage;
  }

  const insert = (storage: Storage, id: string) => storage.transaction((tx) => tx.runs.insert(runState(id)));
  const ids = async (storage: Storage) => (await storage.read.runs.list({})).map(({ id }) => id);

  /** Breaks the connection at the next commit after a test says so. */
  function breakable(): {
    pool: Pool;
    /** @param staysAway nobody reaches the server any more, until it is `back` */
    breakAt(moment: 'before' | 'after', staysAway?: boolean): void;
    back(): void;
  } {
    const pool = openPool(placeOf(url));
    let next: { moment: 'before' | 'after'; staysAway: boolean } | undefined;
    let isAway = false;
    return {
      breakAt(moment, staysAway = false) {
        next = { moment, staysAway };
      },
      back() {
        isAway = false;
      },
      pool: {
        end: () => pool.end(),
        async connect() {
          if (isAway) throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
          const client = await pool.connect();
          let isBroken = false;
          return {
            ...client,
            async script(text) {
              if (!next || !text.includes('INSERT INTO commits')) return client.script(text);
              const { moment, staysAway } = next;
              next = undefined;
              if (moment === 'after') await client.script(text);
              isBroken = true;
              isAway = staysAway;
              client.release(true);
              throw new Error('Connection terminated unexpectedly');
            },
            release(asBroken) {
              if (!isBroken) client.release(asBroken);
            },
          };
        },
      },
    };
  }

  /** Notes what is asked, apart from the beginnings and ends of transactions, and how many have ended. */
  function noting(): { pool: Pool; asked: string[]; ended(): number } {
    const pool = openPool(placeOf(url));
    const asked: string[] = [];
    let ended = 0;
    return {
      asked,
      ended: () => ended,
      pool: {
        end: () => pool.end(),
        async connect() {
          const client = await pool.connect();
          return {
            ...client,
            query(text, values) {
              asked.push(text);
              return client.query(text, values);
            },
            async script(text) {
              const answers = await client.script(text);
              if (/\bCOMMIT$/.test(text)) ended += 1;
              return answers;
            },
          };
        },
      },
    };
  }

  it('reports a commit as done whose answer was lost', async () => {
    const { pool, breakAt } = breakable();
    const storage = await open({ pool });
    breakAt('after');
    await insert(storage, 'run1');
    expect(await ids(storage)).toEqual(['run1']);
    await insert(storage, 'run2');
    expect(await ids(storage)).toEqual(['run2', 'run1']);
  });

  it('reports a commit as failed that did not reach the server', async () => {
    const { pool, breakAt } = breakable();
    const storage = await open({ pool });
    breakAt('before');
    await expect(insert(storage, 'run1')).rejects.toMatchObject({ code: 'storage.unavailable' });
    expect(await ids(storage)).toEqual([]);
    await insert(storage, 'run2');
    expect(await ids(storage)).toEqual(['run2']);
  });

  it('does not take a commit that failed for one before it, of which nobody could say whether it happened', async () => {
    const { pool, breakAt, back } = breakable();
    const storage = await open({ pool, timers: hurriedTimers() });
    breakAt('after', true);
    await expect(insert(storage, 'run1')).rejects.toMatchObject({
      code: 'storage.unavailable',
      message: expect.stringContaining('Whether the last transaction was written is not known.'),
    });
    back();
    breakAt('before');
    await expect(insert(storage, 'run2')).rejects.toMatchObject({ code: 'storage.unavailable' });
    expect(await ids(storage)).toEqual(['run1']);
    breakAt('after');
    await insert(storage, 'run3');
    expect(await ids(storage)).toEqual(['run3', 'run1']);
  });

  it('reports a transaction that changed nothing as failed when the answer to its commit was lost, and goes on', async () => {
    const { pool, breakAt } = breakable();
    const storage = await open({ pool });
    breakAt('after');
    await expect(storage.transaction((tx) => tx.runs.get('run1'))).rejects.toMatchObject({
      code: 'storage.unavailable',
    });
    await insert(storage, 'run1');
    expect(await ids(storage)).toEqual(['run1']);
  });

  it('writes nothing more once another process serves the database', async () => {
    const [one, other] = [servingOf(placeOf(url), silent), servingOf(placeOf(url), silent)];
    const first = await one.claim();
    const storage = await open({ fence: () => (first.ok ? first.fence : { serving: 0 }) });
    await insert(storage, 'run1');
    expect(await other.claim()).toMatchObject({ ok: false, holder: { pid: process.pid } });
    if (first.ok) await first.release();
    const second = await other.claim();
    await expect(insert(storage, 'run2')).rejects.toMatchObject({ code: 'storage.not_serving' });
    expect(await ids(storage)).toEqual(['run1']);
    if (second.ok) await second.release();
    for (const serving of [one, other]) await serving.close();
  });

  it('knows no rows any more that another process has changed', async () => {
    const [one, other] = [await open(), await open()];
    await insert(one, 'run1');
    await other.transaction((tx) => tx.runs.save(runState('run1', { paused: true }), { kind: 'app' }));
    expect(await one.transaction(async (tx) => (await tx.runs.get('run1'))?.paused)).toBe(true);
  });

  it('asks for no row again that it knows, as long as nobody else writes', async () => {
    const { pool, asked } = noting();
    const storage = await open({ pool });
    const other = await open();
    const paused = () => storage.transaction(async (tx) => (await tx.runs.get('run1'))?.paused);
    await insert(storage, 'run1');
    await paused();
    asked.length = 0;
    await insert(storage, 'run2');
    const ofInsert = asked.length;
    expect(await paused()).toBe(false);
    expect(asked).toHaveLength(ofInsert);
    await other.transaction((tx) => tx.runs.save(runState('run1', { paused: true }), { kind: 'app' }));
    expect(await paused()).toBe(true);
    expect(asked.length).toBeGreaterThan(ofInsert);
  });

  it('goes on knowing rows, and says the same version, while a queue of another process looks for work in vain', async () => {
    const [own, others] = [noting(), noting()];
    const [storage, other] = [await open({ pool: own.pool }), await open({ pool: others.pool })];
    await insert(storage, 'run1');
    const queue = createEmbeddedQueue({ storage: other, clock, log: silentLog, pollMs: 5 });
    queue.start({
      handlers: everyKind(async () => ({ kind: 'done' })),
      onRetriesExhausted: async () => undefined,
    });
    const turns = (n: number) => expect.poll(others.ended).toBeGreaterThanOrEqual(others.ended() + n);
    await turns(2);
    await storage.transaction((tx) => tx.runs.get('run1'));
    const version = await storage.version();
    own.asked.length = 0;
    await turns(3);
    await storage.transaction((tx) => tx.runs.get('run1'));
    expect(own.asked).toEqual([]);
    expect(await storage.version()).toBe(version);
    await queue.stop(1_000);
  });

  it('says the same version when a process renews its lease, or another database changes', async () => {
    const storage = await open();
    await insert(storage, 'run1');
    const version = await storage.version();
    await server.query('UPDATE serving SET until = now()', databaseOf(url));
    await server.query('CREATE TABLE IF NOT EXISTS of_others (id BIGINT)');
    expect(await storage.version()).toBe(version);
  });

  it('removes old commits of others with its first transaction that changes something', async () => {
    const storage = await open();
    const query = (sql: string) => server.query(sql, databaseOf(url));
    const old = async () => (await query("SELECT FROM commits WHERE writer = 'old'")).length;
    await query(`INSERT INTO commits VALUES ('old', 1, nextval('commit_numbers'), now() - interval '25 h')`);
    await storage.transaction((tx) => tx.runs.get('run1'));
    expect(await old()).toBe(1);
    await insert(storage, 'run1');
    expect(await old()).toBe(0);
  });

  it('works again after its server was restarted', async () => {
    const storage = await open();
    await insert(storage, 'run1');
    await server.down('fast');
    await expect(storage.check()).rejects.toMatchObject({ code: 'storage.unavailable' });
    await server.up();
    await insert(storage, 'run2');
    expect(await ids(storage)).toEqual(['run2', 'run1']);
    await expect(storage.check()).resolves.toBeUndefined();
  });

  it('lets a clock learn the time when it is opened, and again with each transaction', async () => {
    const ofMachine = new ManualClock('2020-01-01T00:00:00.000Z');
    const shared = new SharedClock(ofMachine, { elapsedMs: () => 0 });
    const toDatabase = async () => {
      const [row] = await server.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now');
      return Math.abs(Number(row?.now) - shared.now().getTime());
    };
    const storage = await openPostgres(placeOf(url), { clock: shared });
    opened.push(storage);
    expect(await toDatabase()).toBeLessThan(HOUR_MS);
    // Somebody sets the clock of the machine.
    ofMachine.advance(48 * HOUR_MS);
    expect(await toDatabase()).toBeGreaterThan(HOUR_MS);
    await insert(storage, 'run1');
    expect(await toDatabase()).toBeLessThan(HOUR_MS);
  });

  it('says another version for each commit that changes something, whoever makes it', async () => {
    const [one, other] = [await open(), await open()];
    const before = await one.version();
    expect(await one.version()).toBe(before);
    await insert(other, 'run1');
    expect(await one.version()).not.toBe(before);
  });

  it('is made by several processes that start on an empty database', async () => {
    url = await server.newDatabase();
    const storages = await Promise.all([open(), open(), open()]);
    for (const [n, storage] of storages.entries()) await insert(storage, `run${n}`);
    const applied = await server.query('SELECT count(*) AS count FROM schema_migrations', databaseOf(url));
    expect(Number(applied[0]?.count)).toBeGreaterThan(0);
  });

  it('takes nothing from a process without a fence, such as a webhook, from the beginning of a copy to its end', async () => {
    const ofWebhooks = await open();
    const copying = servingOf(placeOf(url), { ...silent, goesOnWithCopy: true });
    const attempt = async (work: (target: CopyTarget) => Promise<void>) => {
      const claim = await copying.claim();
      if (!claim.ok) throw new Error('another process serves the database');
      const target = await openCopyTarget(placeOf(url), { clock, fence: claim.fence.serving });
      if ('pending' in target) throw new Error('the database is old');
      await work(target);
      await target.close();
      await claim.release();
    };
    const tables = [{ name: 'cursors', columns: ['name', 'position_json', 'updated_at'] }];
    const refused = () =>
      expect(insert(ofWebhooks, 'run1')).rejects.toMatchObject({ code: 'storage.unfinished_copy' });
    await attempt(async (target) => {
      await target.begin({ identity: 'x', tables });
      await refused();
    });
    await refused();
    await attempt(async (target) => {
      await target.begin({ identity: 'x', tables });
      await refused();
      await target.finish(tables);
    });
    expect(await ids(ofWebhooks)).toEqual([]);
    await insert(ofWebhooks, 'run1');
    expect(await ids(ofWebhooks)).toEqual(['run1']);
    await copying.close();
  });

  it('is not served while it is a copy that is not finished, also by a process that opened it before the copy began', async () => {
    const [app, copying] = [
      servingOf(placeOf(url), silent),
      servingOf(placeOf(url), { ...silent, goesOnWithCopy: true }),
    ];
    await open();
    const pool = openPool(placeOf(url));
    const client = await pool.connect();
    await client.script(`${COPIED_FROM}; INSERT INTO copied_from VALUES (1, 'x', '{}', '[]', '', NULL)`);
    await expect(app.claim()).rejects.toMatchObject({ code: 'storage.unfinished_copy' });
    const copy = await copying.claim();
    expect(copy).toMatchObject({ ok: true });
    if (copy.ok) await copy.release();
    await client.script(`UPDATE copied_from SET finished_at = ''`);
    client.release(false);
    await pool.end();
    const claim = await app.claim();
    expect(claim).toMatchObject({ ok: true });
    if (claim.ok) await claim.release();
    for (const serving of [app, copying]) await serving.close();
  });
});
