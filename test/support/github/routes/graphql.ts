import { z } from 'zod';
import { GraphqlError, select } from '../graphql/node.ts';
import { parseQuery, type Selection } from '../graphql/parse.ts';
import { mutationNode, queryNode } from '../graphql/schema.ts';
import { json, type Router } from '../router.ts';
import { parse } from './input.ts';

const Question = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).default({}),
});

/** GitHub's GraphQL, which has its own limits and reports errors with the status 200. */
export function graphqlRoutes(router: Router): void {
  router.installation('POST', '/graphql', ({ state, token, body }) => {
    const { query, variables } = parse(Question, body);
    const errors: GraphqlError[] = [];
    try {
      const { kind, selections } = parseQuery(query, variables);
      const graphqlPoints = pointsOf(selections);
      const root = kind === 'mutation' ? mutationNode(state, token) : queryNode(state, token, errors);
      const data = select(root, selections);
      const beside = errors.length > 0 ? { errors: errors.map(viewError) } : {};
      return { ...json({ data, ...beside }), graphqlPoints };
    } catch (error) {
      if (!(error instanceof GraphqlError)) throw error;
      return { ...json({ data: null, errors: [viewError(error)] }), graphqlPoints: 1 };
    }
  });
}

function viewError({ type, message, path }: GraphqlError) {
  return { type, path, message };
}

/**
 * A point for 100 requests that the connections of a query need, at least one. A connection inside of others is
 * needed once for each of their entries:
 * https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#predicting-the-point-value-of-a-query
 */
function pointsOf(selections: readonly Selection[]): number {
  return Math.max(1, Math.round(connectionsIn(selections, 1) / 100));
}

function connectionsIn(selections: readonly Selection[], times: number): number {
  return selections.reduce((sum, { args, selections: inner }) => {
    const { first, ids } = args;
    const own = typeof first === 'number' ? times : 0;
    const entries = typeof first === 'number' ? first : Array.isArray(ids) ? ids.length : 1;
    return sum + own + connectionsIn(inner, times * entries);
  }, 0);
}
