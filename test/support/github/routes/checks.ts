import { z } from 'zod';
import { ApiError, malformed, notFound } from '../api-error.ts';
import { type CheckRunChange, createCheckRun, updateCheckRun } from '../operations/checks.ts';
import { paginate } from '../pages.ts';
import { json, numberIn, type Reply, type RepositoryCall, type Router } from '../router.ts';
import { checkRunsOf } from '../rules/checks.ts';
import { viewAnnotation, viewCheckRun, viewCheckSuite } from '../views/check.ts';
import type { Annotation, CheckRun } from '../world.ts';
import { commitIn, pathOf } from './git.ts';
import { parse } from './input.ts';

/** Limits of `docs.github.com/rest/checks/runs`. Summary, text and annotation messages are counted in bytes. */
const MAX_BYTES = 65_535;
const MOST_MESSAGE_BYTES = 64 * 1024;
const MOST_ANNOTATIONS = 50;
const MOST_ACTIONS = 3;

const AnnotationInput = z.object({
  path: z.string().min(1),
  start_line: z.int(),
  end_line: z.int(),
  start_column: z.int().optional(),
  end_column: z.int().optional(),
  annotation_level: z.enum(['notice', 'warning', 'failure']),
  message: z.string().min(1).refine(within(MOST_MESSAGE_BYTES), 'message is too long'),
  title: z.string().max(255).optional(),
  raw_details: z.string().refine(within(MOST_MESSAGE_BYTES), 'raw_details is too long').optional(),
});

const Output = z.object({
  title: z.string().optional(),
  summary: z.string().refine(within(MAX_BYTES), `Only ${MAX_BYTES} characters are allowed`),
  text: z.string().refine(within(MAX_BYTES), `Only ${MAX_BYTES} characters are allowed`).optional(),
  annotations: z
    .array(AnnotationInput)
    .max(MOST_ANNOTATIONS, `No more than ${MOST_ANNOTATIONS} items are allowed`)
    .default([]),
});

const Action = z.object({
  label: z.string().min(1).max(20),
  description: z.string().min(1).max(40),
  identifier: z.string().min(1).max(20),
});

const Change = z.object({
  name: z.string().min(1).optional(),
  status: z.enum(['queued', 'in_progress', 'completed']).optional(),
  conclusion: z
    .enum(['success', 'failure', 'neutral', 'cancelled', 'skipped', 'timed_out', 'action_required'])
    .optional(),
  external_id: z.string().optional(),
  details_url: z.url({ protocol: /^https?$/ }).optional(),
  started_at: z.iso.datetime({ offset: true }).optional(),
  completed_at: z.iso.datetime({ offset: true }).optional(),
  output: Output.optional(),
  actions: z.array(Action).max(MOST_ACTIONS, `No more than ${MOST_ACTIONS} items are allowed`).optional(),
});

const NewRun = Change.extend({
  name: z.string().min(1),
  head_sha: z.string(),
  output: Output.extend({ title: z.string() }).optional(),
});

