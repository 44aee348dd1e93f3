import { suiteState } from '../rules/checks.ts';
import type { State } from '../state.ts';
import { iso } from '../views/account.ts';
import { viewCheckRunEvent, viewCheckSuite, viewStatus } from '../views/check.ts';
import { viewCommit } from '../views/commit.ts';
import type {
  Account,
  Annotation,
  App,
  CheckAction,
  CheckConclusion,
  CheckRun,
  CheckStatus,
  CheckSuite,
  CommitStatus,
  JobStep,
  Repository,
  StatusState,
} from '../world.ts';
import { fullName } from '../world.ts';
import { emit } from './emit.ts';

/** What a client may set on a check run; omitted fields stay as they are. */
export interface CheckRunChange {
  name?: string | undefined;
  status?: CheckStatus | undefined;
  conclusion?: CheckConclusion | undefined;
  externalId?: string | undefined;
  detailsUrl?: string | undefined;
  startedAt?: Date | undefined;
  completedAt?: Date | undefined;
  output?:
    | {
        title?: string | undefined;
        summary?: string | undefined;
        text?: string | undefined;
        annotations: readonly Annotation[];
      }
    | undefined;
  actions?: readonly CheckAction[] | undefined;
  steps?: readonly JobStep[] | undefined;
  /** Whether the suite has more runs to come after this one. */
  goesOn?: boolean | undefined;
}

/** After a push GitHub opens a check suite for the app and asks it to check. */
export function requestSuite(
  state: State,
  repository: Repository,
  branch: string,
  sha: string,
  by: Account,
): void {
  if (!state.installationOf(repository) || findSuite(repository, state.app, sha)) return;
  const suite = openSuite(state, repository, state.app, sha, branch);
  emit(state, { repository, sender: by }, 'check_suite', {
    action: 'requested',
    check_suite: viewCheckSuite(state, suite),
  });
}

export function createCheckRun(
  state: State,
  where: { repository: Repository; app: App; sha: string; name: string },
  change: CheckRunChange,
): CheckRun {
  const { repository, app, sha, name } = where;
  const suite =
    findSuite(repository, app, sha) ?? openSuite(state, repository, app, sha, branchOf(repository, sha));
  const run: CheckRun = {
    id: state.nextId('checkRun'),
    suite,
    name,
    status: 'queued',
    conclusion: null,
    startedAt: state.now(),
    completedAt: null,
    externalId: '',
    detailsUrl: undefined,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    actions: [],
    steps: [],
  };
  suite.runs.push(run);
  apply(state, run, change);
  announce(state, run, 'created');
  if (run.status === 'completed') announceCompletion(state, run);
  return run;
}

export function updateCheckRun(state: State, run: CheckRun, change: CheckRunChange): void {
  const wasCompleted = run.status === 'completed';
  apply(state, run, change);
  if (run.status === 'completed' && !wasCompleted) announceCompletion(state, run);
}

/** A person pressed “Re-run”: GitHub notifies the app and changes nothing itself. */
export function rerequestCheckRun(state: State, run: CheckRun, by: Account): void {
  refuseForeign(state, run);
  announce(state, run, 'rerequested', { sender: by });
}

/** A person pressed “Re-run all checks”: GitHub notifies each app of its own suite. */
export function rerequestSuite(state: State, run: CheckRun, by: Account): void {
  refuseForeign(state, run);
  const { suite } = run;
  emit(state, { repository: suite.repository, sender: by }, 'check_suite', {
    action: 'rerequested',
    check_suite: viewCheckSuite(state, suite),
  });
}

/** A person pressed one of the run's buttons. */
export function requestAction(state: State, run: CheckRun, by: Account, identifier: string): void {
  refuseForeign(state, run);
  if (!run.actions.some((action) => action.identifier === identifier))
    throw new Error(`Check run ${run.id} has no button ${identifier}.`);
  announce(state, run, 'requested_action', { sender: by, requested_action: { identifier } });
}

