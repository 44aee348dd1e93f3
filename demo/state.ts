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
   * The first line of one more comment, which may be there: the status comment, which the approval comment replaced. It comes
   * only if nobody was asked soon enough.
   */
  former?: string;
}

/** One sentence per difference; empty if everything is as expected. */
export function differences({ former, ...expected }: ExpectedState, seen: State): string[] {
  const diagnostics: string[] = [];
  const isOneMore = former !== undefined && seen.comments.length === expected.comments.length + 1;
  const at = isOneMore ? seen.comments.indexOf(former) : -1;
  const withoutFormer = { ...seen, comments: seen.comments.filter((_, index) => index !== at) };
  for (const [name, value] of Object.entries(withoutFormer)) {
    const wanted = expected[name as keyof State];
    if (isDeepStrictEqual(value, wanted)) continue;
    diagnostics.push(`${name}: ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`);
  }
  return diagnostics;
}
