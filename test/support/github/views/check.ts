import { latestRuns, suiteState } from '../rules/checks.ts';
import type { State } from '../state.ts';
import type { Annotation, CheckRun, CheckSuite, CommitStatus, PullRequest, Repository } from '../world.ts';
import { iso, nodeId, viewAccount, viewApp } from './account.ts';
import { viewHeadCommit } from './commit.ts';
import { pageUrl, repositoryUrl, viewRepository } from './repository.ts';

export function viewCheckRun(state: State, run: CheckRun) {
  const { suite } = run;
  const url = `${repositoryUrl(state, suite.repository)}/check-runs/${run.id}`;
  const page =
    suite.app.slug === 'github-actions'
      ? `${pageUrl(state, suite.repository)}/actions/runs/${suite.id}/job/${run.id}`
      : `${pageUrl(state, suite.repository)}/runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CheckRun', run.id),
    head_sha: suite.headSha,
    external_id: run.externalId,
    url,
    html_url: page,
    details_url: run.detailsUrl ?? page,
    status: run.status,
    conclusion: run.conclusion,
    started_at: iso(run.startedAt),
    completed_at: run.completedAt ? iso(run.completedAt) : null,
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${url}/annotations`,
    },
    check_suite: { id: suite.id },
    app: viewApp(state, suite.app),
    pull_requests: viewPullsOf(state, suite),
  };
}

/** A check run as in webhooks, with its complete suite. */
export function viewCheckRunEvent(state: State, run: CheckRun) {
  return { ...viewCheckRun(state, run), check_suite: viewSuiteCore(state, run.suite) };
}

export function viewCheckSuite(state: State, suite: CheckSuite) {
  const commit = suite.repository.git.commitAt(suite.headSha);
  return {
    ...viewSuiteCore(state, suite),
    latest_check_runs_count: latestRuns(suite).length,
    check_runs_url: `${repositoryUrl(state, suite.repository)}/check-suites/${suite.id}/check-runs`,
    head_commit: viewHeadCommit(commit),
  };
}

function viewSuiteCore(state: State, suite: CheckSuite) {
  return {
    id: suite.id,
    node_id: nodeId('CheckSuite', suite.id),
    head_branch: suite.headBranch,
    head_sha: suite.headSha,
    ...suiteState(suite),
    url: `${repositoryUrl(state, suite.repository)}/check-suites/${suite.id}`,
    before: suite.repository.git.commitAt(suite.headSha).parents[0] ?? '0'.repeat(40),
    after: suite.headSha,
    pull_requests: viewPullsOf(state, suite),
    app: viewApp(state, suite.app),
    repository: viewRepository(state, suite.repository),
    created_at: iso(suite.createdAt),
    updated_at: iso(suite.updatedAt),
  };
}

/** Open pull requests of the same repository with this head; GitHub omits those from forks. */
function viewPullsOf(state: State, suite: CheckSuite) {
  const end = (repository: Repository, { ref, sha }: { ref: string; sha: string }) => ({
    ref,
    sha,
    repo: { id: repository.id, url: repositoryUrl(state, repository), name: repository.name },
  });
  return state
    .pullRequests()
    .filter(
      (pr: PullRequest) =>
        pr.state === 'open' &&
        pr.repository === suite.repository &&
        pr.pull.head.repository === suite.repository &&
        pr.pull.head.sha === suite.headSha,
    )
    .map((pr) => ({
      url: `${repositoryUrl(state, pr.repository)}/pulls/${pr.number}`,
      id: pr.pull.id,
      number: pr.number,
      head: end(pr.pull.head.repository, pr.pull.head),
      base: end(pr.repository, pr.pull.base),
    }));
}

export function viewAnnotation(state: State, run: CheckRun, annotation: Annotation) {
  const { repository, headSha } = run.suite;
  return {
    path: annotation.path,
    start_line: annotation.startLine,
    end_line: annotation.endLine,
    start_column: annotation.startColumn,
    end_column: annotation.endColumn,
    annotation_level: annotation.level,
    title: annotation.title,
    message: annotation.message,
    raw_details: annotation.rawDetails,
    blob_href: `${pageUrl(state, repository)}/blob/${headSha}/${encodeURI(annotation.path)}`,
  };
}

export function viewStatus(state: State, repository: Repository, status: CommitStatus) {
  return {
    url: `${repositoryUrl(state, repository)}/statuses/${status.sha}`,
    avatar_url: `${state.url}/avatars/${status.creator.id}`,
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: iso(status.createdAt),
    updated_at: iso(status.createdAt),
    creator: viewAccount(state, status.creator),
  };
}
