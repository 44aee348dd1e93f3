import BetterSqlite3 from 'better-sqlite3';
import { CountersignError } from '../../core/errors.ts';
import { StorageLocked } from '../../ports/locked.ts';

/**
 * Adds what the database's owner can do about an SQLite error. Returns other errors unchanged. The codes are
 * SQLite's result codes: https://sqlite.org/rescode.html
 */
export function sqliteFailure(error: unknown, path: string): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  if (error.code.startsWith('SQLITE_BUSY')) {
    return new StorageLocked(
      `The database ${path} is locked: another process has been writing to it for too long.`,
      { cause: error },
    );
  }
  const sentence = sentenceFor(error.code, path);
  return sentence === undefined
    ? error
    : new CountersignError('storage.unavailable', sentence, { cause: error });
}

/**
 * Whether the file is damaged. Unlike a full disk, that never passes by itself, and writing makes it worse.
 */
export function isDamage(failure: unknown): boolean {
  if (!(failure instanceof CountersignError) || !(failure.cause instanceof BetterSqlite3.SqliteError)) {
    return false;
  }
  const { code } = failure.cause;
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

export function diskIsFull(path: string): string {
  return `The disk that holds the database ${path} is full. Make room on it; nothing recorded so far is harmed.`;
}

function sentenceFor(code: string, path: string): string | undefined {
  if (code === 'SQLITE_FULL') return diskIsFull(path);
  if (code.startsWith('SQLITE_READONLY')) {
    return `The database ${path} cannot be written to: let the app write to the file and to its folder.`;
  }
  if (code.startsWith('SQLITE_CANTOPEN')) {
    return `The database ${path} cannot be opened: let the app read and write the file and its folder.`;
  }
  if (code.startsWith('SQLITE_CORRUPT')) {
    return `The database ${path} is damaged. Stop the app, keep the file, and put a backup in its place.`;
  }
  if (code === 'SQLITE_NOTADB') return `The file ${path} is not an SQLite database.`;
  if (code.startsWith('SQLITE_IOERR')) {
    return `The disk that holds the database ${path} failed (${code}); the system's log says how.`;
  }
  return undefined;
}
