import { CountersignError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';
import { capitalized } from './place.ts';
import { rowsOf } from './pool.ts';

/** What a database is a copy of. It exists only in copies: see `openCopyTarget`. */
export const COPIED_FROM = `
  CREATE TABLE IF NOT EXISTS copied_from (
    id               BIGINT PRIMARY KEY CHECK (id = 1),
    source           TEXT NOT NULL,
    rows_json        TEXT NOT NULL,
    constraints_json TEXT NOT NULL,
    begun_at         TEXT NOT NULL,
    finished_at      TEXT
  )`;

/**
 * Exists as long as a copy is not finished. An empty table, because each transaction asks for it: whether a table exists can be asked
 * where it never did, and `copied_from` cannot be read there.
 */
export const MARK_UNFINISHED = 'CREATE TABLE IF NOT EXISTS unfinished_copy ()';
export const UNMARK_UNFINISHED = 'DROP TABLE IF EXISTS unfinished_copy';
export const IS_UNFINISHED = `to_regclass('unfinished_copy') IS NOT NULL`;

/**
 * A copy that is not finished lacks rows, and the constraints and triggers of its tables.
 * @throws CountersignError `storage.unfinished_copy`
 */
export async function refuseUnfinishedCopy(connection: Connection, name: string): Promise<void> {
  const [table] = await connection.script(`SELECT to_regclass('copied_from') IS NOT NULL AS made`);
  if (!rowsOf<{ made: boolean }>(table)[0]?.made) return;
  const [copies] = await connection.script('SELECT 1 FROM copied_from WHERE finished_at IS NULL');
  if (rowsOf(copies).length === 0) return;
  throw unfinishedCopy(name);
}

export function unfinishedCopy(name: string): CountersignError {
  return new CountersignError(
    'storage.unfinished_copy',
    `${capitalized(name)} is a copy that is not finished. Run countersign db copy as before, which goes on with ` +
      'it, or use another database.',
  );
}
