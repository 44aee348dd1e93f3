import { randomBytes } from 'node:crypto';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { LIMIT_MINUTES } from '../../messages/studio/chain-form.ts';
import { type DryRunView, KEPT_MINUTES } from '../../messages/studio/dry-run.ts';
import type { DryRunAsked, DryRunEnd, DryRunPlayer, ShownStep, StoredDryRun } from '../../ports/dry-runs.ts';
import type { Storage, Tx } from '../../ports/storage.ts';
import { rateLimit } from './rate-limit.ts';

/** In this process. Each is a process with the memory of a review. */
const MOST_AT_ONCE = 2;
/** Of one person, in this process. Each costs about 15 of the 5,000 requests that GitHub lets a person make in an hour. */
const LIMIT = { most: 10, perMs: 600_000 };
const KEPT_MS = KEPT_MINUTES * 60_000;
/** When a dry run has certainly ended, or its process is gone, which has said nothing. In milliseconds. */
const LOST_MS = (LIMIT_MINUTES + 1) * 60_000;
/** Results in the database, of all people together: at most as many, and as many characters. */
const MOST_KEPT = 50;
const MOST_CHARACTERS = 8_000_000;
/** How often a process asks whether its dry runs should stop, in milliseconds: people can ask any process for that. */
const ASKED_MS = 1_000;

/** A dry run of one person. */
export interface DryRun extends DryRunView {
  personId: number;
  repositoryId: number;
  /** Differs whenever what is shown may differ. */
  stamp: string;
}

export type NotBegun = { kind: 'own'; id: string } | { kind: 'busy' } | { kind: 'too_often' };

/**
 * The dry runs that people asked for. They are in the database, so that each process that has Studio shows them and can stop them,
 * whichever of them a request reaches.
 */
export interface DryRuns {
  /** @param token of the person, which only the player sees */
  begin(
    asked: DryRunAsked,
    by: { personId: number; repositoryId: number; token: string },
  ): Promise<{ kind: 'begun'; id: string } | NotBegun>;
  /** Whether the person could begin one now. Counts nothing. */
  inTheWay(personId: number): Promise<NotBegun | undefined>;
  /** `undefined` for anybody but the person who asked. */
  of(personId: number, id: string): Promise<DryRun | undefined>;
  /** Does nothing to one of somebody else. */
  stop(personId: number, id: string): Promise<void>;
  /** Ends all that this process plays. */
  close(): Promise<void>;
}

interface Options {
  player: DryRunPlayer;
  storage: Pick<Storage, 'read' | 'transaction'>;
  clock: Clock;
  timers?: Pick<Timers, 'after'>;
  log: Log;
}

