// @module-tag slow
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../../src/adapters/postgres/connection.ts';
import { postgresFailure } from '../../../src/adapters/postgres/failure.ts';
import { migrations, openPostgres } from '../../../src/adapters/postgres/open.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';
import { openPool, type Pool } from '../../../src/adapters/postgres/pool.ts';
import { migratePostgres } from '../../../src/adapters/postgres/setup.ts';
import type { Migration } from '../../../src/adapters/sql/migrate.ts';
import { systemTimers, type Timers } from '../../../src/core/clock.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { databaseOf, type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres.ts';
import { at, runState } from '../../support/rows.ts';

const clock = { now: () => at(0) };
const MINUTE_MS = 60_000;

describe.skipIf(postgresPrograms === undefined)('migrations of PostgreSQL', () => {
  let server: PostgresServer;
  let url: string;
  let pool: Pool;
  let storage: Storage;
  /** Another program, which has read from a table, and keeps its transaction open. */
  let reader: pg.Client;

  beforeAll(async () => {
    server = await startPostgres();
  });
  beforeEach(async () => {
    url = await server.newMigrated();
    pool = openPool(placeOf(url));
    storage = await openPostgres(placeOf(url), { clock });
    reader = new pg.Client({ connectionString: url, application_name: 'pg_dump' });
    await reader.connect();
  });
  afterEach(async () => {
    await reader.end();
    await storage.close();
    await pool.end();
  });
  afterAll(() => server?.remove());

  const next = (migrations().at(-1)?.version ?? 0) + 1;
  const name = `00${next}_next.sql`;
  const addition = (sql: string): Migration => ({ version: next, name, sql, sha256: '0' });
  const read = () => reader.query('BEGIN; SELECT FROM chain_runs');
  const applied = async () =>
    (await server.query(`SELECT FROM schema_migrations WHERE version = ${next}`, databaseOf(url))).length ===
    1;
  const insert = (id: string) => storage.transaction((tx) => tx.runs.insert(runState(id)));

  async function migrate(
    sql: string,
    options: { timers?: Timers; onBlocked?: (by: string) => void } = {},
  ): Promise<void> {
    const failing = (error: unknown) => postgresFailure(error, 'the database');
    const connection = new Connection(await pool.connect(), failing);
    try {
      await migratePostgres(connection, [...migrations(), addition(sql)], {
        name: 'the database',
        clock,
        ...options,
      });
    } finally {
      connection.end();
    }
  }

  it('let others write while another program reads a table that they change, and are applied once it is done', async () => {
    await read();
    const said: string[] = [];
    const timers: Timers = {
      ...systemTimers,
      elapsedMs: () => 0,
      // Between two attempts.
      async sleep() {
        await insert('run1');
        expect(await applied()).toBe(false);
        await reader.query('COMMIT');
      },
    };
    await migrate('ALTER TABLE chain_runs ADD COLUMN note TEXT', {
      timers,
      onBlocked: (by) => said.push(by),
    });
    expect(await applied()).toBe(true);
    const { rows } = await reader.query('SELECT id, note FROM chain_runs');
    expect(rows).toEqual([{ id: 'run1', note: null }]);
    expect(said).toEqual([
      expect.stringMatching(
        /^the server’s process \d+ of the user countersign \(pg_dump\), in a transaction since \d{4}-\S+Z$/,
      ),
    ]);
  });

  it('fail after a minute, and say who uses the table and how to end that', async () => {
    await read();
    const { rows } = await reader.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]?.pid;
    let elapsed = 0;
    const timers: Timers = {
      ...systemTimers,
      elapsedMs: () => elapsed,
      async sleep() {
        elapsed += MINUTE_MS;
      },
    };
    await expect(migrate('ALTER TABLE chain_runs ADD COLUMN note TEXT', { timers })).rejects.toMatchObject({
      code: 'migration.blocked',
      message: expect.stringMatching(
        new RegExp(
          `^The database cannot be migrated and is as it was, .* probably the server’s process ${pid} of the user countersign ` +
            `\\(pg_dump\\), .*end it with SELECT pg_terminate_backend\\(${pid}\\), and start again\\.$`,
        ),
      ),
    });
    await insert('run1');
    await reader.query('COMMIT');
    expect(await applied()).toBe(false);
  });

  it('have running processes forget the rows that they know', async () => {
    await insert('run1');
    const paused = () => storage.transaction(async (tx) => (await tx.runs.get('run1'))?.paused);
    expect(await paused()).toBe(false);
    const version = await storage.version();
    await migrate('UPDATE chain_runs SET paused = 1');
    expect(await paused()).toBe(true);
    expect(await storage.version()).not.toBe(version);
  });
});
