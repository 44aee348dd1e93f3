import { z } from 'zod';
import { explain } from '../../../domain/run/explain.ts';
import { RUN_STATUSES } from '../../../domain/run/run.ts';
import {
  PULL_REQUEST_STATES,
  pullRequestJson,
  pullRequestJsonSchema,
} from '../../../messages/api/pull-request.ts';
import { runSummaryJson, runSummarySchema, whyJson, whyJsonSchema } from '../../../messages/cli/run-json.ts';
import { cursorOf, NO_QUERY, pageCursor, pageLimit, pageOf, type Route, route } from '../route.ts';

/** The most runs of a pull request beside it; `/runs` has all. */
const RUNS_SHOWN = 100;

const path = z.strictObject({
  owner: z.string(),
  repo: z.string(),
  number: z.coerce.number().int().positive(),
});

const position = z
  .tuple([z.int(), z.int()])
  .transform(([repositoryId, number]) => ({ repositoryId, number }));

const whyOfRunSchema = z.strictObject({
  run_id: z.string(),
  chain: z.string(),
  status: z.enum(RUN_STATUSES),
  why: whyJsonSchema,
});

/** What is known of pull requests. */
export const PULL_REQUEST_ROUTES: readonly Route[] = [
  route({
    at: '/pulls',
    id: 'listPullRequests',
    about: 'Pull requests, one repository after another, the highest number first.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      limit: pageLimit,
      cursor: pageCursor(position),
      repository: z.string().optional().describe('`owner/name`.'),
      state: z.enum(PULL_REQUEST_STATES).optional(),
      author: z.string().optional().describe('A login.'),
    }),
    answer: pageOf(pullRequestJsonSchema),
    async handle({ query: { limit, cursor, repository, state, author }, read, visible }) {
      const found = await read.overview.pullRequests(
        {
          visible,
          ...(repository !== undefined && { repository }),
          ...(state !== undefined && { state }),
          ...(author !== undefined && { author }),
        },
        { after: cursor, limit: limit + 1 },
      );
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      return {
        items: shown.map(pullRequestJson),
        next: last ? cursorOf(last.repositoryId, last.number) : null,
      };
    },
  }),
  route({
    at: '/repos/{owner}/{repo}/pulls/{number}',
    id: 'getPullRequest',
    about: `A pull request with its newest runs over all heads, at most ${RUNS_SHOWN}.`,
    scope: 'read',
    path,
    query: NO_QUERY,
    answer: pullRequestJsonSchema.extend({ runs: z.array(runSummarySchema) }),
    async handle({ path: { owner, repo, number }, read, visible }) {
      const found = await read.overview.atAddress(`${owner}/${repo}`, number);
      if (!found || !visible.has(found.repositoryId)) return undefined;
      const runs = await read.runs.list({
        repositoryIds: [found.repositoryId],
        pullRequest: number,
        limit: RUNS_SHOWN,
      });
      return { ...pullRequestJson(found), runs: runs.map(runSummaryJson) };
    },
  }),
  route({
    at: '/repos/{owner}/{repo}/pulls/{number}/why',
    id: 'explainPullRequest',
    about: 'Why a pull request does or does not merge: the current run of each chain for its newest head.',
    scope: 'read',
    path,
    query: NO_QUERY,
    answer: z.array(whyOfRunSchema),
    async handle({ path: { owner, repo, number }, read, visible }) {
      const found = await read.overview.atAddress(`${owner}/${repo}`, number);
      if (!found || !visible.has(found.repositoryId)) return undefined;
      const { repositoryId } = found;
      const [newest] = await read.runs.list({ repositoryIds: [repositoryId], pullRequest: number, limit: 1 });
      const of = { repositoryId, pullRequest: number };
      const runs = (await read.runs.current(of)).filter(({ headSha }) => headSha === newest?.headSha);
      return Promise.all(
        runs.map(async ({ id, chain, status }) => {
          const state = await read.runs.load(id);
          const approval = (await read.approvals.ofRun(id)).at(-1) ?? null;
          return state && { run_id: id, chain, status, why: whyJson(explain(state, approval)) };
        }),
      );
    },
  }),
];
