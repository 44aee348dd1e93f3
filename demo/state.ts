import { isDeepStrictEqual } from 'node:util';

/** The result of one case of the demo, as GitHub's API and the command line show it. */
export interface State {
  merged: boolean;
  /** For each head of the case, oldest first: the conclusions of its runs' reports, oldest first. */
  check_runs: (string | null)[][];
  /** For each head of the case, oldest first: the conclusion of its gate check, which `main` requires. */
  gates: (string | null)[];
  /** The lines of the app's annotations, as `file:line`, in order. */
  annotations: string[];
  /**
   * The first lines of the app's comments, in order. Each comment is edited until its final state, and none
   * is repeated.
   */
  comments: string[];
  /**
   * The number of parents of each commit that the pull request added to the base branch: one for a squash.
   */
  merge_parents: number[];
  /** For each head of the case, oldest first: the final status of its run in the database. */
  runs: string[];
}

/** One sentence per difference; empty if everything is as expected. */
export function differences(expected: State, seen: State): string[] {
  const diagnostics: string[] = [];
  for (const [name, value] of Object.entries(seen)) {
    const wanted = expected[name as keyof State];
    if (isDeepStrictEqual(value, wanted)) continue;
    diagnostics.push(`${name}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`);
  }
  return diagnostics;
}
