import { z } from 'zod';
import { accountSchema } from './account.ts';
import { dateOrNull } from './answers.ts';

// GitHub's responses about the checks of a commit and the required checks of a branch. `answers.ts` has the
// others.

/** In characters. Outputs have up to 64 KB; only the beginning is read. */
const MAX_LENGTH = 2_000;
export const beginning = z
  .string()
  .nullish()
  .transform((text) => text && (text.length > MAX_LENGTH ? wholeWords(text.slice(0, MAX_LENGTH)) : text))
  .transform((text) => text ?? null);

/** Without the last word, which may be cut: redaction would not recognise half a secret. */
function wholeWords(text: string): string {
  return text.slice(0, Math.max(0, text.lastIndexOf(' '), text.lastIndexOf('\n')));
}

const checkRunSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    app: z.object({ id: z.int(), slug: z.string().nullish() }).nullable(),
    status: z.string(),
    conclusion: z.string().nullable(),
    started_at: dateOrNull,
    completed_at: dateOrNull,
    html_url: z.string().nullish(),
    external_id: z.string().nullish(),
    check_suite: z.object({ id: z.int() }).nullish(),
    output: z.object({
      annotations_count: z.int(),
      title: beginning,
      summary: beginning,
    }),
  })
  .transform((run) => ({
    id: run.id,
    name: run.name,
    appId: run.app?.id ?? null,
    status: run.status,
    conclusion: run.conclusion,
    startedAt: run.started_at,
    completedAt: run.completed_at,
    url: run.html_url ?? null,
    externalId: run.external_id ?? null,
    suiteId: run.check_suite?.id ?? null,
    workflowRunId: run.app?.slug === ACTIONS ? workflowRunIn(run.html_url ?? '') : null,
    annotations: run.output.annotations_count,
    title: run.output.title,
    summary: run.output.summary,
  }));
/** What identifies a check run of this app. */
export const ownCheckRunsSchema = z
  .object({
    check_runs: z.array(
      z.object({
        id: z.int(),
        node_id: z.string().nullish(),
        html_url: z.string().nullish(),
        external_id: z.string().nullish(),
        app: z.object({ id: z.int() }).nullish(),
        output: z.object({ annotations_count: z.int() }),
      }),
    ),
  })
  .transform(({ check_runs: runs }) =>
    runs.map((run) => ({
      id: run.id,
      nodeId: run.node_id ?? undefined,
      url: run.html_url ?? undefined,
      externalId: run.external_id ?? null,
      appId: run.app?.id ?? null,
      annotations: run.output.annotations_count,
    })),
  );

/** The slug of GitHub's own CI, on every host. */
const ACTIONS = 'github-actions';

/** GitHub gives the run's id only in the URL: `…/actions/runs/<run>/job/<job>`. */
function workflowRunIn(url: string): number | null {
  const [, id] = /\/actions\/runs\/(\d{1,15})(?:\/|$)/.exec(url) ?? [];
  return id === undefined ? null : Number(id);
}

export const checkRunsSchema = z
  .object({ check_runs: z.array(checkRunSchema) })
  .transform((page) => page.check_runs);

/** A run that is being repeated has no conclusion again. */
export const workflowRunSchema = z
  .object({ status: z.string().nullish(), conclusion: z.string().nullish(), html_url: z.string() })
  .transform(({ status, conclusion, html_url: url }) => ({
    conclusion: status === 'completed' ? (conclusion ?? null) : null,
    url,
  }));

export const workflowJobsSchema = z
  .object({
    jobs: z.array(
      z.object({
        name: z.string(),
        steps: z
          .array(
            z
              .object({
                name: z.string(),
                conclusion: z.string().nullish(),
                started_at: dateOrNull,
                completed_at: dateOrNull,
              })
              .transform(({ name, conclusion, started_at, completed_at }) => ({
                name,
                conclusion: conclusion ?? null,
                startedAt: started_at,
                completedAt: completed_at,
              })),
          )
          .nullish()
          .transform((steps) => steps ?? []),
      }),
    ),
  })
  .transform((page) => page.jobs);

const workflowArtifactSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    workflow_run: z.object({ id: z.int(), head_sha: z.string() }).nullish(),
  })
  .transform(({ id, name, workflow_run: run }) =>
    // Without a run, the commit is unknown.
    run ? [{ id, name, runId: run.id, headSha: run.head_sha }] : [],
  );
export const workflowArtifactsSchema = z
  .object({ artifacts: z.array(workflowArtifactSchema) })
  .transform((page) => page.artifacts);

export const checkSuitesSchema = z
  .object({
    check_suites: z.array(
      z.object({
        app: z.object({ id: z.int(), name: z.string() }).nullish(),
        status: z.string().nullish(),
        latest_check_runs_count: z.int(),
      }),
    ),
  })
  .transform((page) =>
    page.check_suites.map(({ app, status, latest_check_runs_count }) => ({
      appId: app?.id ?? null,
      appName: app?.name ?? 'another app',
      status: status ?? 'unknown',
      checkRuns: latest_check_runs_count,
    })),
  );

export const statusesSchema = z
  .object({
    statuses: z.array(
      z.object({
        context: z.string(),
        state: z.enum(['error', 'failure', 'pending', 'success']),
        description: z.string().nullish(),
        target_url: z.string().nullish(),
        created_at: dateOrNull,
      }),
    ),
  })
  .transform((page) =>
    page.statuses.map(({ context, state, description, target_url, created_at }) => ({
      context,
      state,
      description: description ?? null,
      url: target_url ?? null,
      createdAt: created_at,
    })),
  );

/**
 * Newest first: https://docs.github.com/en/rest/commits/statuses#list-commit-statuses-for-a-reference. Unlike the combined status,
 * each names its creator.
 */
export const createdStatusesSchema = z.array(
  z
    .object({
      id: z.int().optional(),
      context: z.string(),
      state: z.enum(['error', 'failure', 'pending', 'success']),
      description: z.string().nullish(),
      target_url: z.string().nullish(),
      created_at: dateOrNull,
      creator: accountSchema.nullish(),
    })
    .transform(({ id, description, target_url, created_at, creator, ...status }) => ({
      ...status,
      ...(id !== undefined && { id }),
      description: description ?? null,
      url: target_url ?? null,
      createdAt: created_at,
      creator: creator ?? null,
    })),
);

/** The branch's own protection, which GitHub shows to everybody who can read the branch. */
export const protectionSchema = z.object({
  protection: z
    .object({
      required_status_checks: z
        .object({
          enforcement_level: z.string().nullish(),
          contexts: z.array(z.string()).nullish(),
          checks: z.array(z.object({ context: z.string(), app_id: z.int().nullish() })).nullish(),
        })
        .nullish(),
    })
    .nullish(),
});

/** The rules of all rulesets that apply to a branch. Parameters are read only for required checks. */
export const branchRulesSchema = z.array(
  z.object({
    type: z.string(),
    parameters: z
      .object({
        required_status_checks: z
          .array(z.object({ context: z.string(), integration_id: z.int().nullish() }))
          .optional(),
      })
      .nullish(),
  }),
);
