import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import { StorageLocked } from '../../ports/locked.ts';
import { type AppliedMigration, type Migration, migrationFailed, pendingMigrations } from '../sql/migrate.ts';
import { noteCommit } from './commits.ts';
import type { Connection } from './connection.ts';
import { IDLE_MS, LOCK } from './lock.ts';
import { capitalized } from './place.ts';
import { rowsOf } from './pool.ts';

/**
 * What the adapter needs before any migration: their history, the last commit of each connection that writes, and who serves the
 * database: one process, or several that work side by side. One, and each such group, has a higher fence than the one before.
 */
const OWN_TABLES = `
  CREATE TABLE IF NOT EXISTS schema_migrations (
    version    BIGINT PRIMARY KEY,
    name       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    applied_at TEXT NOT NULL
  );
  CREATE SEQUENCE IF NOT EXISTS commit_numbers;
  CREATE TABLE IF NOT EXISTS commits (
    writer TEXT PRIMARY KEY,
    own    BIGINT NOT NULL,
    number BIGINT NOT NULL,
    at     TIMESTAMP WITH TIME ZONE NOT NULL
  );
  CREATE TABLE IF NOT EXISTS serving (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    fence  BIGINT NOT NULL,
    holder TEXT,
    until  TIMESTAMP WITH TIME ZONE NOT NULL
  );
  INSERT INTO serving VALUES (1, 0, NULL, '-infinity') ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS workers (
    id            TEXT PRIMARY KEY,
    fence         BIGINT NOT NULL,
    holder        TEXT NOT NULL,
    installations BOOLEAN NOT NULL,
    own_work      BOOLEAN NOT NULL,
    asks          BOOLEAN NOT NULL,
    until         TIMESTAMP WITH TIME ZONE NOT NULL
  );
  CREATE TABLE IF NOT EXISTS installation_leases (
    installation_id BIGINT PRIMARY KEY,
    worker          TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS installation_leases_by_worker ON installation_leases (worker)`;

/** Makes the tables that the adapter itself needs, if they are missing. */
export async function makeOwnTables(connection: Connection): Promise<void> {
  const [answer] = await connection.script(`SELECT to_regclass('installation_leases') IS NOT NULL AS made`);
  if (rowsOf<{ made: boolean }>(answer)[0]?.made) return;
  await connection.script(`BEGIN; ${LOCK}; ${OWN_TABLES}; COMMIT`).catch(async (error: unknown) => {
    await connection.rollBack();
    throw error;
  });
}

export async function appliedTo(connection: Connection): Promise<AppliedMigration[]> {
  const [answer] = await connection.script(`SELECT to_regclass('schema_migrations') IS NOT NULL AS made`);
  if (!rowsOf<{ made: boolean }>(answer)[0]?.made) return [];
  const [history] = await connection.script(
    'SELECT version, name, sha256 FROM schema_migrations ORDER BY version',
  );
  return rowsOf<AppliedMigration>(history);
}

/**
 * How long a migration waits for a table that another session uses, in milliseconds. All that write wait meanwhile, and nobody may give
 * up because of it (`storage.ts`). Longer than the second after which the server ends its own cleaning of a table (`deadlock_timeout`).
 */
const TABLE_MS = 2_000;
/** Between two attempts, in milliseconds: the others write again. */
const PAUSE_MS = 3_000;
/** For how long attempts are made, in milliseconds. */
const PATIENCE_MS = 60_000;

interface Migrating {
  /** For messages, such as `the database countersign on db.example.com`. */
  name: string;
  clock: Clock;
  timers?: Timers | undefined;
  /** Called once if another session uses a table that a migration changes. @param by who that probably is, for messages */
  onBlocked?: ((by: string) => void) | undefined;
}

/**
 * Applies all pending migrations in one transaction, under the lock of all that write: several processes that start on an empty
 * database take turns, and the last finds nothing to do. While another session uses a table that they change, such as `pg_dump`, they are
 * tried again and again, and the others write in between.
 * @throws CountersignError if `pendingMigrations` refuses, if a migration fails, or if that other session takes too long
 */
