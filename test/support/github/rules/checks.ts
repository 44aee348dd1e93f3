import type {
  CheckConclusion,
  CheckRun,
  CheckStatus,
  CheckSuite,
  Repository,
  StatusState,
} from '../world.ts';

/** The check runs of a commit; `latest` keeps the newest of each name in each suite. */
export function checkRunsOf(repository: Repository, sha: string, which: 'latest' | 'all'): CheckRun[] {
  return repository.checkSuites
    .filter((suite) => suite.headSha === sha)
    .flatMap((suite) => (which === 'all' ? suite.runs : latestRuns(suite)))
    .sort((a, b) => b.id - a.id);
}

export function latestRuns(suite: CheckSuite): CheckRun[] {
  return [...new Map(suite.runs.map((run) => [run.name, run])).values()];
}

/** A suite has no state of its own: it is what its latest runs add up to. */
export function suiteState(suite: CheckSuite): {
  status: CheckStatus;
  conclusion: CheckConclusion | null;
} {
  const runs = latestRuns(suite);
  if (runs.length === 0 || runs.every((run) => run.status === 'queued'))
    return { status: 'queued', conclusion: null };
  if (suite.goesOn || runs.some((run) => run.status !== 'completed'))
    return { status: 'in_progress', conclusion: null };
  const worst = BY_SEVERITY.find((conclusion) => runs.some((run) => run.conclusion === conclusion));
  return { status: 'completed', conclusion: worst ?? 'success' };
}

const BY_SEVERITY: readonly CheckConclusion[] = [
  'action_required',
  'cancelled',
  'timed_out',
  'failure',
  'stale',
  'success',
  'neutral',
  'skipped',
];

/** The newest status of each context of a commit. */
export function latestStatuses(repository: Repository, sha: string) {
  const ofCommit = repository.statuses.filter((status) => status.sha === sha);
  return [...new Map(ofCommit.map((status) => [status.context, status])).values()];
}

export function combinedState(states: readonly StatusState[]): 'failure' | 'pending' | 'success' {
  if (states.some((state) => state === 'failure' || state === 'error')) return 'failure';
  return states.length === 0 || states.includes('pending') ? 'pending' : 'success';
}

export type ContextState = 'expected' | 'pending' | 'failing' | 'green';

/** How one required context stands: check runs and statuses of that name count alike, the worst decides. */
export function contextState(repository: Repository, sha: string, context: string): ContextState {
  const runs = checkRunsOf(repository, sha, 'latest').filter((run) => run.name === context);
  const statuses = latestStatuses(repository, sha).filter((status) => status.context === context);
  const states: ContextState[] = [
    ...runs.map((run) =>
      run.status !== 'completed' ? 'pending' : isGreen(run.conclusion) ? 'green' : 'failing',
    ),
    ...statuses.map(({ state }) =>
      state === 'pending' ? 'pending' : state === 'success' ? 'green' : 'failing',
    ),
  ];
  return (['failing', 'pending', 'green'] as const).find((state) => states.includes(state)) ?? 'expected';
}

export function isGreen(conclusion: CheckConclusion | null): boolean {
  return conclusion === 'success' || conclusion === 'neutral' || conclusion === 'skipped';
}
