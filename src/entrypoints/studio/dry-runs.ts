import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type DryRunView, KEPT_MINUTES } from '../../messages/studio/dry-run.ts';
import type { DryRunAsked, DryRunEnd, DryRunPlayer, ShownStep } from '../../ports/dry-runs.ts';
import { rateLimit } from './rate-limit.ts';

/** Each is a process with the memory of a review. */
const MOST_AT_ONCE = 2;
/** Of one person. Each costs about 15 of the 5,000 requests that GitHub lets a person make in an hour. */
const LIMIT = { most: 10, perMs: 600_000 };
const KEPT_MS = KEPT_MINUTES * 60_000;
/** Results in memory, of all people together: at most as many, and as many characters. */
const MOST_KEPT = 50;
const MOST_CHARACTERS = 8_000_000;

/** A dry run of one person. */
export interface DryRun extends DryRunView {
  personId: number;
  repositoryId: number;
  /** Differs whenever what is shown may differ. */
  stamp: string;
}

interface Kept extends DryRun {
  abort: AbortController;
  over: Promise<void>;
  size: number;
  endedAt: Date | null;
}

export type NotBegun = { kind: 'own'; id: string } | { kind: 'busy' } | { kind: 'too_often' };

/** The dry runs that people asked for, in memory only: a restart forgets them. */
export interface DryRuns {
  /** @param token of the person, which only the player sees */
  begin(
    asked: DryRunAsked,
    by: { personId: number; repositoryId: number; token: string },
  ): { kind: 'begun'; id: string } | NotBegun;
  /** Whether the person could begin one now. Counts nothing. */
  inTheWay(personId: number): NotBegun | undefined;
  /** `undefined` for anybody but the person who asked. */
  of(personId: number, id: string): DryRun | undefined;
  /** Does nothing to one of somebody else. */
  stop(personId: number, id: string): void;
  /** Called when one changed. */
  onChange(listener: () => void): void;
  /** Ends all of them. */
  close(): Promise<void>;
}

export function createDryRuns({
  player,
  clock,
  log,
}: {
  player: DryRunPlayer;
  clock: Clock;
  log: Log;
}): DryRuns {
  /** In the order of their beginning. */
  const kept = new Map<string, Kept>();
  const begun = rateLimit(clock, LIMIT);
  let changed = () => {};
  let isClosed = false;

  const underWay = () => [...kept.values()].filter(({ end }) => end === null);

  function inTheWay(personId: number): NotBegun | undefined {
    const running = underWay();
    const own = running.find((one) => one.personId === personId);
    if (own) return { kind: 'own', id: own.id };
    return running.length >= MOST_AT_ONCE || isClosed ? { kind: 'busy' } : undefined;
  }

  function forgetOld(): void {
    const now = clock.now().getTime();
    const ended = [...kept.values()].filter(({ endedAt }) => endedAt !== null);
    let [count, characters] = [ended.length, ended.reduce((sum, { size }) => sum + size, 0)];
    for (const { id, endedAt, size } of ended) {
      const isOld = now - (endedAt?.getTime() ?? now) >= KEPT_MS;
      if (!isOld && count <= MOST_KEPT && characters <= MOST_CHARACTERS) continue;
      kept.delete(id);
      count -= 1;
      characters -= size;
    }
  }

  function change(one: Kept, to: Partial<Kept>): void {
    Object.assign(one, to, { stamp: String(Number(one.stamp) + 1) });
    changed();
  }

  async function play(one: Kept, asked: DryRunAsked, token: string): Promise<void> {
    let end: DryRunEnd;
    try {
      const { signal } = one.abort;
      const onSteps = (steps: readonly ShownStep[]) => change(one, { steps });
      end = await player.play(asked, token, { signal, onSteps });
    } catch (err) {
      log.error({ err, chain: asked.chain }, 'a dry run in Studio failed');
      end = { kind: 'failed', because: 'broken' };
    }
    // The result has the steps, too.
    change(one, { end, steps: [], endedAt: clock.now(), size: JSON.stringify(end).length });
    forgetOld();
  }

  return {
    inTheWay,

    begin(asked, { personId, repositoryId, token }) {
      forgetOld();
      const wait = inTheWay(personId);
      if (wait) return wait;
      if (!begun.allows(String(personId))) return { kind: 'too_often' };
      const { owner, name } = asked.repo;
      const one: Kept = {
        id: randomBytes(12).toString('base64url'),
        personId,
        repositoryId,
        chain: asked.chain,
        isPasted: asked.text !== undefined,
        repository: `${owner}/${name}`,
        pullRequest: asked.pullRequest,
        steps: [],
        end: null,
        endedAt: null,
        size: 0,
        stamp: '0',
        abort: new AbortController(),
        over: Promise.resolve(),
      };
      kept.set(one.id, one);
      one.over = play(one, asked, token);
      return { kind: 'begun', id: one.id };
    },

    of(personId, id) {
      forgetOld();
      const found = kept.get(id);
      return found?.personId === personId ? found : undefined;
    },

    stop(personId, id) {
      const found = kept.get(id);
      if (found?.personId === personId) found.abort.abort();
    },

    onChange(listener) {
      changed = listener;
    },

    async close() {
      isClosed = true;
      const running = underWay();
      for (const { abort } of running) abort.abort();
      await Promise.all(running.map(({ over }) => over));
    },
  };
}