export async function migratePostgres(
  connection: Connection,
  migrations: readonly Migration[],
  { name, clock, timers = systemTimers, onBlocked }: Migrating,
): Promise<void> {
  const exhaustedAt = timers.elapsedMs() + PATIENCE_MS;
  for (let attempt = 1; pendingMigrations(migrations, await appliedTo(connection)).length > 0; attempt++) {
    const locked = await attemptToMigrate(connection, migrations, clock);
    if (!locked) return;
    const by = await longestUser(connection);
    if (timers.elapsedMs() >= exhaustedAt) throw migrationBlocked(name, by, locked);
    if (attempt === 1) onBlocked?.(described(by));
    await timers.sleep(PAUSE_MS);
  }
}

/** @returns why nothing has changed, if another session uses a table */
async function attemptToMigrate(
  connection: Connection,
  migrations: readonly Migration[],
  clock: Clock,
): Promise<StorageLocked | undefined> {
  try {
    // The lock itself may take longer: who has it migrates, or is about to end.
    await connection.script(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}; ${LOCK}; SET LOCAL lock_timeout = ${TABLE_MS}`,
    );
    for (const migration of pendingMigrations(migrations, await appliedTo(connection)))
      await apply(connection, migration, clock.now());
    await connection.script(`${noteCommit('migration')} COMMIT`);
    return undefined;
  } catch (error) {
    await connection.rollBack();
    if (error instanceof StorageLocked) return error;
    throw error;
  }
}

async function apply(
  connection: Connection,
  { version, name, sha256, sql }: Migration,
  at: Date,
): Promise<void> {
  try {
    await connection.script(sql);
  } catch (error) {
    if (error instanceof StorageLocked) throw error;
    throw migrationFailed(name, error);
  }
  // The name and the hash consist of letters and digits, apart from `_` and `.`.
  await connection.script(
    `INSERT INTO schema_migrations VALUES (${version}, '${name}', '${sha256}', '${at.toISOString()}')`,
  );
}

/** A session of the server. Sessions of other users do not say since when to everybody. */
interface Session {
  pid: number;
  user: string | null;
  program: string | null;
  since: Date | null;
}

/**
 * The session that has used a table for longest, since before the last attempt. The server says who blocks a session only while that
 * waits, so this is a guess, but for a wait of two seconds a good one.
 */
async function longestUser(connection: Connection): Promise<Session | undefined> {
  const [answer] = await connection.script(
    `SELECT pid, usename AS user, application_name AS program, xact_start AS since FROM pg_stat_activity
     WHERE pid <> pg_backend_pid() AND COALESCE(xact_start < now() - interval '${TABLE_MS} ms', TRUE) AND pid IN (
       SELECT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation
         WHERE granted AND relnamespace = current_schema()::regnamespace
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
     ) ORDER BY xact_start NULLS LAST LIMIT 1`,
  );
  return rowsOf<Session>(answer)[0];
}

function described(session: Session | undefined): string {
  if (!session) return 'a session that the server does not name';
  const { pid, user, program, since } = session;
  const of = user === null ? '' : ` of the user ${user}`;
  const named = program ? ` (${program})` : '';
  return `the server’s process ${pid}${of}${named}${since ? `, in a transaction since ${since.toISOString()}` : ''}`;
}

function migrationBlocked(name: string, by: Session | undefined, cause: StorageLocked): CountersignError {
  const end = by ? `, or end it with SELECT pg_terminate_backend(${by.pid})` : '';
  return new CountersignError(
    'migration.blocked',
    `${capitalized(name)} cannot be migrated and is as it was, because another session has used one of its tables for ` +
      `${PATIENCE_MS / 1_000} s: probably ${described(by)}. Let it end${end}, and start again.`,
    { cause },
  );
}
