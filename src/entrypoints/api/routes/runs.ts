import { z } from 'zod';
import { explain } from '../../../domain/run/explain.ts';
import { RUN_STATUSES } from '../../../domain/run/run.ts';
import { artifactJson, artifactJsonSchema } from '../../../messages/cli/artifact.ts';
import { historyLines, runWithHistorySchema } from '../../../messages/cli/history.ts';
import {
  runJson,
  runJsonSchema,
  runSummaryJson,
  runSummarySchema,
  whyJson,
  whyJsonSchema,
  wouldWriteJson,
} from '../../../messages/cli/run-json.ts';
import type { ReadTx } from '../../../ports/storage.ts';
import type { Visible } from '../../../ports/visible.ts';
import {
  NO_QUERY,
  pageCursor,
  pageLimit,
  pageOf,
  type Route,
  route,
  runCursorOf,
  runPosition,
} from '../route.ts';

const runPath = z.strictObject({ id: z.string().describe('The id of a run.') });

/** What is known of runs. */
export const RUN_ROUTES: readonly Route[] = [
  route({
    at: '/runs',
    id: 'listRuns',
    about: 'Runs, newest first.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      limit: pageLimit,
      cursor: pageCursor(runPosition),
      repository: z.string().optional().describe('`owner/name`.'),
      pull_request: z.coerce.number().int().positive().optional(),
      chain: z.string().optional(),
      status: z.enum(RUN_STATUSES).optional(),
      active: z.stringbool().optional().describe('Only unfinished runs, or only finished ones.'),
    }),
    answer: pageOf(runSummarySchema),
    async handle({ query, read, visible }) {
      const { limit, cursor, repository, pull_request, chain, status, active } = query;
      const runs = await read.runs.list({
        ...(visible.ids && { repositoryIds: visible.ids }),
        ...(repository !== undefined && { repository }),
        ...(pull_request !== undefined && { pullRequest: pull_request }),
        ...(chain !== undefined && { chain }),
        ...(status !== undefined && { status }),
        ...(active !== undefined && { active }),
        ...(cursor && { before: cursor }),
        limit: limit + 1,
      });
      const shown = runs.slice(0, limit);
      const last = runs.length > limit ? shown.at(-1) : undefined;
      return { items: shown.map(runSummaryJson), next: last ? runCursorOf(last) : null };
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
      const [sessions, transitions, effects] = await Promise.all([
        read.runs.sessionsOf(path.id),
        read.runs.historyOf(path.id),
        read.effects.ofRun(path.id),
      ]);
      return {
        ...runJson(state, pages),
        would_write: wouldWriteJson(effects),
        history: historyLines(state, sessions, transitions),
      };
    },
  }),
  route({
    at: '/runs/{id}/events',
    id: 'followRun',
    about: 'A run with its steps, at once and whenever it changes.',
    scope: 'read',
    path: runPath,
    query: NO_QUERY,
    answer: runJsonSchema,
    stamp: ({ path, read }) => read.runs.stamp(path.id),
    async handle({ path, read, visible, pages }) {
      const state = await visibleRun(read, visible, path.id);
      return state && runJson(state, pages);
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
];

async function visibleRun(read: ReadTx, visible: Visible, id: string) {
  const state = await read.runs.load(id);
  return state && visible.has(state.run.repositoryId) ? state : undefined;
}
