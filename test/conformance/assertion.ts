import type { Scratch } from './scratch.ts';
import type { Target } from './target.ts';

/** One thing this app relies on, asked of a GitHub through its API alone. `docs/github-assumptions.md` names it by its sentence. */
export interface Assertion {
  readonly says: string;
  /** @throws Unavailable for what this GitHub, or this token, cannot be asked. */
  check(world: World): Promise<void>;
}

export interface World extends Target {
  readonly scratch: Scratch;
}
