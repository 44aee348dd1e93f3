import type {
  CheckConclusion,
  CheckRun,
  CheckStatus,
  CheckSuite,
  CommitStatus,
  Repository,
  RequiredCheck,
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

/** A suite has no state of its own: its latest runs determine it. */
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

/** The state of a required check; `expected` when nobody whose report counts has reported it. */
export type RequiredCheckState = 'expected' | 'queued' | 'in progress' | 'pending' | 'failing' | 'green';

/** The one that decides, when several have the same name. */
const WORST_FIRST: readonly RequiredCheckState[] = [
  'failing',
  'pending',
  'in progress',
  'queued',
  'green',
  'expected',
];

/**
 * The state of a required check on a commit. The newest run of each app counts, and the newest status of the name; all of them
 * must be green. Only its own app satisfies a check that is pinned to an app.
 * https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks
 */
export function requiredCheckState(
  repository: Repository,
  sha: string,
  required: RequiredCheck,
): RequiredCheckState {
  const { context, appId } = required;
  const runs = checkRunsOf(repository, sha, 'latest').filter(
    ({ name, suite }) => name === context && (appId === null || suite.app.id === appId),
  );
  const statuses = latestStatuses(repository, sha).filter(
    (status) => status.context === context && (appId === null || status.appId === appId),
  );
  const standings = [...runs.map(standingOfRun), ...statuses.map(standingOfStatus)];
  return WORST_FIRST.find((standing) => standings.includes(standing)) ?? 'expected';
}

function standingOfRun({ status, conclusion }: CheckRun): RequiredCheckState {
  if (status === 'completed') return isGreen(conclusion) ? 'green' : 'failing';
  return status === 'queued' ? 'queued' : 'in progress';
}

function standingOfStatus({ state }: CommitStatus): RequiredCheckState {
  if (state === 'pending') return 'pending';
  return state === 'success' ? 'green' : 'failing';
}

/** `neutral` and `skipped` count as `success`: https://docs.github.com/en/pull-requests/reference/status-checks */
export function isGreen(conclusion: CheckConclusion | null): boolean {
  return conclusion === 'success' || conclusion === 'neutral' || conclusion === 'skipped';
}
