import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CountersignError, messageOf } from '../../core/errors.ts';

/** One numbered SQL file. */
export interface Migration {
  version: number;
  /** The file's name. */
  name: string;
  sql: string;
  /** Of the file's bytes, in hex. */
  sha256: string;
}

/** A row of the table `schema_migrations`. */
export interface AppliedMigration {
  version: number;
  name: string;
  sha256: string;
}

/**
 * Reads `0001_initial.sql`, `0002_….sql` and so on, in order.
 * @param first the number of the first
 * @throws CountersignError if a file has another name, or a number is missing or used twice
 */
export function readMigrations(folder: string, first = 1): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name, index) => {
    const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
    const expected = index + first;
    if (version !== expected) {
      throw new CountersignError(
        'migration.misnumbered',
        `The migration ${name} should begin with ${String(expected).padStart(4, '0')}_: ` +
          'files are numbered without gaps, as 0001_some_words.sql.',
      );
    }
    const bytes = readFileSync(join(folder, name));
    return {
      version,
      name,
      sql: bytes.toString('utf8'),
      sha256: createHash('sha256').update(bytes).digest('hex'),
    };
  });
}

/**
 * The migrations to apply.
 * @throws CountersignError if the database is newer than this program, or if an applied migration has changed
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): Migration[] {
  for (const done of applied) {
    const ours = migrations.find((migration) => migration.version === done.version);
    if (!ours) {
      throw new CountersignError(
        'migration.newer_database',
        `The database was written by a newer version of Countersign (migration ${done.name}; this version knows ` +
          `${migrations.at(-1)?.version ?? 0}). Run that version, or restore a backup made before the upgrade.`,
      );
    }
    if (ours.sha256 !== done.sha256) {
      throw new CountersignError(
        'migration.changed_file',
        `The migration ${ours.name} is not the one that made this database: a migration must never be changed ` +
          'once it was applied. Put the original file back and add a new one instead.',
      );
    }
  }
  const done = new Set(applied.map((migration) => migration.version));
  return migrations.filter((migration) => !done.has(migration.version));
}

/** For a migration whose transaction has been undone. */
export function migrationFailed(name: string, cause: unknown): CountersignError {
  return new CountersignError(
    'migration.failed',
    `The migration ${name} failed and left the database as it was: ${messageOf(cause)}. ` +
      'The version of Countersign that ran before still works with it.',
    { cause },
  );
}
