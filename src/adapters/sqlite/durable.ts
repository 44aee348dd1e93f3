import { statfs } from 'node:fs/promises';
import type BetterSqlite3 from 'better-sqlite3';
import { CountersignError } from '../../core/errors.ts';
import { diskIsFull } from './failure.ts';

/**
 * The size of the log, in pages, at which it is moved into the database file: 32 MB, or 64 MB if the file was
 * created with pages of 8 KB. Senders wait for the two syncs of each move: with SQLite's default of 1,000
 * pages, 5 % fewer deliveries per second are recorded.
 */
const PAGES_OF_LOG = 8_000;

/**
 * The free space, in bytes, that a formerly full disk needs to count as usable: enough for a few deliveries.
 */
const ROOM_BYTES = 1_048_576;

/**
 * Memory for pages of the database file, in KB, of each connection. better-sqlite3 is compiled with 16 MB, which each
 * of four connections fills. A page that is not here comes from the system's cache of the file, in microseconds.
 */
export const PAGE_CACHE_KB = { database: 4_000, inbox: 1_000 };

/** Makes every commit of this connection survive a power cut. */
export function makeDurable(db: BetterSqlite3.Database): void {
  db.pragma('journal_mode = WAL');
  // better-sqlite3 is compiled to open WAL files with NORMAL, which can lose an acknowledged delivery in a
  // power cut.
  db.pragma('synchronous = FULL');
  db.pragma(`wal_autocheckpoint = ${PAGES_OF_LOG}`);
}

/**
 * Whether a formerly full disk is usable again. Writing one page is no proof, because it fits into the log
 * space that a failed transaction left.
 * @throws CountersignError `storage.unavailable`
 */
export async function expectRoom(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize < ROOM_BYTES) throw new CountersignError('storage.unavailable', diskIsFull(path));
}