export function setStatus(
  state: State,
  repository: Repository,
  input: {
    sha: string;
    context: string;
    state: StatusState;
    description?: string | undefined;
    targetUrl?: string | undefined;
    creator: Account;
  },
): CommitStatus {
  const status: CommitStatus = {
    id: state.nextId('status'),
    sha: input.sha,
    context: input.context,
    state: input.state,
    description: input.description ?? null,
    targetUrl: input.targetUrl ?? null,
    creator: input.creator,
    appId: state.appOfBot(input.creator)?.id ?? null,
    createdAt: state.now(),
  };
  repository.statuses.push(status);
  const branches = [...repository.branches].filter(([, sha]) => sha === input.sha);
  emit(state, { repository, sender: input.creator }, 'status', {
    ...viewStatus(state, repository, status),
    sha: status.sha,
    name: fullName(repository),
    commit: viewCommit(state, repository, repository.git.commitAt(status.sha)),
    branches: branches.map(([name, sha]) => ({ name, commit: { sha }, protected: false })),
    created_at: iso(status.createdAt),
  });
  return status;
}

function apply(state: State, run: CheckRun, change: CheckRunChange): void {
  if (change.goesOn !== undefined) run.suite.goesOn = change.goesOn;
  if (change.name !== undefined) run.name = change.name;
  if (change.externalId !== undefined) run.externalId = change.externalId;
  if (change.detailsUrl !== undefined) run.detailsUrl = change.detailsUrl;
  if (change.startedAt) run.startedAt = change.startedAt;
  if (change.actions) run.actions = change.actions;
  if (change.steps) run.steps = change.steps;
  if (change.output) {
    if (change.output.title !== undefined) run.title = change.output.title;
    if (change.output.summary !== undefined) run.summary = change.output.summary;
    if (change.output.text !== undefined) run.text = change.output.text;
    run.annotations.push(...change.output.annotations);
  }
  // A conclusion completes the run, whatever status came with it.
  if (change.conclusion || change.status === 'completed') {
    run.status = 'completed';
    run.conclusion = change.conclusion ?? run.conclusion;
    run.completedAt = change.completedAt ?? run.completedAt ?? state.now();
  } else if (change.status && run.status !== 'completed') {
    // A completed run never becomes queued again: GitHub accepts the request and keeps the conclusion.
    run.status = change.status;
    run.conclusion = null;
    run.completedAt = null;
  }
  run.suite.updatedAt = state.now();
}

function announceCompletion(state: State, run: CheckRun): void {
  announce(state, run, 'completed');
  const { suite } = run;
  if (suiteState(suite).status !== 'completed') return;
  emit(state, { repository: suite.repository, sender: suite.app.bot }, 'check_suite', {
    action: 'completed',
    check_suite: viewCheckSuite(state, suite),
  });
}

function announce(
  state: State,
  run: CheckRun,
  action: string,
  extra: { sender?: Account; requested_action?: { identifier: string } } = {},
): void {
  const { sender = run.suite.app.bot, ...rest } = extra;
  emit(state, { repository: run.suite.repository, sender }, 'check_run', {
    action,
    check_run: viewCheckRunEvent(state, run),
    ...rest,
  });
}

/** GitHub notifies only the app that owns a check run of its buttons. */
function refuseForeign(state: State, run: CheckRun): void {
  if (run.suite.app !== state.app)
    throw new Error(
      `Check run ${run.id} belongs to ${run.suite.app.slug}; nobody tells ${state.app.slug} of its buttons.`,
    );
}

function findSuite(repository: Repository, app: App, sha: string): CheckSuite | undefined {
  return repository.checkSuites.find((suite) => suite.app === app && suite.headSha === sha);
}

function openSuite(
  state: State,
  repository: Repository,
  app: App,
  headSha: string,
  headBranch: string | null,
): CheckSuite {
  const now = state.now();
  const suite: CheckSuite = {
    id: state.nextId('checkSuite'),
    app,
    repository,
    headSha,
    headBranch,
    runs: [],
    goesOn: false,
    createdAt: now,
    updatedAt: now,
  };
  repository.checkSuites.push(suite);
  return suite;
}

function branchOf(repository: Repository, sha: string): string | null {
  return [...repository.branches].find(([, tip]) => tip === sha)?.[0] ?? null;
}
