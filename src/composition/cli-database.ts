import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type AppliedMigration, pendingMigrations, readMigrations } from '../adapters/sql/migrate.ts';
import { sqliteFailure } from '../adapters/sqlite/failure.ts';
import { SQLITE_MIGRATIONS } from '../adapters/sqlite/open.ts';
import { SqliteStorage } from '../adapters/sqlite/storage.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import type { Migrated } from '../entrypoints/cli/context.ts';
import {
  BACKUP_BY_PG_DUMP,
  IN_MEMORY,
  NOTHING_TO_VACUUM,
  noDatabase,
  noRoomToVacuum,
  olderDatabase,
} from '../messages/cli/cli.ts';
import { migrateLater, type Server } from '../messages/cli/process.ts';
import type { Storage } from '../ports/storage.ts';
import { claimDatabase } from './serving.ts';
import { isPostgres, openStorage } from './storage.ts';

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the database for one piece of work. For reading, it opens it read-only, so that a bug cannot write.
 */
export async function withDatabase<T>(
  url: string,
  purpose: 'read' | 'write',
  work: (storage: Storage) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  if (isPostgres(url)) return (await import('./cli-postgres.ts')).withPostgres(url, purpose, work, clock);
  const path = existing(url);
  return failingClearly(path, async () => {
    const pending = pendingIn(path);
    if (pending.length > 0) throw new CountersignError('cli.older_database', olderDatabase(path, pending));
    // Nothing is pending, so opening it does not migrate.
    const storage = purpose === 'read' ? readOnly(path) : await openStorage(url, { clock });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  });
}

/**
 * @param onBlocked called if the migration has to wait for another session of PostgreSQL, with who that probably is
 * @throws CountersignError if the database is newer than this program, another app serves it, or a migration
 * fails
 */
export async function migrate(url: string, onBlocked: (by: string) => void): Promise<Migrated> {
  if (isPostgres(url)) return (await import('./cli-postgres.ts')).migratePostgresDatabase(url, onBlocked);
  const path = pathOf(url);
  return failingClearly(path, async () => {
    const before = existsSync(path) ? appliedTo(path) : [];
    if (pendingMigrations(readMigrations(SQLITE_MIGRATIONS), before).length > 0) {
      await alone(url, migrateLater, async () => (await openStorage(url, { clock: systemClock })).close());
    }
    const known = new Set(before.map(({ version }) => version));
    const after = appliedTo(path);
    return {
      database: path,
      from: latest(before),
      to: latest(after),
      applied: after.filter(({ version }) => !known.has(version)).map(({ name }) => name),
    };
  });
}

/**
 * Accepts a database of any version, because people need a backup before an upgrade and before a downgrade.
 */
export async function backup(
  url: string,
  file: string,
  onProgress: (copied: number, of: number) => void,
): Promise<{ database: string; bytes: number }> {
  if (isPostgres(url)) throw new CountersignError('storage.backup_refused', BACKUP_BY_PG_DUMP);
  const path = existing(url);
  return failingClearly(path, async () => {
    const storage = readOnly(path);
    try {
      await storage.backup(file, onProgress);
    } finally {
      await storage.close();
    }
    return { database: path, bytes: statSync(file).size };
  });
}

/**
 * Rewrites the file without its free pages and sets `auto_vacuum`, so that retention can return free pages
 * from then on. For an existing file, only `VACUUM` changes that setting
 * (https://sqlite.org/pragma.html#pragma_auto_vacuum).
 */
export async function vacuum(url: string): Promise<{ database: string; before: number; after: number }> {
  if (isPostgres(url)) throw new CountersignError('cli.not_a_file', NOTHING_TO_VACUUM);
  const path = existing(url);
  return failingClearly(path, async () => {
    const before = statSync(path).size;
    await alone(url, migrateLater, async () => {
      // The copy passes through the log beside the file, so check the free space there. SQLite first makes it
      // in the folder for temporary files, and reports missing space there by itself.
      const { bavail, bsize } = statfsSync(dirname(resolve(path)));
      if (bavail * bsize < before) throw new CountersignError('cli.no_room', noRoomToVacuum(path, before));
      const db = new BetterSqlite3(path, { timeout: BUSY_TIMEOUT_MS });
      try {
        db.pragma('auto_vacuum = INCREMENTAL');
        db.exec('VACUUM');
        db.pragma('wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
      }
    });
    return { database: path, before, after: statSync(path).size };
  });
}

/** Runs work that must not run beside an app. @param refusal what to say if one serves the database */
export async function alone<T>(
  url: string,
  refusal: (server: Server | undefined) => string,
  work: () => Promise<T>,
): Promise<T> {
  const claim = await claimDatabase(url, {
    clock: systemClock,
    timeoutMs: 0,
    onWait() {},
    goesOnWithCopy: true,
  });
  if (!claim.ok) throw new CountersignError('storage.served_by_another', refusal(claim.holder));
  try {
    return await work();
  } finally {
    await claim.release();
  }
}

function pathOf(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === ':memory:') throw new CountersignError('cli.in_memory', IN_MEMORY);
  return path;
}

export function existing(url: string): string {
  const path = pathOf(url);
  if (!existsSync(path)) throw new CountersignError('cli.no_database', noDatabase(path));
  return path;
}

function readOnly(path: string): Storage {
  const open = () => new BetterSqlite3(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  return new SqliteStorage(path, open(), open(), systemClock);
}

/** The migrations that the file lacks. @throws CountersignError if it is newer than this program */
export function pendingIn(path: string): string[] {
  return pendingMigrations(readMigrations(SQLITE_MIGRATIONS), appliedTo(path)).map(({ name }) => name);
}

function appliedTo(path: string): AppliedMigration[] {
  const db = new BetterSqlite3(path, { readonly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const history = db
      .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'")
      .get();
    if (history === undefined) return [];
    return db
      .prepare<[], AppliedMigration>('SELECT version, name, sha256 FROM schema_migrations ORDER BY version')
      .all();
  } finally {
    db.close();
  }
}

function latest(applied: readonly AppliedMigration[]): number {
  return applied.at(-1)?.version ?? 0;
}

export async function failingClearly<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sqliteFailure(error, path);
  }
}
