import type { Json } from '../core/canonical.ts';

/** The kinds of rows that retention deletes, each in its own batches. */
export const PRUNED_KINDS = [
  'traces',
  'archives',
  'artifacts',
  'archived_bodies',
  'bodies',
  'runs',
  'calls',
  'replies',
  'pull_requests',
  'archived_deliveries',
  'deliveries',
  'firings',
  'fired_once',
] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** A row to delete: its id, or another key. */
export type PrunedId = string | number;

/** A pull request with what is needed to ask GitHub about it. */
export interface PullRequestPlace {
  repositoryId: number;
  number: number;
  /** `owner/name`. */
  repository: string;
  installationId: number;
}

/** `gone`: its repository is out of reach. */
export type PullRequestState = 'open' | 'closed' | 'merged' | 'gone';

/**
 * Retention's access to the database. Old rows are searched outside of any transaction. Deletion checks each
 * row again inside its transaction, so that changes in between keep what they need. docs/storage.md has the
 * table of what is kept, and why.
 */
export interface Pruning {
  /** Candidate rows, oldest first, after the position of an earlier page. `next` is `null` at the end. */
  page(
    kind: PrunedKind,
    page: { after: Json; before: Date; limit: number },
  ): Promise<{ ids: PrunedId[]; next: Json }>;
  /**
   * Deletes those of the rows that nothing needs and that ended before the time, with their dependent rows.
   * Returns how many of `ids` were deleted. Their blobs are recorded for deletion.
   */
  remove(kind: PrunedKind, ids: readonly PrunedId[], before: Date): Promise<number>;
  /** The pull requests of these runs whose state is unknown, or was last read before the time. */
  unknownPullRequests(runIds: readonly PrunedId[], before: Date): Promise<PullRequestPlace[]>;
  /** Blobs whose rows were deleted, but which still exist. */
  blobsToDelete(limit: number): Promise<string[]>;
  forgetBlobs(paths: readonly string[]): Promise<void>;
}

/** The identity of a firing that may happen only once. */
export interface FiredOnce {
  repositoryId: number;
  headSha: string;
  chain: string;
  /** Equal for equal subjects. */
  subject: string;
}
