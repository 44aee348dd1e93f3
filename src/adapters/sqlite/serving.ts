import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { z } from 'zod';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { makeFolderFor } from './folder.ts';

const holderSchema = z.object({ pid: z.number(), host: z.string(), since: z.iso.datetime() });

/** The process that serves a database; `since` is ISO-8601. */
export type Holder = z.infer<typeof holderSchema>;

/** `holder` is left out when that process could not write down who it is. */
export type Claim = { ok: true; release(): void } | { ok: false; holder: Holder | undefined };

/** A connection that nobody holds any more would be closed by the garbage collector, and the claim lost with it. */
const held = new Set<BetterSqlite3.Database>();

/**
 * Makes this process the one that serves the database at `path`, or says which other one does.
 *
 * The claim is an exclusive transaction, never committed, on the empty SQLite file `<path>.lock`. The kernel's lock
 * behind it ends with the process, however that ends, and the file itself never holds a byte: nothing can be left
 * behind that keeps the next start from working. Rejected: a file with a pid in it, which outlives its process; and
 * a lock on the database itself, which would shut out the command line and backups.
 * Nothing but SQLite may open the lock file: closing any other handle on it would end this process's locks.
 * @throws CountersignError `storage.unavailable` when the lock file cannot be made or locked.
 */
export function claimToServe(path: string, now: Date): Claim {
  makeFolderFor(path);
  const lockFile = `${realPath(path)}.lock`;
  const holderFile = `${lockFile}.json`;
  let lock: BetterSqlite3.Database | undefined;
  try {
    lock = new BetterSqlite3(lockFile, { timeout: 0 });
    // A journal on disk would be one more file to leave behind.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    if (error instanceof BetterSqlite3.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      return { ok: false, holder: readHolder(holderFile) };
    }
    throw new CountersignError(
      'storage.unavailable',
      `The lock file ${lockFile} cannot be made or locked (${messageOf(error)}): the app must be able to write to the ` +
        'folder of its database.',
      { cause: error },
    );
  }
  const connection = lock;
  held.add(connection);
  writeHolder(holderFile, { pid: process.pid, host: hostname(), since: now.toISOString() });
  return {
    ok: true,
    release() {
      if (!held.delete(connection)) return;
      rmSync(holderFile, { force: true });
      connection.close();
    },
  };
}

/** Two names of one file must lead to one lock. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(realpathSync(dirname(resolve(path))), basename(path));
  }
}

/** The lock stands without it: what is written here only names the process in a sentence. */
function writeHolder(file: string, holder: Holder): void {
  try {
    writeFileSync(file, JSON.stringify(holder), { mode: 0o600 });
  } catch {
    // On a full disk, no name is better than that of the process before.
    rmSync(file, { force: true });
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
