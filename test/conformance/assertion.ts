import type { Scratch } from './scratch.ts';
import type { Target } from './target.ts';

/**
 * One thing that this app relies on, checked on a GitHub through its API only. `docs/github-assumptions.md` names it by its
 * sentence.
 */
export interface Assertion {
  readonly claim: string;
  /** @throws Unavailable for what this GitHub, or this token, does not allow. */
  check(world: World): Promise<void>;
}

export interface World extends Target {
  readonly scratch: Scratch;
}
