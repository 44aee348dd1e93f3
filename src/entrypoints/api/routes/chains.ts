import { z } from 'zod';
import { CHAIN_NAME } from '../../../domain/chain/chain.ts';
import { CHAIN_STATUSES } from '../../../domain/chain/stored.ts';
import { RUN_STATUSES } from '../../../domain/run/run.ts';
import { type UsedChain, usedChains } from '../../../engine/configuration/used-chains.ts';
import { definitionJson, definitionJsonSchema } from '../../../messages/cli/chain-json.ts';
import { storedJson, storedJsonSchema } from '../../../messages/cli/stored-chains.ts';
import { stepFigures } from '../../../messages/run/step-times.ts';
import { cursorOf, NO_QUERY, pageCursor, pageLimit, pageOf, type Route, route } from '../route.ts';

/** Of how many runs the times of steps are. */
const RUNS_OF_TIMES = 100;
const SCHEDULES = 50;

const usedChainSchema = z.strictObject({
  name: z.string(),
  repository: z.string(),
  /** What the operator says about it in that repository. */
  state: z.enum(CHAIN_STATUSES),
  /** How many, by status. */
  runs: z.partialRecord(z.enum(RUN_STATUSES), z.int()),
  newest_run: z.strictObject({ id: z.string(), created_at: z.iso.datetime() }),
});

const position = z.tuple([z.iso.datetime(), z.string()]).transform(([at, id]) => ({ at: new Date(at), id }));

/** What is known of chains. */
export const CHAIN_ROUTES: readonly Route[] = [
  route({
    at: '/chains',
    id: 'listChains',
    about:
      'Each chain in each repository in which it ran, the one with the newest run first. With a state, a page can have few or no items and still a `next`.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      limit: pageLimit,
      cursor: pageCursor(position),
      repository: z.string().optional().describe('`owner/name`.'),
      state: z.enum(CHAIN_STATUSES).optional(),
    }),
    answer: pageOf(usedChainSchema),
    async handle({ query: { limit, cursor, repository, state }, read, visible, isOperator }) {
      const { uses, next } = await usedChains(
        read,
        { visible, isOperator },
        { repository, state, page: { limit, after: cursor } },
      );
      return { items: uses.map(usedJson), next: next ? cursorOf(next.at.toISOString(), next.id) : null };
    },
  }),
  route({
    at: '/chains/{name}',
    id: 'getChain',
    about:
      'One chain over the repositories in which it ran, at most 500: how long its steps take in the newest 100 runs that ended, when it fires next, and what is stored about it on the server.',
    scope: 'read',
    path: z.strictObject({ name: z.string().regex(CHAIN_NAME) }),
    query: NO_QUERY,
    answer: z.strictObject({
      name: z.string(),
      /** As its newest run began with it; `null` if it has not run. */
      definition: definitionJsonSchema.nullable(),
      repositories: z.array(usedChainSchema.omit({ name: true })),
      steps: z.array(z.strictObject({ id: z.string(), runs: z.int(), median_ms: z.int(), p95_ms: z.int() })),
      next_firings: z.array(
        z.strictObject({ repository: z.string(), trigger: z.string(), at: z.iso.datetime() }),
      ),
      stored: z.array(storedJsonSchema),
    }),
    async handle({ path: { name }, read, visible, isOperator }) {
      const { uses, stored } = await usedChains(read, { visible, isOperator }, { names: [name] });
      const [last] = uses;
      if (!last && stored.length === 0) return undefined;
      const newest = last && (await read.runs.get(last.newest.id));
      const times = await read.operations.stepTimes(visible, name, RUNS_OF_TIMES);
      const schedules = await read.schedules.upcoming(SCHEDULES, { chain: name, visible });
      return {
        name,
        definition: newest ? definitionJson(newest.definition) : null,
        repositories: uses.map((use) => {
          const { name: _, ...rest } = usedJson(use);
          return rest;
        }),
        steps: stepFigures(times).map(({ id, runs, medianMs, p95Ms }) => ({
          id,
          runs,
          median_ms: medianMs,
          p95_ms: p95Ms,
        })),
        next_firings: schedules.map(({ repository, trigger, nextAt }) => ({
          repository,
          trigger,
          at: nextAt.toISOString(),
        })),
        stored: stored.map(storedJson),
      };
    },
  }),
];

function usedJson({ chain, repository, state, runs, newest }: UsedChain) {
  return {
    name: chain,
    repository,
    state,
    runs,
    newest_run: { id: newest.id, created_at: newest.at.toISOString() },
  };
}
