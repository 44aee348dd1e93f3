import { z } from 'zod';
import { ApiError, notFound } from '../api-error.ts';
import { paginate } from '../pages.ts';
import { json, numberIn, type RepositoryCall, type Router } from '../router.ts';
import { latestRuns } from '../rules/checks.ts';
import { iso } from '../views/account.ts';
import { pageUrl, repositoryUrl } from '../views/repository.ts';
import type { CheckRun, CheckSuite, StartedWorkflow } from '../world.ts';
import { pathOf } from './git.ts';
import { parse } from './input.ts';

const Dispatch = z.object({
  ref: z.string(),
  inputs: z.record(z.string(), z.string()).default({}),
  return_run_details: z.boolean().default(false),
});

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

  // https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event
  router.repository('POST', '/actions/workflows/:workflow/dispatches', 'actions:write', (call) => {
    const { state, repository, params } = call;
    const { ref, inputs, return_run_details } = parse(Dispatch, call.body);
    const workflow = params.workflow ?? '';
    const commit = state.resolve(repository, ref);
    if (!commit) throw new ApiError(422, `No ref found for: ${ref}`);
    const entry = commit.files.get(`.github/workflows/${workflow}`);
    if (!entry) throw notFound();
    if (!repository.git.blob(entry.sha)?.toString().includes('workflow_dispatch'))
      throw new ApiError(422, "Workflow does not have 'workflow_dispatch' trigger");
    const id = 9_000 + repository.startedWorkflows.length;
    const createdAt = state.now();
    repository.startedWorkflows.push({ id, workflow, branch: ref, inputs, createdAt, conclusion: null });
    if (!return_run_details) return { status: 204 };
    const { url, html_url } = addressesOf(call, id);
    return json({ workflow_run_id: id, run_url: url, html_url });
  });

  router.repository('GET', '/actions/workflows/:workflow/runs', 'actions:read', (call) => {
    const { repository, params, query } = call;
    const found = repository.startedWorkflows.filter(
      ({ workflow, branch }) => workflow === params.workflow && branch === query.get('branch'),
    );
    return paginate(
      call,
      pathOf(call, `/actions/workflows/${params.workflow}/runs`),
      found.toReversed(),
      (run) => viewStarted(call, run),
      (workflow_runs, total_count) => ({ total_count, workflow_runs }),
    );
  });

  router.repository('GET', '/actions/runs/:id', 'actions:read', (call) => {
    const run = call.repository.startedWorkflows.find(({ id }) => id === numberIn(call, 'id'));
    if (!run) throw notFound();
    return json(viewStarted(call, run));
  });

  router.repository('GET', '/actions/runs/:id/artifacts', 'actions:read', (call) => {
    const runId = numberIn(call, 'id');
    const found = call.repository.workflowArtifacts.filter((one) => one.runId === runId);
    return paginate(
      call,
      pathOf(call, `/actions/runs/${runId}/artifacts`),
      found,
      ({ id, name, expired, headSha }) => ({
        id,
        name,
        expired,
        workflow_run: { id: runId, repository_id: call.repository.id, head_sha: headSha },
      }),
      (artifacts, total_count) => ({ total_count, artifacts }),
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

function addressesOf({ state, repository }: RepositoryCall, id: number) {
  return {
    url: `${repositoryUrl(state, repository)}/actions/runs/${id}`,
    html_url: `${pageUrl(state, repository)}/actions/runs/${id}`,
  };
}

function viewStarted(call: RepositoryCall, { id, workflow, branch, conclusion, createdAt }: StartedWorkflow) {
  return {
    id,
    path: `.github/workflows/${workflow}`,
    event: 'workflow_dispatch',
    head_branch: branch,
    status: conclusion === null ? 'in_progress' : 'completed',
    conclusion,
    created_at: iso(createdAt),
    ...addressesOf(call, id),
  };
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
