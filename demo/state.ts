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

/** What must be true at the end, on a machine of any speed. */
export interface ExpectedState extends State {
  /**
   * The first line of the status comment, if there is one: it comes only if the approval comment did not say
   * everything soon enough.
   */
  status?: string;
}

/** One sentence per difference; empty if everything is as expected. */
export function differences({ status, ...expected }: ExpectedState, seen: State): string[] {
  const diagnostics: string[] = [];
  const at = status === undefined ? -1 : seen.comments.indexOf(status);
  const withoutStatus = { ...seen, comments: seen.comments.filter((_, index) => index !== at) };
  for (const [name, value] of Object.entries(withoutStatus)) {
    const wanted = expected[name as keyof State];
    if (isDeepStrictEqual(value, wanted)) continue;
    diagnostics.push(`${name}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`);
  }
  return diagnostics;
}
