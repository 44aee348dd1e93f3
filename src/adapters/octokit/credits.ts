import { z } from 'zod';
import type { CommitCredit, Repo } from '../../ports/github.ts';
import type { Client } from './client.ts';

/**
 * Only GraphQL says which accounts a commit's trailers name:
 * https://docs.github.com/en/graphql/reference/objects#commit (`authors`).
 */
const CREDITS = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      commits(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { commit { oid authors(first: 50) { totalCount nodes { user { databaseId login } } } } }
      }
    }
  }
}`;

/** GitHub lists at most 250 commits of a pull request, so more pages are a loop. */
const MAX_PAGES = 3;

/** `user` is null for an address without an account on GitHub. */
const author = z.object({ user: z.object({ databaseId: z.int(), login: z.string() }).nullable() });
const commit = z.object({
  oid: z.string(),
  authors: z.object({ totalCount: z.int(), nodes: z.array(author) }),
});
const creditsSchema = z.object({
  repository: z.object({
    pullRequest: z.object({
      commits: z.object({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
        nodes: z.array(z.object({ commit })),
      }),
    }),
  }),
});

export async function readCredits(
  client: Pick<Client, 'query'>,
  repo: Repo,
  number: number,
): Promise<CommitCredit[]> {
  const credits: CommitCredit[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const variables = { owner: repo.owner, name: repo.name, number, after };
    const answer: z.infer<typeof creditsSchema> = await client.query(CREDITS, variables, creditsSchema);
    const { nodes, pageInfo } = answer.repository.pullRequest.commits;
    credits.push(...nodes.flatMap((node) => creditOf(node.commit)));
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return credits;
}

function creditOf({ oid, authors }: z.infer<typeof commit>): CommitCredit[] {
  if (authors.totalCount > authors.nodes.length) return [];
  const people = authors.nodes.flatMap(({ user }) =>
    user ? [{ id: user.databaseId, login: user.login }] : [],
  );
  return [{ sha: oid, authors: people, unknown: authors.nodes.length - people.length }];
}
