import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { readMigrations } from '../../src/adapters/sql/migrate.ts';
import { openSqlite, SQLITE_MIGRATIONS } from '../../src/adapters/sqlite/open.ts';
import type { Clock } from '../../src/core/clock.ts';

/** The database as each version created and filled it, with `filled/<number>.sql`. Each is made from the one before. */
export function filledDatabases(clock: Clock, newFolder: () => string): (version: number) => Promise<Buffer> {
  const all = readMigrations(SQLITE_MIGRATIONS);
  const filled: Buffer[] = [];
  return async (version) => {
    for (let at = filled.length + 1; at <= version; at++) {
      const folder = newFolder();
      const path = join(folder, 'filled.db');
      const before = filled.at(-1);
      if (before) writeFileSync(path, before);
      const migrations = join(folder, 'migrations');
      mkdirSync(migrations);
      for (const { name } of all.slice(0, at)) cpSync(join(SQLITE_MIGRATIONS, name), join(migrations, name));
      await openSqlite(path, { clock, migrations }).close();
      const fill = join(import.meta.dirname, 'filled', `${String(at).padStart(4, '0')}.sql`);
      // A version that adds neither table nor column has nothing to fill.
      if (existsSync(fill)) execute(path, readFileSync(fill, 'utf8'));
      filled.push(readFileSync(path));
    }
    return filled[version - 1] ?? Buffer.of();
  };
}

function execute(path: string, sql: string): void {
  const db = new BetterSqlite3(path);
  db.exec(sql);
  db.close();
}
