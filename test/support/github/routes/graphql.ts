import { z } from 'zod';
import { GraphqlError, select } from '../graphql/node.ts';
import { parseQuery } from '../graphql/parse.ts';
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
    const headers = { 'x-ratelimit-resource': 'graphql' };
    try {
      const { kind, selections } = parseQuery(query, variables);
      const root = kind === 'mutation' ? mutationNode(state, token) : queryNode(state, token);
      return { ...json({ data: select(root, selections) }), headers };
    } catch (error) {
      if (!(error instanceof GraphqlError)) throw error;
      const { type, message, path } = error;
      return { ...json({ data: null, errors: [{ type, path, message }] }), headers };
    }
  });
}
