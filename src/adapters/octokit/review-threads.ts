import { z } from 'zod';
import type { OpenThread, Repo } from '../../ports/github.ts';
import type { Client } from './client.ts';
import { bigId } from './node-ids.ts';

/** A review thread and its first comment: https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread */
const THREADS = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } }
      }
    }
  }
}`;

const threadsSchema = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviewThreads: z.object({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        nodes: z.array(
          z.object({
            id: z.string(),
            isResolved: z.boolean(),
            comments: z.object({ nodes: z.array(z.object({ fullDatabaseId: bigId.nullable() })) }),
          }),
        ),
      }),
    }),
  }),
});

/** 500 threads. Those of later pages stay open. */
const MOST_PAGES = 5;

/** The threads of a pull request that nobody has resolved, oldest first, each by its first comment. */
export async function openThreads(client: Client, repo: Repo, number: number): Promise<OpenThread[]> {
  const open: OpenThread[] = [];
  let after: string | null = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer: z.infer<typeof threadsSchema> = await client.query(
      THREADS,
      { owner: repo.owner, name: repo.name, number, after },
      threadsSchema,
    );
    const { nodes, pageInfo } = answer.repository.pullRequest.reviewThreads;
    for (const { id, isResolved, comments } of nodes) {
      const firstComment = comments.nodes[0]?.fullDatabaseId;
      if (!isResolved && firstComment !== undefined && firstComment !== null) open.push({ id, firstComment });
    }
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return open;
}

/** It exists in GraphQL only: https://docs.github.com/en/graphql/reference/mutations#resolvereviewthread */
const RESOLVE = `mutation ($id: ID!) {
  resolveReviewThread(input: { threadId: $id }) { thread { isResolved } }
}`;

/**
 * Resolves a thread. GitHub asks for `contents: write` beside `pull_requests: write`
 * (https://github.com/github/gh-aw/issues/35726), which an installation may not have accepted. Its comment says in words
 * that it is done, so a refusal is not an error.
 */
export async function resolveThread(client: Client, id: string): Promise<void> {
  await client.mutate(RESOLVE, { id }, z.record(z.string(), z.unknown()));
}
