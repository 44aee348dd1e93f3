import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../domain/chain/chain.ts';
import { sourcesOfChains } from '../../domain/chain/chain-list.ts';
import type { TriggerSource } from '../../domain/chain/trigger-schema.ts';

/** How long a branch's answer is used, in milliseconds. A push that changes chains ends it at once, if it is not missed. */
const KNOWN_MS = 3_600_000;

/**
 * The events that the chains of a branch wait for, as last read. Checks, labels and reviews are frequent, and most
 * repositories have no chain for them, so most of these events should cost no request.
 */
export interface Listening {
  /** Whether a chain of the branch may wait for the event. Unknown branches may. */
  mayWait(place: Place, source: TriggerSource): boolean;
  learn(place: Place, chains: readonly Chain[]): void;
  /** The files of a repository changed, or without an argument those of any. */
  forget(repositoryId?: number): void;
}

interface Place {
  repositoryId: number;
  branch: string;
}

/** The place of what the composites of a pull request wait for. No branch can have this name. */
export function placeOfPullRequest(repositoryId: number, number: number): Place {
  return { repositoryId, branch: `:pull/${number}` };
}

/** The place of a commit's configuration, which governs what happens to a run that began with it. */
export function placeOfCommit(repositoryId: number, { branch, sha }: { branch: string; sha: string }): Place {
  return { repositoryId, branch: `:commit/${sha}/${branch}` };
}

/** How many places of a repository are remembered. */
const MAX_PLACES = 1_000;

export function createListening(clock: Clock): Listening {
  const known = new Map<number, Map<string, { sources: ReadonlySet<TriggerSource>; until: number }>>();
  return {
    mayWait({ repositoryId, branch }, source) {
      const found = known.get(repositoryId)?.get(branch);
      return !found || found.until <= clock.now().getTime() || found.sources.has(source);
    },
    learn({ repositoryId, branch }, chains) {
      const ofRepository = known.get(repositoryId) ?? new Map();
      ofRepository.delete(branch);
      ofRepository.set(branch, {
        sources: sourcesOfChains(chains),
        until: clock.now().getTime() + KNOWN_MS,
      });
      const [oldest] = ofRepository.keys();
      if (oldest !== undefined && ofRepository.size > MAX_PLACES) ofRepository.delete(oldest);
      known.set(repositoryId, ofRepository);
    },
    forget(repositoryId) {
      if (repositoryId === undefined) known.clear();
      else known.delete(repositoryId);
    },
  };
}
