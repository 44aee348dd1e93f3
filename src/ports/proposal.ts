import type { Repo } from './github.ts';

/** A pull request that a person opens with their own token. It is no effect of the app's: no outbox repeats it. */
export interface Proposal {
  repo: Repo;
  base: string;
  /** A new branch. */
  branch: string;
  /** New files. */
  files: readonly { path: string; text: string }[];
  title: string;
  body: string;
}

/** What became of a proposal. */
export type Proposed =
  | { kind: 'opened'; number: number; url: string }
  /** The branch exists already. Nothing was written. */
  | { kind: 'branch_exists' };
