import type { Json } from '../core/canonical.ts';

/** What is removed by its age, each in batches of its own. */
export const PRUNED_KINDS = [
  'traces',
  'artifacts',
  'bodies',
  'runs',
  'calls',
  'replies',
  'pull_requests',
  'deliveries',
] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** A row that is to be removed: its id, or what stands for it. */
export type PrunedId = string | number;

/** A pull request, as far as it is needed to ask GitHub about it. */
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
 * What retention asks of the database. Looking for old rows reads outside of any transaction; removing them judges each again inside
 * of it, so that whatever came in between keeps what it needs. `docs/storage.md` has the table of what is kept, and why.
 */
export interface Pruning {
  /**
   * Rows old enough to be looked at, in the order in which they came, after a place that an earlier page gave. `next` is `null` when
   * there are no more as old as that.
   */
  page(
    kind: PrunedKind,
    page: { after: Json; before: Date; limit: number },
  ): Promise<{ ids: PrunedId[]; next: Json }>;
  /**
   * Removes those of the rows that nothing needs and that were over before the moment, with what belongs to them, and says how many
   * these were. Their blobs are noted to be deleted.
   */
  remove(kind: PrunedKind, ids: readonly PrunedId[], before: Date): Promise<number>;
  /** The pull requests of these runs of which it is not known whether they are open, or not since the moment. */
  unknownPullRequests(runIds: readonly PrunedId[], before: Date): Promise<PullRequestPlace[]>;
  /** Blobs without rows, which nothing has deleted yet. */
  blobsToDelete(limit: number): Promise<string[]>;
  forgetBlobs(paths: readonly string[]): Promise<void>;
}

/** What a chain was fired by that happens only once. */
export interface FiredOnce {
  repositoryId: number;
  headSha: string;
  chain: string;
  /** Text that is the same for the same subject. */
  subject: string;
}
