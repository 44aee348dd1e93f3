import { ApiError, notFound } from '../api-error.ts';
import { paginate } from '../pages.ts';
import { numberIn, type Router } from '../router.ts';
import { latestRuns } from '../rules/checks.ts';
import { iso } from '../views/account.ts';
import { repositoryUrl } from '../views/repository.ts';
import type { CheckRun, CheckSuite } from '../world.ts';
import { pathOf } from './git.ts';

/** What workflow runs did, and the artifacts that they leave. */
export function workflowRoutes(router: Router): void {
  router.repository('GET', '/actions/runs/:id/jobs', 'actions:read', (call) => {
    const suite = call.repository.checkSuites.find(({ id }) => id === numberIn(call, 'id'));
    if (!suite) throw notFound();
    return paginate(
      call,
      pathOf(call, `/actions/runs/${suite.id}/jobs`),
      latestRuns(suite),
      (run) => viewJob(suite, run),
      (jobs, total_count) => ({ total_count, jobs }),
    );
  });

  router.repository('GET', '/actions/artifacts', 'actions:read', (call) => {
    const name = call.query.get('name');
    const found = call.repository.workflowArtifacts.filter((one) => name === null || one.name === name);
    return paginate(
      call,
      pathOf(call, '/actions/artifacts'),
      found.toReversed(),
      (one) => ({
        id: one.id,
        name: one.name,
        size_in_bytes: 1_000,
        url: `${repositoryUrl(call.state, call.repository)}/actions/artifacts/${one.id}`,
        archive_download_url: `${repositoryUrl(call.state, call.repository)}/actions/artifacts/${one.id}/zip`,
        expired: one.expired,
        created_at: iso(one.createdAt),
        workflow_run: { id: one.runId, repository_id: call.repository.id, head_sha: one.headSha },
      }),
      (artifacts, total_count) => ({ total_count, artifacts }),
    );
  });

  router.repository('GET', '/actions/artifacts/:id/zip', 'actions:read', (call) => {
    const id = numberIn(call, 'id');
    const found = call.repository.workflowArtifacts.find((one) => one.id === id);
    if (!found) throw notFound();
    if (found.expired) throw new ApiError(410, 'Artifact has expired');
    return { status: 302, headers: { location: found.archiveUrl } };
  });
}

/** A job is the check run that shows it; its steps follow one another from its start. */
function viewJob(suite: CheckSuite, run: CheckRun) {
  let at = run.startedAt.getTime();
  return {
    id: run.id,
    run_id: suite.id,
    head_sha: suite.headSha,
    name: run.name,
    status: run.status,
    conclusion: run.conclusion,
    started_at: iso(run.startedAt),
    completed_at: run.completedAt ? iso(run.completedAt) : null,
    steps: run.steps.map(({ name, conclusion, seconds }, index) => {
      const started_at = iso(new Date(at));
      at += seconds * 1_000;
      return {
        name,
        status: 'completed',
        conclusion,
        number: index + 1,
        started_at,
        completed_at: iso(new Date(at)),
      };
    }),
  };
}