export function createDryRuns({ player, storage, clock, timers = systemTimers, log }: Options): DryRuns {
  /** Those that this process plays, by their ids. */
  const playing = new Map<string, { abort: AbortController; over: Promise<void> }>();
  /** Places of those that are about to begin. */
  let reserved = 0;
  const begun = rateLimit(clock, LIMIT);
  let isClosed = false;
  /** Whether it is asked soon which should stop. */
  let isAsking = false;

  const before = (ms: number) => new Date(clock.now().getTime() - ms);
  const isFull = () => isClosed || playing.size + reserved >= MOST_AT_ONCE;
  const forgetOld = async ({ dryRuns }: Tx) => {
    await dryRuns.removeBefore(before(LOST_MS + KEPT_MS));
    await dryRuns.removeBeyond({ most: MOST_KEPT, characters: MOST_CHARACTERS });
  };

  async function inTheWay(personId: number, { dryRuns }: Pick<Tx, 'dryRuns'> = storage.read) {
    const own = await dryRuns.underWay(personId, before(LOST_MS));
    return own === undefined ? undefined : ({ kind: 'own', id: own } as const);
  }

  /** @returns why it is not stored */
  function store(row: Parameters<Tx['dryRuns']['insert']>[0]): Promise<NotBegun | undefined> {
    return storage.transaction(async (tx) => {
      const own = await inTheWay(row.personId, tx);
      if (own) return own;
      if (!begun.allows(String(row.personId))) return { kind: 'too_often' };
      await forgetOld(tx);
      await tx.dryRuns.insert(row);
      return undefined;
    });
  }

  async function play(id: string, asked: DryRunAsked, token: string, signal: AbortSignal): Promise<void> {
    const shown = newestOnly<readonly ShownStep[]>(
      (steps) => storage.transaction((tx) => tx.dryRuns.changeSteps(id, steps)),
      (err) => log.warn({ err, chain: asked.chain }, 'how far a dry run in Studio is could not be recorded'),
    );
    let end: DryRunEnd;
    try {
      end = await player.play(asked, token, { signal, onSteps: shown.put });
    } catch (err) {
      log.error({ err, chain: asked.chain }, 'a dry run in Studio failed');
      end = { kind: 'failed', because: 'broken' };
    }
    await shown.settled();
    try {
      await storage.transaction(async (tx) => {
        await tx.dryRuns.end(id, end, clock.now());
        await forgetOld(tx);
      });
    } catch (err) {
      log.error({ err, chain: asked.chain }, 'the result of a dry run in Studio could not be recorded');
    }
    playing.delete(id);
  }

  /** People can ask any process to stop one. */
  async function stopAsked(): Promise<void> {
    try {
      for (const id of await storage.read.dryRuns.askedToStop([...playing.keys()]))
        playing.get(id)?.abort.abort();
    } catch (err) {
      log.warn({ err }, 'it could not be read whether a dry run in Studio should stop');
    }
    isAsking = false;
    askLater();
  }

  function askLater(): void {
    if (isAsking || playing.size === 0) return;
    isAsking = true;
    timers.after(ASKED_MS, () => void stopAsked());
  }

  async function own(personId: number, id: string): Promise<StoredDryRun | undefined> {
    const found = await storage.read.dryRuns.get(id);
    return found?.personId === personId ? found : undefined;
  }

  return {
    async inTheWay(personId) {
      return (await inTheWay(personId)) ?? (isFull() ? { kind: 'busy' } : undefined);
    },

    async begin(asked, { personId, repositoryId, token }) {
      if (isFull()) return (await inTheWay(personId)) ?? { kind: 'busy' };
      const id = randomBytes(12).toString('base64url');
      const { owner, name } = asked.repo;
      reserved += 1;
      try {
        const refused = await store({
          id,
          personId,
          repositoryId,
          chain: asked.chain,
          isPasted: asked.text !== undefined,
          repository: `${owner}/${name}`,
          pullRequest: asked.pullRequest,
          begunAt: clock.now(),
        });
        if (refused) return refused;
        const abort = new AbortController();
        // This process was stopped meanwhile.
        if (isClosed) abort.abort();
        const one = { abort, over: Promise.resolve() };
        playing.set(id, one);
        one.over = play(id, asked, token, abort.signal);
      } finally {
        reserved -= 1;
      }
      askLater();
      return { kind: 'begun', id };
    },

    async of(personId, id) {
      const found = await own(personId, id);
      if (!found || (found.endedAt && found.endedAt <= before(KEPT_MS))) return undefined;
      const isLost = found.end === null && found.begunAt <= before(LOST_MS);
      return isLost
        ? { ...found, end: { kind: 'failed', because: 'lost' }, stamp: 'lost' }
        : { ...found, stamp: String(found.changes) };
    },

    async stop(personId, id) {
      if (!(await own(personId, id))) return;
      const here = playing.get(id);
      if (here) here.abort.abort();
      else await storage.transaction((tx) => tx.dryRuns.askToStop(id));
    },

    async close() {
      isClosed = true;
      const running = [...playing.values()];
      for (const { abort } of running) abort.abort();
      await Promise.all(running.map(({ over }) => over));
    },
  };
}

/** Writes one value at a time, and leaves out those that are old before they could be written. */
function newestOnly<T>(write: (value: T) => Promise<void>, onFailed: (error: unknown) => void) {
  let next: { value: T } | undefined;
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (next) {
      const { value } = next;
      next = undefined;
      await write(value).catch(onFailed);
    }
    writing = undefined;
  }

  return {
    put(value: T): void {
      next = { value };
      writing ??= writeAll();
    },
    /** Resolves once the newest is written. */
    async settled(): Promise<void> {
      await writing;
    },
  };
}
