import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import type { Storage } from '../../ports/storage.ts';
import { readMigrations } from '../sql/migrate.ts';
import { sqliteFailure } from './failure.ts';
import { makeFolderFor } from './folder.ts';
import { STAND_STILL_MS } from './lock-wait.ts';
import { migrateSqlite } from './migrate.ts';
import { SqliteStorage } from './storage.ts';

export const SQLITE_MIGRATIONS = join(PACKAGE_ROOT, 'migrations/sqlite');

/** How long opening the database waits for another process's write, in ms: nothing else of this process is to be done yet. */
const OPENING_MS = 5_000;

/**
 * How long the log grows, in pages, before it is moved into the database file and begun anew: 32 MB, or 64 where the file was made when
 * its pages had 8 KB. The two syncs of
 * each move happen while senders wait: with SQLite's 1,000 pages, a twentieth fewer deliveries a second are taken in.
 */
const PAGES_OF_LOG = 8_000;

export interface SqliteOptions {
  clock: Clock;
  /** The folder with the migrations. */
  migrations?: string;
  timers?: Timers;
}

/**
 * Opens the database file, makes it when it does not exist, and brings it up to date.
 * @throws CountersignError when it cannot be opened or is not this program's to write.
 */
export function openSqlite(
  path: string,
  { clock, migrations = SQLITE_MIGRATIONS, timers = systemTimers }: SqliteOptions,
): Storage {
  makeFolderFor(path);
  let writer: BetterSqlite3.Database | undefined;
  try {
    writer = new BetterSqlite3(path, { timeout: OPENING_MS });
    // Only before anything is in the file: one that is there is changed by `countersign db vacuum`.
    if (writer.pragma('page_count', { simple: true }) === 0) writer.pragma('auto_vacuum = INCREMENTAL');
    writer.pragma('journal_mode = WAL');
    // better-sqlite3 is compiled to open WAL files at NORMAL, which can lose an acknowledged delivery in a power cut.
    writer.pragma('synchronous = FULL');
    writer.pragma(`wal_autocheckpoint = ${PAGES_OF_LOG}`);
    // An INSERT of many rows keeps the pages it changes until it ends; beyond 64 KB SQLite would open a file for them each time, outside
    // of the folder that is ours to write.
    writer.pragma('temp_store = MEMORY');
    migrateSqlite(writer, readMigrations(migrations), clock);
    writer.pragma(`busy_timeout = ${STAND_STILL_MS}`);
    const reader = new BetterSqlite3(path, { readonly: true, timeout: STAND_STILL_MS });
    return new SqliteStorage(path, writer, reader, clock, timers);
  } catch (error) {
    writer?.close();
    throw sqliteFailure(error, path);
  }
}

/**
 * A database that `close` throws away. It is a file all the same: two connections cannot share one in memory, and
 * with one connection reads would see, or wait for, what a transaction has not committed.
 */
export function openThrowAwaySqlite(options: SqliteOptions): Storage {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'));
  const storage = openSqlite(join(folder, 'throw-away.db'), options);
  const close = storage.close.bind(storage);
  storage.close = async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  };
  return storage;
}
