import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { openPostgres } from '../../src/adapters/postgres/open.ts';
import { placeOf } from '../../src/adapters/postgres/place.ts';
import { openPool, type Pool } from '../../src/adapters/postgres/pool.ts';
import { openStorage } from '../../src/composition/storage.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { TestDatabase } from './database.ts';
import { memoryFolder } from './memory-folder.ts';

/** Where Debian and Ubuntu put the programs of each version. */
const INSTALLED = '/usr/lib/postgresql';

/** The user `nobody` of Debian: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

/** For programs that refuse to run as root. */
export const asNobody: { uid?: number; gid?: number } =
  process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** The folder with the programs of the newest installed version; `undefined` if there is none. */
export const postgresPrograms: string | undefined = existsSync(INSTALLED)
  ? readdirSync(INSTALLED)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(INSTALLED, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** Why tests of PostgreSQL are skipped, for their names. */
export const WITHOUT_POSTGRES =
  postgresPrograms === undefined ? ' (skipped: apt-get install postgresql)' : '';

export interface PostgresServer {
  /** The folder with its Unix socket. */
  folder: string;
  /** Another empty database each time. */
  newDatabase(): Promise<string>;
  /** Another migrated database each time. */
  newMigrated(): Promise<string>;
  /** Runs statements as the owner of everything. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Stops it, as a restart does, or as a crash does. */
  down(how: 'fast' | 'immediate'): Promise<void>;
  up(): Promise<void>;
  /** Starts a server that has each commit before anybody hears of it. It writes after `SELECT pg_promote()`. */
  standby(): Promise<PostgresServer>;
  remove(): Promise<void>;
}

/**
 * A server of its own in a folder of its own, on a Unix socket. It does not wait for the disk unless it should be `durable`.
 * @param parent where that folder is made, for more than fits into memory
 */
export async function startPostgres({
  durable = false,
  parent,
}: {
  durable?: boolean;
  parent?: string;
} = {}): Promise<PostgresServer> {
  if (postgresPrograms === undefined) throw new Error('PostgreSQL is not installed');
  const programs = postgresPrograms;
  const folder = newFolder(durable, parent);
  await promisify(execFile)(
    join(programs, 'initdb'),
    ['-D', join(folder, 'data'), '-U', 'countersign', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { cwd: folder, ...asNobody },
  );
  return serverIn(folder, { programs, durable });
}

function newFolder(durable: boolean, parent = durable ? tmpdir() : memoryFolder()): string {
  const folder = mkdtempSync(join(parent, 'countersign-pg-'));
  if (asNobody.uid !== undefined) chownSync(folder, asNobody.uid, NOBODY);
  return folder;
}

const endAtSignal = () => process.exit(1);

async function serverIn(
  folder: string,
  { programs, durable }: { programs: string; durable: boolean },
): Promise<PostgresServer> {
  const data = join(folder, 'data');
  let server: ChildProcess | undefined;
  const endWithThis = () => {
    server?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', endWithThis);
  // Vitest ends the processes of its tests by a signal, which raises no such event by itself.
  process.once('SIGTERM', endAtSignal);
  let made = 0;
  let template: Promise<string> | undefined;

  const urlOf = (database: string) => `postgres://countersign@localhost/${database}?host=${folder}`;

  async function up(): Promise<void> {
    const started = spawn(
      join(programs, 'postgres'),
      [
        ...['-D', data, '-k', folder, '-c', 'listen_addresses=', '-c', 'max_connections=200'],
        ...(durable ? [] : ['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off']),
      ],
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...asNobody },
    );
    server = started;
    const lines = createInterface({ input: started.stderr });
    const log: string[] = [];
    for await (const line of lines) {
      log.push(line);
      if (/ready to accept (read-only )?connections/.test(line)) {
        started.stderr.resume();
        return;
      }
    }
    throw new Error(`PostgreSQL did not start: ${log.join('\n')}`);
  }

  async function down(how: 'fast' | 'immediate'): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  async function query(sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: urlOf(database) });
    await client.connect();
    try {
      const answers: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
      return (Array.isArray(answers) ? answers.at(-1) : answers)?.rows ?? [];
    } finally {
      await client.end();
    }
  }

  async function newDatabase(from = 'template0'): Promise<string> {
    const name = `test_${++made}`;
    await query(`CREATE DATABASE ${name} TEMPLATE ${from}`);
    return urlOf(name);
  }

  async function migrated(): Promise<string> {
    const url = await newDatabase();
    await (await openStorage(url)).close();
    return databaseOf(url);
  }

  await up();
  return {
    folder,
    newDatabase: () => newDatabase(),
    async newMigrated() {
      template ??= migrated();
      return newDatabase(await template);
    },
    query,
    down,
    up,
    async standby() {
      const another = newFolder(durable);
      await promisify(execFile)(
        join(programs, 'pg_basebackup'),
        [
          '-D',
          join(another, 'data'),
          '-h',
          folder,
          '-U',
          'countersign',
          '--write-recovery-conf',
          '--checkpoint=fast',
          '--no-sync',
        ],
        { cwd: another, ...asNobody },
      );
      const started = await serverIn(another, { programs, durable });
      await query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await query('SELECT pg_reload_conf()');
      return started;
    },
    async remove() {
      process.off('exit', endWithThis);
      process.off('SIGTERM', endAtSignal);
      await down('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The tables that only PostgreSQL needs: who serves the database, and what became of commits. */
export const OF_POSTGRES = ['commits', 'installation_leases', 'serving', 'workers'];

export function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Leaves a migrated database as it was after its migration, whatever triggers say. TRUNCATE takes three times as long. */
const EMPTIED = `
  SET session_replication_role = replica;
  DO $$ DECLARE one TEXT; BEGIN
    FOR one IN SELECT tablename FROM pg_tables
      WHERE schemaname = 'public' AND tablename NOT IN ('schema_migrations', 'serving')
      LOOP EXECUTE format('DELETE FROM %I', one); END LOOP;
    FOR one IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
      LOOP PERFORM setval(one, 1, false); END LOOP;
  END $$`;

/** With a connection that empties it: a new one takes ten times as long, because it knows none of the tables. */
async function withEmptying(url: string): Promise<{ url: string; emptying: pg.Client }> {
  const emptying = new pg.Client({ connectionString: url });
  // The server is stopped before it, at the end of the process.
  emptying.on('error', () => {});
  await emptying.connect();
  return { url, emptying };
}

/** Databases of one server. One that a test has left is emptied for another. */
function reusedDatabases() {
  let started: Promise<PostgresServer> | undefined;
  const free: { url: string; emptying: pg.Client }[] = [];
  return {
    async take(): Promise<{ url: string; giveBack(): Promise<void> }> {
      started ??= startPostgres();
      const database = free.pop() ?? (await withEmptying(await (await started).newMigrated()));
      return {
        url: database.url,
        async giveBack() {
          await database.emptying.query(EMPTIED);
          free.push(database);
        },
      };
    },
    async remove() {
      for (const { emptying } of free) await emptying.end();
      await (await started)?.remove();
    },
  };
}

/** One server for the tests of a file. Its connections are kept from test to test, because making one takes longer than most tests. */
export function postgresTestDatabases(): {
  open(clock: Clock): Promise<TestDatabase>;
  remove(): Promise<void>;
} {
  const databases = reusedDatabases();
  const pools = new Map<string, Pool>();
  return {
    async open(clock) {
      const { url, giveBack } = await databases.take();
      const place = placeOf(url);
      const pool = pools.get(url) ?? openPool(place);
      pools.set(url, pool);
      const storage = await openPostgres(place, { clock, pool: { ...pool, end: async () => {} } });
      return {
        storage,
        async remove() {
          await storage.close();
          await giveBack();
        },
      };
    },
    async remove() {
      for (const pool of pools.values()) await pool.end();
      await databases.remove();
    },
  };
}

let ofScenarios: ReturnType<typeof reusedDatabases> | undefined;

/** For tests in a process that is killed at its end, in which the server would stay. */
export async function removePostgresOfScenarios(): Promise<void> {
  await ofScenarios?.remove();
  ofScenarios = undefined;
}

/** A database for one scenario. Its server ends with the process. */
export async function postgresForScenarios(): Promise<{ url: string; remove(): Promise<void> }> {
  ofScenarios ??= reusedDatabases();
  const { url, giveBack } = await ofScenarios.take();
  return { url, remove: giveBack };
}
