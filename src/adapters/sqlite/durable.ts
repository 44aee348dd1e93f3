import { statfs } from 'node:fs/promises';
import type BetterSqlite3 from 'better-sqlite3';
import { CountersignError } from '../../core/errors.ts';
import { diskIsFull } from './failure.ts';

/**
 * The size of the log, in pages, at which it is moved into the file: 32 MB for the database, or 64 MB if it was
 * created with pages of 8 KB, and 8 MB for the inbox. Senders wait for the two syncs of each move of the inbox's log.
 * It has its space from the start, though, and writing the first time to more of it takes longer than that.
 */
export const PAGES_OF_LOG = { database: 8_000, inbox: 2_000 };

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
export function makeDurable(db: BetterSqlite3.Database, pagesOfLog: number): void {
  db.pragma('journal_mode = WAL');
  // better-sqlite3 is compiled to open WAL files with NORMAL, which can lose an acknowledged delivery in a
  // power cut.
  db.pragma('synchronous = FULL');
  db.pragma(`wal_autocheckpoint = ${pagesOfLog}`);
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
