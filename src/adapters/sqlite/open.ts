import { rmSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type { Storage } from '../../ports/storage.ts';
import { readMigrations } from '../sql/migrate.ts';
import { makeDurable, PAGE_CACHE_KB, PAGES_OF_LOG } from './durable.ts';
import { sqliteFailure } from './failure.ts';
import { makeFolderFor } from './folder.ts';
import { BUSY_TIMEOUT_MS } from './lock-wait.ts';
import { migrateSqlite } from './migrate.ts';
import { SqliteStorage } from './storage.ts';

export const SQLITE_MIGRATIONS = join(PACKAGE_ROOT, 'migrations/sqlite');

/**
 * How long opening the database waits for another process's lock, in ms. The process has no other work yet,
 * so it may block.
 */
const OPENING_MS = 5_000;

export interface SqliteOptions {
  clock: Clock;
  /** The folder with the migrations. */
  migrations?: string;
  timers?: Timers;
}

/**
 * Opens the database file, creates it if it does not exist, and migrates it.
 * @throws CountersignError if it cannot be opened or this program must not write to it
 */
export function openSqlite(
  path: string,
  { clock, migrations = SQLITE_MIGRATIONS, timers = systemTimers }: SqliteOptions,
): Storage {
  makeFolderFor(path);
  let writer: BetterSqlite3.Database | undefined;
  try {
    writer = new BetterSqlite3(path, { timeout: OPENING_MS });
    // Only for an empty file. `countersign db vacuum` changes an existing one.
    if (writer.pragma('page_count', { simple: true }) === 0) writer.pragma('auto_vacuum = INCREMENTAL');
    makeDurable(writer, PAGES_OF_LOG.database);
    // An INSERT of many rows keeps the pages that it changes until it ends. Beyond 64 KB, SQLite would create
    // a temporary file for them each time, outside our own folder.
    writer.pragma('temp_store = MEMORY');
    migrateSqlite(writer, readMigrations(migrations), clock);
    writer.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const reader = new BetterSqlite3(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
    for (const db of [writer, reader]) db.pragma(`cache_size = -${PAGE_CACHE_KB.database}`);
    return new SqliteStorage(path, writer, reader, clock, timers);
  } catch (error) {
    writer?.close();
    throw sqliteFailure(error, path);
  }
}

/**
 * A database that `close` deletes. It is a file, because two connections cannot share one in memory. With one
 * connection, reads would see, or wait for, uncommitted changes.
 * @param folder an empty folder, which `close` deletes too
 */
export function openThrowAwaySqlite(folder: string, options: SqliteOptions): Storage {
  const storage = openSqlite(join(folder, 'throw-away.db'), options);
  const close = storage.close.bind(storage);
  storage.close = async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  };
  return storage;
}
