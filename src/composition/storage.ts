import type { Place } from '../adapters/postgres/place.ts';
import type { Fence } from '../adapters/postgres/serving.ts';
import { openSqlite, openThrowAwaySqlite } from '../adapters/sqlite/open.ts';
import { type Clock, systemClock, systemTimers, type Timers } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import { type Log, silentLog } from '../core/log.ts';
import { neverShow } from '../core/redact/redact.ts';
import { migrationWaits } from '../messages/cli/process.ts';
import type { Storage } from '../ports/storage.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';

export const THROW_AWAY = 'sqlite::memory:';

/**
 * The fences with which this thread serves databases of PostgreSQL, by address. Every storage that the thread opens carries its
 * fence, so that none of them can forget it.
 */
export const fences = new Map<string, Fence>();

export function isPostgres(databaseUrl: string): boolean {
  return /^postgres(ql)?:/.test(databaseUrl);
}

/** Keeps the password out of everything that people read. */
export async function postgresPlace(databaseUrl: string): Promise<Place> {
  const { placeOf } = await import('../adapters/postgres/place.ts');
  const place = placeOf(databaseUrl);
  if (place.password !== undefined) neverShow('password of the database', place.password);
  return place;
}

interface StorageOptions {
  clock?: Clock;
  timers?: Timers;
  log?: Log;
  /** Another thread of this process has opened it before. On PostgreSQL, the next version may have migrated it since. */
  isOpenHere?: boolean;
}

/**
 * Opens and migrates the database that `DATABASE_URL` names: `sqlite:path`, `sqlite::memory:` for one that
 * exists until `close`, or `postgres://…`.
 * @throws CountersignError `storage.bad_url` for any other URL, or an error that says why the database cannot
 * be opened
 */
export async function openStorage(
  databaseUrl: string,
  { clock = systemClock, timers = systemTimers, log = silentLog, isOpenHere = false }: StorageOptions = {},
): Promise<Storage> {
  if (isPostgres(databaseUrl)) {
    const { openPostgres } = await import('../adapters/postgres/open.ts');
    const place = await postgresPlace(databaseUrl);
    const onBlocked = (by: string) => log.warn({}, migrationWaits(by));
    return openPostgres(place, {
      clock,
      timers,
      onBlocked,
      fence: () => fences.get(databaseUrl),
      isOpenHere,
    });
  }
  if (databaseUrl === THROW_AWAY) {
    return openThrowAwaySqlite(await temporaryFolder('database'), { clock, timers });
  }
  return openSqlite(sqlitePath(databaseUrl), { clock, timers });
}

/**
 * The file beside the database in which deliveries are recorded first; `undefined` for a database that is thrown away, and for
 * PostgreSQL, which records what the next process must find on another machine, too.
 */
export function inboxOf(databaseUrl: string): string | undefined {
  return databaseUrl === THROW_AWAY || isPostgres(databaseUrl)
    ? undefined
    : `${sqlitePath(databaseUrl)}-inbox`;
}

export function sqlitePath(databaseUrl: string): string {
  const path = localPath(databaseUrl, 'sqlite:');
  if (path !== undefined) return path;
  throw new CountersignError(
    'storage.bad_url',
    'DATABASE_URL must be sqlite:path, such as sqlite:data/countersign.db or sqlite:/var/lib/countersign.db, ' +
      'postgres://USER:PASSWORD@HOST/DATABASE, or sqlite::memory: for a database that is thrown away.',
  );
}

/** The path after the scheme. `scheme:///path` has one too; `scheme://x` names a host and has none. */
export function localPath(url: string, scheme: string): string | undefined {
  if (!url.startsWith(scheme)) return undefined;
  const path = url.slice(scheme.length).replace(/^\/\/(?=\/)/, '');
  return path === '' || path.startsWith('//') || path.startsWith(':') || path.includes('\0')
    ? undefined
    : path;
}
