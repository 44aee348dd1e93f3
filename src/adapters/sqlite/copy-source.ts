import { createHash } from 'node:crypto';
import BetterSqlite3 from 'better-sqlite3';
import type { Cells, CopiedTable, CopySource } from '../sql/copy.ts';
import { BUSY_TIMEOUT_MS } from './lock-wait.ts';

/**
 * Opens a database file to copy it. It reads one snapshot, so a command that writes meanwhile changes nothing.
 * @param path of a database of this version
 */
export function openCopySource(path: string): CopySource & { close(): void } {
  const db = new BetterSqlite3(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec('BEGIN');
    // When each migration was applied, to the millisecond, differs from file to file.
    const history = db.prepare('SELECT * FROM schema_migrations ORDER BY version').all();
    return {
      identity: createHash('sha256').update(JSON.stringify(history)).digest('hex'),
      tables: tablesOf(db),
      countRows: ({ name }) => Number(db.prepare(`SELECT count(*) FROM "${name}"`).pluck().get()),
      rows: (table, skip) => db.prepare<[number], Cells>(selectFrom(db, table)).raw().iterate(skip),
      close: () => void db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The history of migrations is not copied: each database has its own. */
function tablesOf(db: BetterSqlite3.Database): CopiedTable[] {
  const names = db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema
         WHERE type = 'table' AND name <> 'schema_migrations' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    )
    .pluck()
    .all();
  return names.map((name) => ({ name, columns: columnsOf(db, name).map((column) => column.name) }));
}

function columnsOf(db: BetterSqlite3.Database, table: string): { name: string; pk: number }[] {
  return db
    .prepare<[string], { name: string; pk: number }>(
      'SELECT name, pk FROM pragma_table_info(?) ORDER BY name',
    )
    .all(table);
}

/** By the primary key: the only order in which no table has to be sorted. */
function selectFrom(db: BetterSqlite3.Database, { name, columns }: CopiedTable): string {
  const key = columnsOf(db, name)
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map((column) => `"${column.name}"`);
  const all = columns.map((column) => `"${column}"`).join(', ');
  return `SELECT ${all} FROM "${name}" ORDER BY ${key.join(', ')} LIMIT -1 OFFSET ?`;
}
