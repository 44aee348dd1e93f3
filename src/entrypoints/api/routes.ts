import { z } from 'zod';
import { explain } from '../../domain/run/explain.ts';
import { RUN_STATUSES } from '../../domain/run/run.ts';
import { artifactJson, artifactJsonSchema } from '../../messages/cli/artifact.ts';
import { deliveryJson, deliveryJsonSchema } from '../../messages/cli/delivery-json.ts';
import { historyLines, runWithHistorySchema } from '../../messages/cli/history.ts';
import { runJson, runJsonSchema, whyJson, whyJsonSchema } from '../../messages/cli/run-json.ts';
import { DELIVERY_STATUSES, type ReadTx } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';
import { NO_QUERY, pageOf, pageQuery, type Route, route } from './route.ts';

const runPath = z.strictObject({ id: z.string().describe('The id of a run.') });
const pullRequestPath = z.strictObject({
  owner: z.string(),
  repo: z.string(),
  number: z.coerce.number().int().positive(),
});

const runSummarySchema = runJsonSchema.omit({ steps: true, delivery: true, reason: true });
const whyOfRunSchema = z.strictObject({
  run_id: z.string(),
  chain: z.string(),
  status: z.enum(RUN_STATUSES),
  why: whyJsonSchema,
});

/** All routes of the API, in the order of its description. */
export const ROUTES: readonly Route[] = [
  route({
    at: '/runs',
    id: 'listRuns',
    about: 'Runs, newest first.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      ...pageQuery,
      repository: z.string().optional().describe('`owner/name`.'),
      pull_request: z.coerce.number().int().positive().optional(),
      chain: z.string().optional(),
      status: z.enum(RUN_STATUSES).optional(),
      active: z.stringbool().optional().describe('Only unfinished runs, or only finished ones.'),
    }),
    answer: pageOf(runSummarySchema),
    async handle({ query, read, visible }) {
      const { limit, cursor, repository, pull_request, chain, status, active } = query;
      const before = cursor === undefined ? undefined : positionOf(cursor);
      const runs = await read.runs.list({
        ...(visible.ids && { repositoryIds: visible.ids }),
        ...(repository !== undefined && { repository }),
        ...(pull_request !== undefined && { pullRequest: pull_request }),
        ...(chain !== undefined && { chain }),
        ...(status !== undefined && { status }),
        ...(active !== undefined && { active }),
        ...(before && { before }),
        limit: limit + 1,
      });
      const shown = runs.slice(0, limit);
      const last = runs.length > limit ? shown.at(-1) : undefined;
      return {
        items: shown.map((run) => ({
          id: run.id,
          chain: run.chain,
          status: run.status,
          repository: run.repository,
          pull_request: run.pullRequest,
          head_sha: run.headSha,
          created_at: run.createdAt.toISOString(),
          updated_at: run.updatedAt.toISOString(),
        })),
        next: last ? cursorOf(last) : null,
      };
    },
  }),
  route({
    at: '/runs/{id}',
    id: 'getRun',
    about: 'A run with its steps and how it came to be where it is.',
    scope: 'read',
    path: runPath,
    query: NO_QUERY,
    answer: runWithHistorySchema,
    async handle({ path, read, visible, pages }) {
      const state = await visibleRun(read, visible, path.id);
      if (!state) return undefined;
      const [sessions, transitions] = await Promise.all([
        read.runs.sessionsOf(path.id),
        read.runs.historyOf(path.id),
      ]);
      return { ...runJson(state, pages), history: historyLines(state, sessions, transitions) };
    },
  }),
  route({
    at: '/runs/{id}/why',
    id: 'explainRun',
    about: 'Why the run does or does not merge, as its check run says it.',
    scope: 'read',
    path: runPath,
    query: NO_QUERY,
    answer: whyJsonSchema,
    async handle({ path, read, visible }) {
      const state = await visibleRun(read, visible, path.id);
      return state && whyJson(explain(state, (await read.approvals.ofRun(path.id)).at(-1) ?? null));
    },
  }),
  route({
    at: '/runs/{id}/artifacts',
    id: 'listArtifactsOfRun',
    about: 'What the steps of a run left: outcomes with their content, and the names of files.',
    scope: 'read',
    path: runPath,
    query: NO_QUERY,
    answer: z.array(artifactJsonSchema),
    async handle({ path, read, visible }) {
      const state = await visibleRun(read, visible, path.id);
      return state && (await read.artifacts.ofRun(path.id)).map(artifactJson);
    },
  }),
  route({
    at: '/artifacts/{id}',
    id: 'getArtifact',
    about: 'One artifact.',
    scope: 'read',
    path: z.strictObject({ id: z.string().describe('The id of an artifact.') }),
    query: NO_QUERY,
    answer: artifactJsonSchema,
    async handle({ path, read, visible }) {
      const artifact = await read.artifacts.get(path.id);
      const run = artifact && (await read.runs.get(artifact.runId));
      return artifact && run && visible.has(run.repositoryId) ? artifactJson(artifact) : undefined;
    },
  }),
  route({
    at: '/repos/{owner}/{repo}/pulls/{number}/why',
    id: 'explainPullRequest',
    about: 'Why a pull request does or does not merge: the current run of each chain for its newest head.',
    scope: 'read',
    path: pullRequestPath,
    query: NO_QUERY,
    answer: z.array(whyOfRunSchema),
    async handle({ path, read, visible }) {
      const repository = `${path.owner}/${path.repo}`;
      const [newest] = await read.runs.list({ repository, pullRequest: path.number, limit: 1 });
      if (!newest || !visible.has(newest.repositoryId)) return undefined;
      const of = { repositoryId: newest.repositoryId, pullRequest: path.number };
      const runs = (await read.runs.current(of)).filter(({ headSha }) => headSha === newest.headSha);
      return Promise.all(
        runs.map(async ({ id, chain, status }) => {
          const state = await read.runs.load(id);
          const approval = (await read.approvals.ofRun(id)).at(-1) ?? null;
          return state && { run_id: id, chain, status, why: whyJson(explain(state, approval)) };
        }),
      );
    },
  }),
  route({
    at: '/deliveries',
    id: 'listDeliveries',
    about: 'Received webhooks, newest first, without their bodies. They concern the whole installation.',
    scope: 'operate',
    path: NO_QUERY,
    query: z.strictObject({ limit: pageQuery.limit, status: z.enum(DELIVERY_STATUSES).optional() }),
    answer: z.array(deliveryJsonSchema),
    async handle({ query: { limit, status }, read, visible }) {
      if (visible.ids !== undefined) return undefined;
      return (await read.deliveries.list({ limit, ...(status !== undefined && { status }) })).map(
        deliveryJson,
      );
    },
  }),
];

async function visibleRun(read: ReadTx, visible: Visible, id: string) {
  const state = await read.runs.load(id);
  return state && visible.has(state.run.repositoryId) ? state : undefined;
}

const positionSchema = z.tuple([z.iso.datetime(), z.string()]);

function cursorOf({ createdAt, id }: { createdAt: Date; id: string }): string {
  return Buffer.from(JSON.stringify([createdAt.toISOString(), id])).toString('base64url');
}

/** @throws z.ZodError if the text is no cursor of ours */
function positionOf(cursor: string): { createdAt: Date; id: string } {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const read = z.string().transform((value, ctx) => {
    try {
      return positionSchema.parse(JSON.parse(value));
    } catch {
      ctx.addIssue({ code: 'custom', message: 'is not the `next` of a page before' });
      return z.NEVER;
    }
  });
  const parsed = z.object({ cursor: read }).parse({ cursor: text });
  return { createdAt: new Date(parsed.cursor[0]), id: parsed.cursor[1] };
}
