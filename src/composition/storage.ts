import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from '../adapters/postgres/place.ts';
import { openSqlite, openThrowAwaySqlite } from '../adapters/sqlite/open.ts';
import { claimToServe, type Holder } from '../adapters/sqlite/serving.ts';
import { type Clock, systemClock, systemTimers, type Timers } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { neverShow } from '../core/redact/redact.ts';
import { SERVED_BY_ANOTHER_NOW, servedByAnother, waitingFor } from '../messages/cli/process.ts';
import type { Storage } from '../ports/storage.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';

const THROW_AWAY = 'sqlite::memory:';

/**
 * The fences with which this thread serves databases of PostgreSQL, by address. Every storage that the thread opens carries its
 * fence, so that none of them can forget it.
 */
const fences = new Map<string, number>();

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

/** How often a process checks whether the previous one has released the database, in milliseconds. */
const RECHECK_MS = 100;

/**
 * Opens and migrates the database that `DATABASE_URL` names: `sqlite:path`, `sqlite::memory:` for one that
 * exists until `close`, or `postgres://…`.
 * @throws CountersignError `storage.bad_url` for any other URL, or an error that says why the database cannot
 * be opened
 */
export async function openStorage(
  databaseUrl: string,
  { clock = systemClock, timers = systemTimers }: { clock?: Clock; timers?: Timers } = {},
): Promise<Storage> {
  if (isPostgres(databaseUrl)) {
    const { openPostgres } = await import('../adapters/postgres/open.ts');
    const place = await postgresPlace(databaseUrl);
    return openPostgres(place, { clock, timers, fence: fences.get(databaseUrl) });
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

/** `holder` is left out if that process could not say who it is. */
export type Claim = { ok: true; release(): void | Promise<void> } | { ok: false; holder: Holder | undefined };

/**
 * Makes this process the only one that serves the database, until it releases the claim or ends. If another
 * process serves it, calls `onWait` once and waits for at most `timeoutMs`.
 * @param options `onLost`: called if another process has taken over because this one was cut off from the database
 * @throws CountersignError for an invalid URL, or if the claim cannot be checked
 */
export async function claimDatabase(
  databaseUrl: string,
  options: {
    clock: Clock;
    timeoutMs: number;
    onWait(holder: Holder | undefined): void;
    onLost?(): void;
  },
): Promise<Claim> {
  if (databaseUrl === THROW_AWAY) return { ok: true, release() {} };
  const claimOnce = claiming(databaseUrl, options);
  const end = performance.now() + options.timeoutMs;
  for (let waits = false; ; waits = true) {
    const claim = await claimOnce();
    if (claim.ok || performance.now() >= end) return claim;
    if (!waits) options.onWait(claim.holder);
    await sleep(RECHECK_MS);
  }
}

function claiming(
  databaseUrl: string,
  { clock, onLost = () => {} }: { clock: Clock; onLost?(): void },
): () => Promise<Claim> {
  if (!isPostgres(databaseUrl)) {
    const path = sqlitePath(databaseUrl);
    return async () => claimToServe(path, clock.now());
  }
  return async () => {
    const place = await postgresPlace(databaseUrl);
    const postgres = await import('../adapters/postgres/serving.ts');
    const claim = await postgres.claimToServe(place, { now: clock.now(), onLost });
    if (!claim.ok) return claim;
    fences.set(databaseUrl, claim.fence);
    return {
      ok: true,
      release() {
        fences.delete(databaseUrl);
        return claim.release();
      },
    };
  };
}

/**
 * How long a process waits for the previous one to release the database, in milliseconds. Longer than that
 * one's shutdown takes, so that a restart with an overlap succeeds.
 */
export const PREDECESSOR_MS = 15_000;

/**
 * Like `claimDatabase`, for a process that cannot start without the claim.
 * @returns releases the claim
 * @throws CountersignError `storage.served_by_another`
 */
export async function claimToServeAlone(
  databaseUrl: string,
  { log, timeoutMs, onLost }: { log: Log; timeoutMs: number; onLost(): void },
): Promise<() => void | Promise<void>> {
  const claim = await claimDatabase(databaseUrl, {
    clock: systemClock,
    timeoutMs,
    onWait: (holder) => log.warn({ holder }, waitingFor(holder, timeoutMs)),
    onLost() {
      log.error({}, SERVED_BY_ANOTHER_NOW);
      onLost();
    },
  });
  if (claim.ok) return claim.release;
  throw new CountersignError('storage.served_by_another', servedByAnother(claim.holder));
}

function sqlitePath(databaseUrl: string): string {
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
