import { migratedPostgres, openExistingPostgres } from '../adapters/postgres/open.ts';
import { shownDatabaseUrl } from '../config/addresses.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import type { Migrated } from '../entrypoints/cli/context.ts';
import { noDatabase, olderDatabase } from '../messages/cli/cli.ts';
import type { Storage } from '../ports/storage.ts';
import { postgresPlace } from './storage.ts';

/** Opens a database of PostgreSQL for one piece of work. For reading, it refuses to write, as SQLite does. */
export async function withPostgres<T>(
  url: string,
  purpose: 'read' | 'write',
  work: (storage: Storage) => Promise<T>,
  clock: Clock,
): Promise<T> {
  const opened = await openExistingPostgres(await postgresPlace(url), {
    clock,
    isReadOnly: purpose === 'read',
  });
  const { storage, applied, pending } = opened;
  try {
    if (applied.length === 0)
      throw new CountersignError('cli.no_database', noDatabase(shownDatabaseUrl(url)));
    if (pending.length > 0)
      throw new CountersignError('cli.older_database', olderDatabase(shownDatabaseUrl(url), pending));
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** @throws CountersignError if the database is newer than this program, or a migration fails */
export async function migratePostgresDatabase(
  url: string,
  onBlocked: (by: string) => void,
): Promise<Migrated> {
  const place = await postgresPlace(url);
  const { before, after } = await migratedPostgres(place, { clock: systemClock, onBlocked });
  const known = new Set(before.map(({ version }) => version));
  return {
    database: shownDatabaseUrl(url),
    from: before.at(-1)?.version ?? 0,
    to: after.at(-1)?.version ?? 0,
    applied: after.filter(({ version }) => !known.has(version)).map(({ name }) => name),
  };
}
