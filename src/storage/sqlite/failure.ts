import BetterSqlite3 from 'better-sqlite3';
import { CountersignError } from '../../core/errors.ts';

/**
 * What the owner of the database can do about an error of SQLite; other errors are returned as they are.
 * The codes are SQLite's result codes, https://sqlite.org/rescode.html.
 */
export function sqliteFailure(error: unknown, path: string): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const sentence = sentenceFor(error.code, path);
  return sentence === undefined
    ? error
    : new CountersignError('storage.unavailable', sentence, { cause: error });
}

function sentenceFor(code: string, path: string): string | undefined {
  if (code.startsWith('SQLITE_BUSY')) {
    return `The database ${path} is busy: another process has been writing to it for too long.`;
  }
  if (code === 'SQLITE_FULL') return `The disk that holds the database ${path} is full.`;
  if (code.startsWith('SQLITE_READONLY')) return `The database ${path} cannot be written to.`;
  if (code.startsWith('SQLITE_CANTOPEN')) return `The database ${path} cannot be opened.`;
  if (code.startsWith('SQLITE_CORRUPT')) return `The database ${path} is damaged; restore a backup.`;
  if (code === 'SQLITE_NOTADB') return `The file ${path} is not an SQLite database.`;
  if (code.startsWith('SQLITE_IOERR')) return `The disk that holds the database ${path} failed (${code}).`;
  return undefined;
}
