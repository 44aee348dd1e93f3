import { type Chain, merges } from './chain.ts';
import type { HeldChain } from './stored.ts';
import {
  compositesOf,
  followsPullRequest,
  isAboutPullRequests,
  sourcesOfChain,
  type TriggerSource,
  triggersOf,
} from './trigger-schema.ts';

/**
 * What is found in a list is found once. A configuration keeps its list of chains between events, and an operator can store
 * thousands, so an event must not go through all of them to find the few that wait for it.
 */
function oncePerList<Item, Found>(find: (list: readonly Item[]) => Found): (list: readonly Item[]) => Found {
  const known = new WeakMap<readonly Item[], { found: Found }>();
  return (list) => {
    const before = known.get(list);
    if (before) return before.found;
    const found = find(list);
    known.set(list, { found });
    return found;
  };
}

const bySource = oncePerList((chains: readonly Chain[]) => {
  const found = new Map<TriggerSource, Chain[]>();
  for (const chain of chains) {
    for (const source of new Set(sourcesOfChain(chain))) {
      const waiting = found.get(source);
      if (waiting) waiting.push(chain);
      else found.set(source, [chain]);
    }
  }
  return found;
});

const byName = oncePerList((chains: readonly Chain[]) => new Map(chains.map((chain) => [chain.name, chain])));

const heldByName = oncePerList(
  (held: readonly HeldChain[]) => new Map(held.map((hold) => [hold.name, hold])),
);

/** The chains that wait for such events, alone or as a part of a composite. */
export function chainsWaitingFor(chains: readonly Chain[], source: TriggerSource): readonly Chain[] {
  return bySource(chains).get(source) ?? [];
}

/** What the chains wait for. */
export const sourcesOfChains = oncePerList(
  (chains: readonly Chain[]): ReadonlySet<TriggerSource> => new Set(bySource(chains).keys()),
);

export function chainNamed(chains: readonly Chain[], name: string): Chain | undefined {
  return byName(chains).get(name);
}

export function holdOf(held: readonly HeldChain[] | undefined, name: string): HeldChain | undefined {
  return held && heldByName(held).get(name);
}

/** The chains whose runs follow pull requests. */
export const chainsForHeads = oncePerList((chains: readonly Chain[]): readonly Chain[] =>
  chains.filter((chain) => triggersOf(chain).some(followsPullRequest)),
);

/** The chains with a composite that counts the heads of pull requests. */
export const chainsCountingHeads = oncePerList((chains: readonly Chain[]): readonly Chain[] =>
  chains.filter((chain) =>
    compositesOf(chain).some(({ composite: { parts } }) =>
      parts.some(({ event }) => event === 'pr.opened' || event === 'pr.updated'),
    ),
  ),
);

/** The chains of which checks can be parts for a pull request. */
export const chainsWithPullRequestComposites = oncePerList((chains: readonly Chain[]): readonly Chain[] =>
  chains.filter(hasPullRequestComposite),
);

export function hasPullRequestComposite(chain: Chain): boolean {
  return compositesOf(chain).some(({ composite }) => isAboutPullRequests(composite));
}

/** Whether some chain merges. */
export const anyMerges = oncePerList((chains: readonly Chain[]) => chains.some(merges));
