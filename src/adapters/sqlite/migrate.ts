import type BetterSqlite3 from 'better-sqlite3';
import type { Clock } from '../../core/clock.ts';
import { type AppliedMigration, type Migration, migrationFailed, pendingMigrations } from '../sql/migrate.ts';

const HISTORY = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT`;

/**
 * Applies all pending migrations in one transaction: if the last of several fails, the previous version can
 * still use the database. Two processes that start together take turns.
 *
 * Foreign keys are off meanwhile, which SQLite requires for rebuilding a table, and are checked before the
 * commit.
 * @throws CountersignError if `pendingMigrations` refuses, or if a migration fails
 */
export function migrateSqlite(
  db: BetterSqlite3.Database,
  migrations: readonly Migration[],
  clock: Clock,
): void {
  const pending = () =>
    pendingMigrations(
      migrations,
      db.prepare<[], AppliedMigration>('SELECT * FROM schema_migrations ORDER BY version').all(),
    );
  // Without the lock, so that a database can also be opened while somebody writes to it.
  db.pragma('foreign_keys = ON');
  const hasHistory = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'").get();
  if (hasHistory && pending().length === 0) return;
  db.pragma('foreign_keys = OFF');
  const applyPending = db.transaction(() => {
    db.exec(HISTORY);
    for (const migration of pending()) apply(db, migration, clock.now());
  });
  applyPending.immediate();
  db.pragma('foreign_keys = ON');
}

function apply(db: BetterSqlite3.Database, { version, name, sha256, sql }: Migration, at: Date): void {
  try {
    db.exec(sql);
    const broken = db.pragma('foreign_key_check') as unknown[];
    if (broken.length > 0) throw new Error(`${broken.length} rows refer to rows that do not exist`);
  } catch (error) {
    throw migrationFailed(name, error);
  }
  db.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)').run(
    version,
    name,
    sha256,
    at.toISOString(),
  );
}
