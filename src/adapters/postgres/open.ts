import { join } from 'node:path';
import { type Clock, type Timers, timedBy } from '../../core/clock.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type { Storage } from '../../ports/storage.ts';
import { type AppliedMigration, type Migration, pendingMigrations, readMigrations } from '../sql/migrate.ts';
import { Connection } from './connection.ts';
import { postgresFailure } from './failure.ts';
import type { Place } from './place.ts';
import { openPool, type Pool } from './pool.ts';
import type { Fence } from './serving.ts';
import { appliedTo, makeOwnTables, migratePostgres } from './setup.ts';
import { NOW, nowIn } from './sharing.ts';
import { PostgresStorage } from './storage.ts';
import { refuseUnfinishedCopy } from './unfinished-copy.ts';

const POSTGRES_MIGRATIONS = join(PACKAGE_ROOT, 'migrations/postgres');

/** The first migration has the whole schema as of the SQLite migration with this number. */
const BASELINE = 43;

interface PostgresOptions {
  clock: Clock;
  timers?: Timers;
  /** See `migratePostgres`. */
  onBlocked?: (by: string) => void;
  /** Of the process that serves the database: see `PostgresStorage`. */
  fence?: () => Fence | undefined;
  /** Another one, for tests. */
  pool?: Pool;
  /**
   * Another thread of this process has opened the database before. What is there is taken as it is: since then, the next version may
   * have migrated it, beside which this one works until it is replaced.
   */
  isOpenHere?: boolean;
}

/**
 * Connects to the database, and migrates it.
 * @throws CountersignError if it cannot be reached or this program must not write to it
 */
export function openPostgres(place: Place, options: PostgresOptions): Promise<Storage> {
  return onFirstConnection(place, options, async (connection, pool) => {
    if (!options.isOpenHere) {
      await makeOwnTables(connection);
      await migratePostgres(connection, migrations(), { name: place.name, ...options });
    }
    return new PostgresStorage(pool, { name: place.name, ...options });
  });
}

/** Connects to the database, and says which migrations were applied and which it lacks. Changes nothing. */
export function openExistingPostgres(
  place: Place,
  options: { clock: Clock; isReadOnly: boolean },
): Promise<{ storage: Storage; applied: readonly AppliedMigration[]; pending: string[] }> {
  return onFirstConnection(place, options, async (connection, pool) => {
    const applied = await appliedTo(connection);
    return {
      storage: new PostgresStorage(pool, { name: place.name, ...options }),
      applied,
      pending: pendingMigrations(migrations(), applied).map(({ name }) => name),
    };
  });
}

/** Migrates the database. The lock of all that write keeps this apart from a process that serves it. */
export async function migratedPostgres(
  place: Place,
  options: { clock: Clock; onBlocked(by: string): void },
): Promise<{ before: AppliedMigration[]; after: AppliedMigration[] }> {
  const done = await onFirstConnection(place, options, async (connection, pool) => {
    const before = await appliedTo(connection);
    await makeOwnTables(connection);
    await migratePostgres(connection, migrations(), { name: place.name, ...options });
    return { before, after: await appliedTo(connection), pool };
  });
  await done.pool.end();
  return done;
}

/** Those that this program knows. */
export function migrations(): Migration[] {
  return readMigrations(POSTGRES_MIGRATIONS, BASELINE);
}

async function onFirstConnection<T>(
  place: Place,
  { clock, pool: given }: Pick<PostgresOptions, 'clock' | 'pool'>,
  work: (connection: Connection, pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = given ?? openPool(place);
  const failing = (error: unknown) => postgresFailure(error, place.name);
  try {
    const connection = new Connection(await pool.connect(), failing);
    try {
      await timedBy(clock, async () => ({ now: nowIn((await connection.script(NOW))[0]) }));
      await refuseUnfinishedCopy(connection, place.name);
      return await work(connection, pool);
    } finally {
      connection.end();
    }
  } catch (error) {
    await pool.end();
    throw failing(error);
  }
}
