import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { z } from 'zod';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { makeFolderFor } from './folder.ts';

const holderSchema = z.object({ pid: z.number(), host: z.string(), since: z.iso.datetime() });

/** The process that serves a database; `since` is ISO 8601. */
export type Holder = z.infer<typeof holderSchema>;

/** `holder` is left out if that process could not write its lock information. */
export type Claim = { ok: true; release(): void } | { ok: false; holder: Holder | undefined };

/**
 * Keeps a reference: the garbage collector would close an unreferenced connection and so release the claim.
 */
const held = new Set<BetterSqlite3.Database>();

/**
 * Makes this process the one that serves the database at `path`, or returns the other process that does.
 *
 * The claim is an exclusive transaction, never committed, on the empty SQLite file `<path>.lock`. The
 * kernel's lock behind it ends with the process, however the process ends, and the file stays empty, so
 * nothing can remain that prevents the next start. Rejected: a file with a pid, which outlives its process,
 * and a lock on the database itself, which would exclude the command line and backups.
 *
 * Only SQLite may open the lock file: closing another handle on it would release this process's locks.
 * @throws CountersignError `storage.unavailable` if the lock file cannot be created or locked
 */
export function claimToServe(path: string, now: Date): Claim {
  makeFolderFor(path);
  const lockFile = `${realPath(path)}.lock`;
  const holderFile = `${lockFile}.json`;
  let lock: BetterSqlite3.Database | undefined;
  try {
    lock = new BetterSqlite3(lockFile, { timeout: 0 });
    // A journal on disk would be another file that could remain.
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

/** Not essential: this file only names the process in messages. */
function writeHolder(file: string, holder: Holder): void {
  try {
    writeFileSync(file, JSON.stringify(holder), { mode: 0o600 });
  } catch {
    // On a full disk, no name is better than that of the previous process.
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
