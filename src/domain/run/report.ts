import type { Diagnostic } from '../../core/diagnostic.ts';
import { sum } from '../../core/sum.ts';
import type { Rollout } from '../policy/rollout.ts';
import { RUN_ENDINGS, type RunEnding } from './ending.ts';
import { atShare, type Bucket, type Figure } from './figures.ts';

/** A repository as it was when its default branch was last read. */
export interface RepositoryState {
  repositoryId: number;
  installationId: number;
  /** `owner/name` */
  repository: string;
  /** The default branch. */
  branch: string;
  rollout: Rollout;
  /** How many errors its configuration has, with that of its organisation, and the first of them. */
  errors: number;
  first: Diagnostic | null;
}

export interface FigureOfRepository extends Bucket, Pick<Figure, 'what' | 'name'> {
  repositoryId: number;
}

/** Pull requests that were merged, by the time since this app first saw them. */
export interface LeadOfRepository extends Bucket {
  repositoryId: number;
}

/** What is known of repositories over a period. */
export interface FactsOfRepositories {
  figures: readonly FigureOfRepository[];
  leads: readonly LeadOfRepository[];
  /** Questions that are open now, and since when the oldest is. */
  waiting: readonly { repositoryId: number; count: number; since: Date }[];
}

/** How long something took, in seconds: half of the times were at most the median, and nine of ten at most `p90`. */
export interface Spread {
  count: number;
  median: number;
  p90: number;
}

/** What became of the runs of one repository over a period, and how it is now. */
export interface RepositoryReport extends Omit<RepositoryState, 'installationId'> {
  runs: Readonly<Record<RunEnding, number>>;
  /** Reviews that requested changes. */
  changesRequested: number;
  /** From a question to the answers of people. */
  answered: Spread | undefined;
  /** Questions that nobody has answered yet. */
  waiting: { count: number; since: Date } | undefined;
  /** From opened to merged, whether by the app or by a person. */
  merged: Spread | undefined;
}

/** One report for each repository, in the same order. */
export function reportOf(
  states: readonly RepositoryState[],
  { figures, leads, waiting }: FactsOfRepositories,
): RepositoryReport[] {
  const figuresOf = Map.groupBy(figures, ({ repositoryId }) => repositoryId);
  const leadsOf = Map.groupBy(leads, ({ repositoryId }) => repositoryId);
  const waitingIn = new Map(waiting.map((one) => [one.repositoryId, one]));
  return states.map(({ installationId: _, ...state }) => {
    const counted = figuresOf.get(state.repositoryId) ?? [];
    const of = (what: Figure['what'], name?: string) =>
      counted.filter((figure) => figure.what === what && (name === undefined || figure.name === name));
    const open = waitingIn.get(state.repositoryId);
    return {
      ...state,
      runs: Object.fromEntries(
        RUN_ENDINGS.map((ending) => [ending, total(of('ended', ending))]),
      ) as RepositoryReport['runs'],
      changesRequested: total(of('changes_requested')),
      answered: spreadOf(of('answered')),
      waiting: open && { count: open.count, since: open.since },
      merged: spreadOf(leadsOf.get(state.repositoryId) ?? []),
    };
  });
}

/** What a report says of all its repositories together. */
export interface ReportTotals extends Pick<RepositoryReport, 'runs' | 'changesRequested' | 'answered'> {
  repositories: number;
  /** Repositories whose configuration has errors. */
  misconfigured: number;
  /** Questions that nobody has answered yet, and since when the oldest is open. */
  waiting: RepositoryReport['waiting'];
}

/** @param figures those of others do not count */
export function totalsOf(
  reports: readonly RepositoryReport[],
  figures: FactsOfRepositories['figures'],
): ReportTotals {
  const ids = new Set(reports.map(({ repositoryId }) => repositoryId));
  const open = reports.flatMap(({ waiting }) => waiting ?? []);
  const oldest = open.toSorted((a, b) => a.since.getTime() - b.since.getTime())[0];
  return {
    repositories: reports.length,
    misconfigured: reports.filter(({ errors }) => errors > 0).length,
    runs: Object.fromEntries(
      RUN_ENDINGS.map((ending) => [ending, sum(reports.map(({ runs }) => runs[ending]))]),
    ) as RepositoryReport['runs'],
    changesRequested: sum(reports.map(({ changesRequested }) => changesRequested)),
    answered: spreadOf(
      figures.filter(({ what, repositoryId }) => what === 'answered' && ids.has(repositoryId)),
    ),
    waiting: oldest && { count: sum(open.map(({ count }) => count)), since: oldest.since },
  };
}

export const REPORT_ORDERS = [
  'attention',
  'name',
  'runs',
  'failed',
  'merged',
  'would_merge',
  'answered',
] as const;
/** `attention`: what is misconfigured, then where people wait, then where observing would have merged. */
export type ReportOrder = (typeof REPORT_ORDERS)[number];

/** Sorted so that what matters most comes first. */
export function inOrder(reports: readonly RepositoryReport[], by: ReportOrder): RepositoryReport[] {
  const keys = KEYS[by];
  return reports.toSorted((a, b) => {
    for (const key of keys) {
      const difference = key(b) - key(a);
      if (difference !== 0) return difference;
    }
    return compareNames(a.repository, b.repository);
  });
}

type Key = (report: RepositoryReport) => number;
const ended: Key = ({ runs }) => sum(Object.values(runs));
const wouldMerge: Key = ({ runs }) => runs.would_merge;
const KEYS: Readonly<Record<ReportOrder, readonly Key[]>> = {
  attention: [
    ({ errors }) => errors,
    // The oldest first, and those without a question last.
    ({ waiting }) => -(waiting?.since.getTime() ?? Number.MAX_SAFE_INTEGER),
    wouldMerge,
    ended,
  ],
  name: [],
  runs: [ended],
  failed: [({ runs }) => runs.failed],
  merged: [({ runs }) => runs.merged],
  would_merge: [wouldMerge],
  answered: [({ answered }) => answered?.median ?? -1],
};

function compareNames(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : 0;
}

function spreadOf(buckets: readonly Bucket[]): Spread | undefined {
  const [median, p90] = [atShare(buckets, 0.5), atShare(buckets, 0.9)];
  return median === undefined || p90 === undefined ? undefined : { count: total(buckets), median, p90 };
}

/** Not below 0: a run can go on that ended before figures were counted. */
function total(buckets: readonly Bucket[]): number {
  return Math.max(0, sum(buckets.map(({ count }) => count)));
}
