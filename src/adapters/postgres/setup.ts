import type { Clock } from '../../core/clock.ts';
import { type AppliedMigration, type Migration, migrationFailed, pendingMigrations } from '../sql/migrate.ts';
import type { Connection } from './connection.ts';
import { LOCK } from './lock.ts';
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
 * Applies all pending migrations in one transaction, under the lock of all that write: several processes that start on an empty
 * database take turns, and the last finds nothing to do.
 * @throws CountersignError if `pendingMigrations` refuses, or if a migration fails
 */
export async function migratePostgres(
  connection: Connection,
  migrations: readonly Migration[],
  clock: Clock,
): Promise<void> {
  if (pendingMigrations(migrations, await appliedTo(connection)).length === 0) return;
  try {
    await connection.script(`BEGIN; ${LOCK}`);
    for (const migration of pendingMigrations(migrations, await appliedTo(connection)))
      await apply(connection, migration, clock.now());
    await connection.script('COMMIT');
  } catch (error) {
    await connection.rollBack();
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
    throw migrationFailed(name, error);
  }
  // The name and the hash consist of letters and digits, apart from `_` and `.`.
  await connection.script(
    `INSERT INTO schema_migrations VALUES (${version}, '${name}', '${sha256}', '${at.toISOString()}')`,
  );
}
