import type BetterSqlite3 from 'better-sqlite3';
import type { Clock } from '../../core/clock.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { type AppliedMigration, type Migration, pendingMigrations } from '../migrate.ts';

const HISTORY = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT`;

/**
 * Brings the database up to date, each migration in one transaction. Two processes that start together take turns:
 * what is pending is read again inside each transaction.
 *
 * Foreign keys are off meanwhile, as SQLite asks for when a table is rebuilt, and are checked before each commit.
 * @throws CountersignError for what `pendingMigrations` refuses, and for a migration that fails.
 */
export function migrateSqlite(
  db: BetterSqlite3.Database,
  migrations: readonly Migration[],
  clock: Clock,
): void {
  db.pragma('foreign_keys = OFF');
  db.exec(HISTORY);
  const applied = db.prepare<[], AppliedMigration>('SELECT * FROM schema_migrations ORDER BY version');
  const remember = db.prepare('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)');
  const applyNext = db.transaction((): boolean => {
    const [next] = pendingMigrations(migrations, applied.all());
    if (!next) return false;
    try {
      db.exec(next.sql);
      const broken = db.pragma('foreign_key_check') as unknown[];
      if (broken.length > 0) throw new Error(`${broken.length} rows refer to rows that do not exist`);
    } catch (error) {
      throw new CountersignError(
        'migration.failed',
        `The migration ${next.name} failed and left the database as it was: ${messageOf(error)}`,
        { cause: error },
      );
    }
    remember.run(next.version, next.name, next.sha256, clock.now().toISOString());
    return true;
  });
  while (applyNext.immediate());
  db.pragma('foreign_keys = ON');
}
