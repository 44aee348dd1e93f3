import type { CountersignRules, StepApproval } from '../domain/policy/countersign-rules.ts';
import type { RunStatus } from '../domain/run/run.ts';
import type { Visible } from './visible.ts';

/** What a list of runs is narrowed to. */
export interface OverviewFilter {
  visible: Visible;
  /** `owner/name`, in any case. */
  repository?: string;
  chain?: string;
  status?: RunStatus;
  /** The login of the pull request's author, in any case. */
  author?: string;
  /** Runs that began since. */
  since?: Date;
  /** Somewhere in the title, the repository's or the chain's name, or `#` and the number. */
  text?: string;
}

/** A run in a list, with what is known of its pull request. */
export interface RunLine {
  id: string;
  repositoryId: number;
  repository: string;
  pullRequest: number | null;
  headSha: string;
  chain: string;
  status: RunStatus;
  createdAt: Date;
  /** When it ended, or last changed. */
  changedAt: Date;
  /** Why it completed; `null` if it did not, or is archived. */
  reasonCode: string | null;
  title: string | null;
  author: { id: number; login: string } | null;
}

/** A question that people may answer now, with the rules for it. */
export interface OpenQuestion {
  askedAt: Date;
  rules: CountersignRules;
  approval: StepApproval | undefined;
  countersignedBy: readonly string[];
  headSha: string;
}

/** In the order of a list. */
export interface LinePosition {
  at: string;
  id: string;
}

interface LinePage {
  after: LinePosition | undefined;
  limit: number;
}

/** How many there are, up to `MOST_LINES_COUNTED`. */
interface OverviewCounts {
  active: number;
  asking: number;
  stopped: number;
}

export const MOST_LINES_COUNTED = 1_000;

/** Runs as people's lists show them. What it costs depends on the open pull requests, and not on all runs. */
export interface Overview {
  /** Unfinished runs, oldest first. `asking`: only those that wait for a person's answer. */
  active(
    filter: OverviewFilter,
    page: LinePage & { asking?: boolean },
  ): Promise<(RunLine & { question: OpenQuestion | undefined })[]>;
  /**
   * Runs that ended without what they are for: the newest of their chain for the head of an open pull request, and those
   * without a pull request that ended since a time. Newest first.
   */
  stopped(filter: OverviewFilter, page: LinePage & { otherSince: Date }): Promise<RunLine[]>;
  counts(filter: OverviewFilter, options: { otherSince: Date }): Promise<OverviewCounts>;
  /** The runs of a pull request, newest first. */
  ofPullRequest(of: { repositoryId: number; number: number }, limit: number): Promise<RunLine[]>;
  /** The pull request at an address on GitHub, by the name that its repository has or had, in any case. */
  atAddress(repository: string, number: number): Promise<PullRequestAtAddress | undefined>;
  /** Those of one repository after another, the one with the highest id and the highest number first. */
  pullRequests(
    filter: PullRequestFilter,
    page: { after: PullRequestPosition | undefined; limit: number },
  ): Promise<PullRequestAtAddress[]>;
  /** A repository by the name that it has or had, in any case, if it has a pull request. */
  repositoryAt(repository: string): Promise<RepositoryAtAddress | undefined>;
  /** Names of chains in unfinished runs, for a choice. */
  chains(visible: Visible, limit: number): Promise<string[]>;
}

/** What a list of pull requests is narrowed to. */
interface PullRequestFilter {
  visible: Visible;
  /** `owner/name`, in any case. */
  repository?: string;
  /** `open`: also those whose state is not known. */
  state?: 'open' | 'closed' | 'merged' | 'gone';
  /** The author's login, in any case. */
  author?: string;
}

/** In the order of a list. */
interface PullRequestPosition {
  repositoryId: number;
  number: number;
}

interface RepositoryAtAddress {
  repositoryId: number;
  installationId: number;
  /** As it is now. */
  repository: string;
}

export interface PullRequestAtAddress {
  repositoryId: number;
  /** As it is now. */
  repository: string;
  number: number;
  title: string | null;
  author: string | null;
  state: 'open' | 'closed' | 'merged' | 'gone' | null;
  stateAt: Date | null;
  pausedBy: string | null;
  headSha: string | null;
}
