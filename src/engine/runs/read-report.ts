import {
  type FactsOfRepositories,
  type RepositoryReport,
  type RepositoryState,
  reportOf,
} from '../../domain/run/report.ts';
import type { RepositoryFilter, RepositoryPosition } from '../../ports/repository-states.ts';
import type { ReadTx } from '../../ports/storage.ts';

/** The most repositories of one report. */
const MOST_REPORTED = 10_000;

interface Report {
  reports: RepositoryReport[];
  /** What its sums are made from. */
  figures: FactsOfRepositories['figures'];
  /** Where a list of them goes on. */
  next: RepositoryPosition | undefined;
}

/** What a report is read from. */
export interface ReportSources {
  repositoryStates: Pick<ReadTx['repositoryStates'], 'list'>;
  insight: Pick<ReadTx['insight'], 'ofRepositories' | 'waitingIn'>;
}

/** The report of the repositories that match, by name. */
export async function readReport(
  { repositoryStates, insight }: ReportSources,
  { since, ...filter }: RepositoryFilter & { since: Date },
  { after, limit }: { after?: RepositoryPosition | undefined; limit: number } = { limit: MOST_REPORTED },
): Promise<Report> {
  const found = await repositoryStates.list(filter, { after, limit: limit + 1 });
  const states = found.slice(0, limit);
  const { visible } = filter;
  const ids = states.map(({ repositoryId }) => repositoryId);
  const facts = await insight.ofRepositories({ visible, ids, since });
  const reports = reportOf(states, { ...facts, waiting: await insight.waitingIn({ visible, ids }) });
  return {
    reports,
    figures: facts.figures,
    next: found.length > limit ? positionOf(states.at(-1)) : undefined,
  };
}

function positionOf(state: RepositoryState | undefined): RepositoryPosition | undefined {
  return state && { repository: state.repository, repositoryId: state.repositoryId };
}