/** Check runs, their annotations and their suites. */
export function checkRoutes(router: Router): void {
  router.repository('POST', '/check-runs', 'checks:write', (call) => {
    const { state, repository } = call;
    const input = parse(NewRun, call.body);
    const commit = /^[0-9a-f]{40}$/.test(input.head_sha) && repository.git.commit(input.head_sha);
    if (!commit) throw new ApiError(422, `No commit found for SHA: ${input.head_sha}`);
    const where = { repository, app: state.app, sha: commit.sha, name: input.name };
    return json(viewCheckRun(state, createCheckRun(state, where, changeOf(input))), 201);
  });

  router.repository('GET', '/check-runs/:id', 'checks:read', (call) =>
    json(viewCheckRun(call.state, runIn(call))),
  );

  router.repository('PATCH', '/check-runs/:id', 'checks:write', (call) => {
    const run = runIn(call);
    if (run.suite.app !== call.state.app)
      throw new ApiError(
        403,
        `Invalid app_id \`${call.state.app.id}\` - check run can only be modified by the GitHub App that created it.`,
      );
    updateCheckRun(call.state, run, changeOf(parse(Change, call.body)));
    return json(viewCheckRun(call.state, run));
  });

  router.repository('GET', '/check-runs/:id/annotations', 'checks:read', (call) => {
    const run = runIn(call);
    const path = pathOf(call, `/check-runs/${run.id}/annotations`);
    return paginate(call, path, run.annotations, (annotation) => viewAnnotation(call.state, run, annotation));
  });

  router.repository('GET', '/commits/*ref/check-runs', 'checks:read', (call) => {
    const { sha } = commitIn(call, call.params.ref ?? '');
    const which = call.query.get('filter') === 'all' ? 'all' : 'latest';
    return listRuns(call, `/commits/${sha}/check-runs`, checkRunsOf(call.repository, sha, which));
  });

  router.repository('GET', '/check-suites/:id/check-runs', 'checks:read', (call) => {
    const id = numberIn(call, 'id');
    const suite = call.repository.checkSuites.find((one) => one.id === id);
    if (!suite) throw notFound();
    return listRuns(call, `/check-suites/${id}/check-runs`, suite.runs);
  });

  router.repository('GET', '/commits/*ref/check-suites', 'checks:read', (call) => {
    const { sha } = commitIn(call, call.params.ref ?? '');
    const appId = call.query.get('app_id');
    const suites = call.repository.checkSuites.filter(
      (suite) => suite.headSha === sha && (appId === null || suite.app.id === Number(appId)),
    );
    return paginate(
      call,
      pathOf(call, `/commits/${sha}/check-suites`),
      suites,
      (suite) => viewCheckSuite(call.state, suite),
      (page, total) => ({ total_count: total, check_suites: page }),
    );
  });
}

function listRuns(call: RepositoryCall, path: string, runs: readonly CheckRun[]): Reply {
  const { query } = call;
  const [appId, name, status] = [query.get('app_id'), query.get('check_name'), query.get('status')];
  const found = runs.filter(
    (run) =>
      (appId === null || run.suite.app.id === Number(appId)) &&
      (name === null || run.name === name) &&
      (status === null || run.status === status),
  );
  return paginate(
    call,
    pathOf(call, path),
    found,
    (run) => viewCheckRun(call.state, run),
    (page, total) => ({ total_count: total, check_runs: page }),
  );
}

function changeOf(input: z.infer<typeof Change>): CheckRunChange {
  if (input.status === 'completed' && input.conclusion === undefined)
    throw malformed('conclusion: is required when the status is completed');
  const { output } = input;
  return {
    name: input.name,
    status: input.status,
    conclusion: input.conclusion,
    externalId: input.external_id,
    detailsUrl: input.details_url,
    startedAt: input.started_at === undefined ? undefined : new Date(input.started_at),
    completedAt: input.completed_at === undefined ? undefined : new Date(input.completed_at),
    actions: input.actions,
    output: output && {
      title: output.title,
      summary: output.summary,
      text: output.text,
      annotations: output.annotations.map(annotationOf),
    },
  };
}

function annotationOf(input: z.infer<typeof AnnotationInput>): Annotation {
  const hasColumns = input.start_column !== undefined || input.end_column !== undefined;
  if (hasColumns && input.start_line !== input.end_line)
    throw malformed('annotations: columns are only allowed when start_line and end_line are the same');
  return {
    path: input.path,
    startLine: input.start_line,
    endLine: input.end_line,
    startColumn: input.start_column ?? null,
    endColumn: input.end_column ?? null,
    level: input.annotation_level,
    title: input.title ?? null,
    message: input.message,
    rawDetails: input.raw_details ?? null,
  };
}

function runIn(call: RepositoryCall): CheckRun {
  const run = call.state.findCheckRun(call.repository, numberIn(call, 'id'));
  if (!run) throw notFound();
  return run;
}

function within(bytes: number): (text: string) => boolean {
  return (text) => Buffer.byteLength(text) <= bytes;
}
