import { setTimeout as sleep } from 'node:timers/promises';
import type { Duties } from '../adapters/postgres/sharing.ts';
import { claimToServe, type Holder } from '../adapters/sqlite/serving.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { CountersignError, messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import {
  notDivided,
  SERVED_BY_ANOTHER_NOW,
  servedByAnother,
  serverName,
  standingBy,
  TURN_UNKNOWN,
  WORKS_NOW,
  waitingFor,
  worksForFewer,
  worksForMore,
} from '../messages/cli/process.ts';
import type { WorkShare } from '../ports/work-share.ts';
import { fences, isPostgres, postgresPlace, sqlitePath, THROW_AWAY } from './storage.ts';

/** How often a process checks whether the previous one has released the database, in milliseconds. */
const RECHECK_MS = 100;
/** How often a process that stands by checks that, in milliseconds: as long as work waits after a graceful stop. */
const STANDBY_MS = 250;

/** `holder` is left out if that process could not say who it is. */
export type Claim = { ok: true; release(): void | Promise<void> } | { ok: false; holder: Holder | undefined };

interface Claiming {
  /** `onLost` is called if another process has taken over because this one was cut off from the database. */
  onLost?: () => void;
  clock: Clock;
  /** Works beside other processes that do, too. */
  beside?: {
    does: Duties;
    onDivided(change: { gained: readonly number[]; left: readonly number[] }): void;
    onNotDivided(error: unknown): void;
  };
  /** For the command that copies: a copy that is not finished is no reason to refuse the claim. */
  goesOnWithCopy?: boolean;
}

/** The place of the process that serves a database, or of those that do so side by side. */
interface Place {
  share?: WorkShare | undefined;
  claim(): Promise<Claim>;
  close(): Promise<void>;
}

/**
 * Makes this process the only one that serves the database, until it releases the claim or ends. If another
 * process serves it, calls `onWait` once and waits for at most `timeoutMs`.
 * @throws CountersignError for an invalid URL, or if the claim cannot be checked
 */
export async function claimDatabase(
  databaseUrl: string,
  {
    timeoutMs,
    onWait,
    ...claiming
  }: Claiming & { timeoutMs: number; onWait(holder: Holder | undefined): void },
): Promise<Claim> {
  const place = await placeOfServer(databaseUrl, claiming);
  const end = performance.now() + timeoutMs;
  try {
    for (let waits = false; ; waits = true) {
      const claim = await place.claim();
      if (claim.ok) return releasedWith(place, claim);
      if (performance.now() >= end) {
        await place.close();
        return claim;
      }
      if (!waits) onWait(claim.holder);
      await sleep(RECHECK_MS);
    }
  } catch (error) {
    await place.close();
    throw error;
  }
}

function releasedWith(place: Place, claim: Claim & { ok: true }): Claim & { ok: true } {
  return {
    ok: true,
    async release() {
      await claim.release();
      await place.close();
    },
  };
}

async function placeOfServer(
  databaseUrl: string,
  { clock, onLost = () => {}, beside, goesOnWithCopy = false }: Claiming,
): Promise<Place> {
  if (databaseUrl === THROW_AWAY)
    return { claim: async () => ({ ok: true, release() {} }), close: async () => {} };
  if (!isPostgres(databaseUrl)) {
    const path = sqlitePath(databaseUrl);
    return { claim: async () => claimToServe(path, clock.now()), close: async () => {} };
  }
  const { servingOf } = await import('../adapters/postgres/serving.ts');
  const serving = servingOf(await postgresPlace(databaseUrl), {
    clock,
    onLost,
    goesOnWithCopy,
    ...(beside && { beside }),
  });
  return {
    share: serving.share,
    async claim() {
      const claim = await serving.claim();
      if (!claim.ok) return claim;
      fences.set(databaseUrl, claim.fence);
      return {
        ok: true,
        release() {
          fences.delete(databaseUrl);
          return claim.release();
        },
      };
    },
    close: () => serving.close(),
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
    onLost: () => lost(log, onLost),
  });
  if (claim.ok) return claim.release;
  throw new CountersignError('storage.served_by_another', servedByAnother(claim.holder));
}

function lost(log: Log, onLost: () => void): void {
  log.error({}, SERVED_BY_ANOTHER_NOW);
  onLost();
}

/**
 * When a process works that shares its database with others: at once beside others of this version, and only after one that serves it
 * alone.
 */
export interface Turn {
  /** Resolves once this process may work. Stays pending if it is ended before. */
  comes: Promise<void>;
  /** Which part of the work is its own then; `undefined` if it never works. */
  share: WorkShare | undefined;
  /** Why this process does not work, for people; `undefined` once it does, and if it never should. */
  whyNot(): string | undefined;
  /** Lets another process take its turn, or stops waiting for it. */
  end(): Promise<void>;
}

/** The turn of a process that never works, but receives webhooks or shows pages. */
export const NO_TURN: Turn = {
  comes: new Promise(() => {}),
  share: undefined,
  whyNot: () => undefined,
  async end() {},
};

/**
 * Waits for the turn of this process, however long that takes, and through outages of the database.
 * @param onLost called if another process has taken over because this one was cut off
 */
export async function awaitTurn(
  databaseUrl: string,
  { does, log, onLost }: { does: Duties; log: Log; onLost(): void },
): Promise<Turn> {
  const place = await placeOfServer(databaseUrl, {
    clock: systemClock,
    onLost: () => lost(log, onLost),
    beside: {
      does,
      onDivided({ gained, left }) {
        if (gained.length > 0) log.info({ installations: gained }, worksForMore(gained));
        if (left.length > 0) log.info({ installations: left }, worksForFewer(left));
      },
      onNotDivided: (error) => log.warn({}, notDivided(messageOf(error))),
    },
  });
  const ending = new AbortController();
  const came = Promise.withResolvers<void>();
  let claim: (Claim & { ok: true }) | undefined;
  let reason: string | undefined = TURN_UNKNOWN;
  let said: string | undefined;

  /** Once for each reason, as the process asks several times a second. */
  function say(why: string, level: 'info' | 'warn', fields: object): void {
    reason = why;
    if (said !== why) log[level](fields, why);
    said = why;
  }

  async function wait(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        const found = await place.claim();
        if (found.ok) {
          claim = found;
          if (ending.signal.aborted) return;
          reason = undefined;
          log.info({}, WORKS_NOW);
          return came.resolve();
        }
        say(standingBy(serverName(found.holder)), 'info', { holder: found.holder });
      } catch (error) {
        say(TURN_UNKNOWN, 'warn', { err: messageOf(error) });
      }
      await sleep(STANDBY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  const waiting = wait();
  return {
    comes: came.promise,
    share: place.share,
    whyNot: () => reason,
    async end() {
      ending.abort();
      await waiting;
      await claim?.release();
      await place.close();
    },
  };
}
