import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import { GitHubError, type Repo, type SharedWrite, type Written, writeAlone } from '../../ports/github.ts';
import { checkRunInput } from './check-run.ts';
import type { Client, MutationField } from './client.ts';
import { RequestFailure } from './failure.ts';
import { bigId, type NodeIds } from './node-ids.ts';
import { MAX_BODY_LENGTH } from './writer.ts';

/*
 * Several writes in one GraphQL request. Its fields are executed one after another, and each fails for itself
 * (https://spec.graphql.org/October2021/#sec-Mutation, #sec-Handling-Field-Errors). build2's GitHub App creates its check runs in
 * the same way (https://github.com/build2/bbot, mod-ci-github-gq.cxx). GitHub counts 5 points for the request, whatever
 * number of mutations it has, and each comment as created content:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
 */

/** How the fields of a mutation are written. The inputs: https://docs.github.com/en/graphql/reference/mutations */
const MUTATIONS: Readonly<Record<SharedWrite['kind'], { name: string; input: string; answer: string }>> = {
  create_check_run: {
    name: 'createCheckRun',
    input: 'CreateCheckRunInput',
    answer: 'checkRun { id databaseId permalink }',
  },
  update_check_run: { name: 'updateCheckRun', input: 'UpdateCheckRunInput', answer: 'checkRun { id }' },
  create_comment: {
    name: 'addComment',
    input: 'AddCommentInput',
    answer: 'commentEdge { node { id fullDatabaseId author { __typename ... on Bot { databaseId } } } }',
  },
  update_comment: {
    name: 'updateIssueComment',
    input: 'UpdateIssueCommentInput',
    answer: 'issueComment { id }',
  },
};

const checkRun = z.object({ id: z.string(), databaseId: z.int(), permalink: z.string() });
const author = z.object({ __typename: z.string(), databaseId: z.int().optional() }).nullish().catch(null);
const comment = z.object({ id: z.string(), fullDatabaseId: bigId, author });

const ANSWERS: Readonly<Record<SharedWrite['kind'], z.ZodType<Written>>> = {
  create_check_run: z.object({ checkRun }).transform(({ checkRun: { id, databaseId, permalink } }) => ({
    id: databaseId,
    nodeId: id,
    url: permalink,
  })),
  update_check_run: z.object({ checkRun: z.object({ id: z.string() }) }).transform(() => ({})),
  create_comment: z
    .object({ commentEdge: z.object({ node: comment }) })
    .transform(({ commentEdge: { node } }) => ({
      id: node.fullDatabaseId,
      nodeId: node.id,
      authorId: node.author?.__typename === 'Bot' ? node.author.databaseId : undefined,
    })),
  update_comment: z.object({ issueComment: z.object({ id: z.string() }) }).transform(() => ({})),
};

/**
 * The types of an error with which GitHub refuses a field, so that nothing was written. REST then says why. Any other error
 * leaves open what was written.
 */
const REFUSALS: readonly (string | undefined)[] = ['NOT_FOUND', 'FORBIDDEN', 'UNPROCESSABLE'];

/** For how long REST is used after GraphQL failed, or did not know a mutation, in milliseconds. */
const FAILED_MS = 60_000;
const UNKNOWN_MS = 600_000;

/** Sends the writes in one request where that is possible, and each alone otherwise. The results are in their order. */
export async function writeTogether(
  client: Client,
  nodeIds: NodeIds,
  writer: Parameters<typeof writeAlone>[0],
  repo: Repo,
  writes: readonly SharedWrite[],
): Promise<PromiseSettledResult<Written>[]> {
  const results = new Map<SharedWrite, Promise<Written>>();
  const fields = new Map<SharedWrite, MutationField>();
  for (const write of writes) {
    const input = nodeIds.usable() ? inputOf(write, repo, nodeIds) : undefined;
    const { name, input: type, answer } = MUTATIONS[write.kind];
    if (input) fields.set(write, { name, type, input, answer });
  }
  if (fields.size > 1) {
    const shared = [...fields.keys()];
    for (const [index, result] of (await send(client, nodeIds, shared, [...fields.values()])).entries()) {
      const write = shared[index];
      if (write && result) results.set(write, result);
    }
  }
  return Promise.allSettled(writes.map((write) => results.get(write) ?? writeAlone(writer, repo, write)));
}

/** @returns `undefined` for a write that certainly was not executed, and must be sent alone */
async function send(
  client: Client,
  nodeIds: NodeIds,
  writes: readonly SharedWrite[],
  fields: readonly MutationField[],
): Promise<(Promise<Written> | undefined)[]> {
  try {
    const answers = await client.mutateEach(fields);
    if (answers === 'invalid') {
      nodeIds.distrust(UNKNOWN_MS);
      return writes.map(() => undefined);
    }
    if (answers.every(({ data, error }) => !data && !error)) nodeIds.distrust(FAILED_MS);
    return writes.map((write, index) => {
      const { data, error } = answers[index] ?? {};
      const parsed = ANSWERS[write.kind].safeParse(data);
      if (parsed.success) return Promise.resolve(parsed.data);
      if (error?.path?.length === 1 && REFUSALS.includes(error.type)) return undefined;
      return failed(unanswered(error?.type));
    });
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    // Of GraphQL's own limit, or by this app's own: nothing was sent.
    if (error.kind === 'rate_limited' && (error.status === 200 || error.status === 0))
      return writes.map(() => undefined);
    if (error.kind === 'unavailable') nodeIds.distrust(FAILED_MS);
    return writes.map(() => failed(error));
  }
}

function failed(error: GitHubError): Promise<Written> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

function unanswered(type: string | undefined): GitHubError {
  const said = `but not whether it wrote: ${type ?? 'no error'}`;
  return new RequestFailure({
    kind: 'unavailable',
    status: 200,
    route: 'POST /graphql',
    said,
    signIn: false,
  });
}

/** `undefined` for what GraphQL cannot write: an unknown id, or more than fits into one request. */
function inputOf(write: SharedWrite, repo: Repo, nodeIds: NodeIds): object | undefined {
  switch (write.kind) {
    case 'create_check_run': {
      const repositoryId = nodeIds.ofRepository(repo);
      const input = checkRunInput(write.content);
      return repositoryId !== undefined && input
        ? { repositoryId, headSha: write.content.head_sha, ...input }
        : undefined;
    }
    case 'update_check_run': {
      const repositoryId = nodeIds.ofRepository(repo);
      const input = checkRunInput(write.content);
      return repositoryId !== undefined && write.nodeId !== undefined && input
        ? { repositoryId, checkRunId: write.nodeId, ...input }
        : undefined;
    }
    case 'create_comment': {
      const subjectId = nodeIds.ofPullRequest(repo, write.issue);
      return subjectId && isShort(write.body) ? { subjectId, body: write.body } : undefined;
    }
    case 'update_comment':
      return write.nodeId && isShort(write.body) ? { id: write.nodeId, body: write.body } : undefined;
    default:
      return unreachable(write);
  }
}

function isShort(body: string): boolean {
  return body.length <= MAX_BODY_LENGTH;
}
