import type { CompositeState } from '../domain/chain/composite.ts';
import type { Composite } from '../domain/chain/trigger-schema.ts';

/** What tells one instance of a composite from another. */
export interface CompositePlace {
  repositoryId: number;
  chain: string;
  /** The branch whose configuration has the chain. */
  branch: string;
  /** The place of the composite among the triggers of its chain. */
  position: number;
  /** What its parts have in common: a pull request, a commit, both or neither. */
  key: string;
}

/** The key of a composite that counts for a pull request, or for one head of it. */
export function keyOfPullRequest(pullRequest: number, headSha?: string): string {
  return headSha === undefined ? `#${pullRequest}` : `#${pullRequest} ${headSha}`;
}

/** The pull request of such a key. */
export function pullRequestOfKey(key: string): number | null {
  const [, number] = /^#(\d+)/.exec(key) ?? [];
  return number === undefined ? null : Number(number);
}

/** What a composite has seen for one key. */
export interface CompositeRow extends CompositePlace {
  installationId: number;
  /** `owner/name`. */
  repository: string;
  /** The composite when it was last written. */
  composite: Composite;
  state: CompositeState;
  expiresAt: Date;
}

export interface Composites {
  get(place: CompositePlace): Promise<CompositeRow | undefined>;
  /** What waits for a pull request, or for one of its heads. */
  ofPullRequest(of: { repositoryId: number; pullRequest: number }): Promise<CompositeRow[]>;
  put(row: CompositeRow): Promise<void>;
  remove(place: CompositePlace): Promise<void>;
  /** The rows that have expired, oldest first. */
  expired(now: Date, limit: number): Promise<CompositeRow[]>;
  /** When the next row expires; `undefined` without rows. */
  nextAt(): Promise<Date | undefined>;
  /** The rows of the chain beyond the newest `kept`, the one that expires first at the beginning. */
  beyond(of: { repositoryId: number; chain: string }, kept: number): Promise<CompositeRow[]>;
}
