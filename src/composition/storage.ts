import { setTimeout as sleep } from 'node:timers/promises';
import { openSqlite, openThrowAwaySqlite } from '../adapters/sqlite/open.ts';
import { type Claim, claimToServe, type Holder } from '../adapters/sqlite/serving.ts';
import { type Clock, systemClock, systemTimers, type Timers } from '../core/clock.ts';
import { CountersignError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { servedByAnother, waitingFor } from '../messages/cli/process.ts';
import type { Storage } from '../ports/storage.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';

const THROW_AWAY = 'sqlite::memory:';

/** How often a process checks whether the previous one has released the database, in milliseconds. */
const RECHECK_MS = 100;

/**
 * Opens and migrates the database that `DATABASE_URL` names: `sqlite:path`, or `sqlite::memory:` for one that
 * exists until `close`.
 * @throws CountersignError `storage.bad_url` for any other URL, or an error that says why the database cannot
 * be opened
 */
export async function openStorage(
  databaseUrl: string,
  { clock = systemClock, timers = systemTimers }: { clock?: Clock; timers?: Timers } = {},
): Promise<Storage> {
  if (/^postgres(ql)?:/.test(databaseUrl)) {
    throw new CountersignError(
      'storage.unsupported',
      'DATABASE_URL: PostgreSQL is not supported by this version of Countersign; use sqlite:path.',
    );
  }
  if (databaseUrl === THROW_AWAY) {
    return openThrowAwaySqlite(await temporaryFolder('database'), { clock, timers });
  }
  return openSqlite(sqlitePath(databaseUrl), { clock, timers });
}

/** The file beside the database in which deliveries are recorded first; `undefined` for one that is thrown away. */
export function inboxOf(databaseUrl: string): string | undefined {
  return databaseUrl === THROW_AWAY ? undefined : `${sqlitePath(databaseUrl)}-inbox`;
}

/**
 * Makes this process the only one that serves the database, until it releases the claim or ends. If another
 * process serves it, calls `onWait` once and waits for at most `timeoutMs`.
 * @throws CountersignError for an invalid URL, or if the claim cannot be checked
 */
export async function claimDatabase(
  databaseUrl: string,
  options: { clock: Clock; timeoutMs: number; onWait(holder: Holder | undefined): void },
): Promise<Claim> {
  if (databaseUrl === THROW_AWAY) return { ok: true, release() {} };
  const path = sqlitePath(databaseUrl);
  const end = performance.now() + options.timeoutMs;
  for (let waits = false; ; waits = true) {
    const claim = claimToServe(path, options.clock.now());
    if (claim.ok || performance.now() >= end) return claim;
    if (!waits) options.onWait(claim.holder);
    await sleep(RECHECK_MS);
  }
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
  { log, timeoutMs }: { log: Log; timeoutMs: number },
): Promise<() => void> {
  const claim = await claimDatabase(databaseUrl, {
    clock: systemClock,
    timeoutMs,
    onWait: (holder) => log.warn({ holder }, waitingFor(holder, timeoutMs)),
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
      'or sqlite::memory: for a database that is thrown away.',
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
