import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import type { Token } from '../auth.ts';
import { GraphqlError, select } from '../graphql/node.ts';
import { parseQuery, type Selection } from '../graphql/parse.ts';
import { mutationNode, queryNode, writtenNode } from '../graphql/schema.ts';
import { sameAsWritten, WRITTEN } from '../graphql/written.ts';
import { type Call, json, type Reply, type Router } from '../router.ts';
import { parse } from './input.ts';

const Question = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).default({}),
});

/** GitHub's GraphQL, which has its own limits and reports errors with the status 200. */
export function graphqlRoutes(router: Router): void {
  router.installationOrPerson('POST', '/graphql', (call) => {
    const { state, token, body } = call;
    const { query, variables } = parse(Question, body);
    const errors: GraphqlError[] = [];
    try {
      const { kind, selections } = parseQuery(query, variables);
      const graphqlPoints = pointsOf(selections);
      if (kind === 'mutation' && token.person)
        throw new ApiError(403, 'Resource not accessible by integration');
      if (kind === 'mutation') return { ...mutate(router, call, selections), graphqlPoints };
      const data = select(queryNode(state, token, errors), selections);
      const beside = errors.length > 0 ? { errors: errors.map(viewError) } : {};
      return { ...json({ data, ...beside }), graphqlPoints };
    } catch (error) {
      if (!(error instanceof GraphqlError)) throw error;
      return { ...json({ data: null, errors: [viewError(error)] }), graphqlPoints: 1 };
    }
  });
}

/**
 * Carries out the fields of a mutation one after another. A field that fails is `null` beside its error, and those after it are
 * carried out all the same: https://spec.graphql.org/October2021/#sec-Mutation and #sec-Handling-Field-Errors. A field that does
 * not exist is an error before anything is carried out, without data: #sec-Validation.
 */
function mutate(router: Router, call: Call & { token: Token }, selections: readonly Selection[]): Reply {
  const unknown = selections.find((one) => !isValid(one));
  if (unknown) {
    const message = `Field '${unknown.name}' doesn't exist on type 'Mutation'`;
    const error = { path: ['mutation', unknown.alias], extensions: { code: 'undefinedField' }, message };
    return json({ errors: [error] });
  }
  const data: Record<string, unknown> = {};
  const errors: object[] = [];
  for (const selection of selections) {
    if (call.isOver?.(Object.keys(data).length)) break;
    try {
      Object.assign(data, mutateOne(router, call, selection));
    } catch (error) {
      if (!(error instanceof GraphqlError)) throw error;
      data[selection.alias] = null;
      errors.push(viewError(error));
    }
  }
  return json({ data, ...(errors.length > 0 ? { errors } : {}) });
}

function isValid({ name, selections }: Selection): boolean {
  const fields: readonly string[] | undefined = Object.hasOwn(WRITTEN, name)
    ? WRITTEN[name as keyof typeof WRITTEN]
    : undefined;
  return fields === undefined
    ? ['enqueuePullRequest', 'dequeuePullRequest', 'minimizeComment', 'resolveReviewThread'].includes(name)
    : selections.every((one) => fields.includes(one.name));
}

function mutateOne(
  router: Router,
  call: Call & { token: Token },
  selection: Selection,
): Record<string, unknown> {
  const { state, token } = call;
  if (!Object.hasOwn(WRITTEN, selection.name)) return select(mutationNode(state, token), [selection]);
  const path = [selection.alias];
  const rest = sameAsWritten(state, selection);
  if (!rest)
    throw new GraphqlError('NOT_FOUND', 'Could not resolve to a node with the global id of an input.', path);
  if (call.fails?.(rest)) throw new GraphqlError('UNPROCESSABLE', 'It does not work in REST either.', path);
  try {
    const [, , owner = '', name = ''] = rest.path.split('/');
    if (state.findRepository(owner, name)?.archived)
      throw new ApiError(403, 'Repository was archived so is read-only.');
    const handle = router.match(rest.method, rest.path);
    const reply = handle?.({ ...call, body: rest.body });
    return select(writtenNode(state, token, selection.name, reply?.body), [selection]);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, message } = error;
    const type = status === 404 ? 'NOT_FOUND' : status === 403 ? 'FORBIDDEN' : 'UNPROCESSABLE';
    throw new GraphqlError(type, message, path);
  }
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
    const { first, last, ids } = args;
    const size = first ?? last;
    const own = typeof size === 'number' ? times : 0;
    const entries = typeof size === 'number' ? size : Array.isArray(ids) ? ids.length : 1;
    return sum + own + connectionsIn(inner, times * entries);
  }, 0);
}
