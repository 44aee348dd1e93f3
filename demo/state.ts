import { isDeepStrictEqual } from 'node:util';

/** What one case of the demo comes to, as a person with a client of GitHub's API and the command line finds it. */
export interface State {
  merged: boolean;
  /** Of every head of the case, oldest first: how each report of a run ended, oldest first. */
  check_runs: (string | null)[][];
  /** Of every head of the case, oldest first: how its gate check stands, which `main` requires. */
  gates: (string | null)[];
  /** Where the app's annotations are, as `file:line`, in order. */
  annotations: string[];
  /** First lines of the app's comments, in order: each is edited into its last state, and none is there twice. */
  comments: string[];
  /** How many parents each commit has that the pull request left on the base branch: one for a squash. */
  merge_parents: number[];
  /** Of every head of the case, oldest first: how its run ended, in the database. */
  runs: string[];
}

/** Sentences about what is otherwise than expected; none when all of it is as expected. */
export function differences(expected: State, seen: State): string[] {
  const diagnostics: string[] = [];
  for (const [name, value] of Object.entries(seen)) {
    const wanted = expected[name as keyof State];
    if (isDeepStrictEqual(value, wanted)) continue;
    diagnostics.push(`${name}: ${JSON.stringify(value)} in the place of ${JSON.stringify(wanted)}`);
  }
  return diagnostics;
}
