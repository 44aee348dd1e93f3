import { z } from 'zod';
import { notFound } from '../api-error.ts';
import { allows, reaches } from '../auth.ts';
import type { Commit } from '../git/objects.ts';
import { json, type Router } from '../router.ts';
import type { State } from '../state.ts';
import { accountOf } from '../views/commit.ts';
import { commitsOf } from '../views/pull.ts';
import { isPullRequest } from '../world.ts';
import { parse } from './input.ts';

/** Who asks: for an installation's token, the account of the app's bot. */
const WhoAmI = z.object({ query: z.literal('query { viewer { databaseId } }') });

/** Who is credited with the commits of a pull request. */
const Question = z.object({
  query: z.string().regex(/pullRequest\(number: \$number\)[\s\S]*authors\(first: \d+\)/),
  variables: z.object({
    owner: z.string(),
    name: z.string(),
    number: z.int(),
    after: z.string().nullable(),
  }),
});

/** GitHub's GraphQL, which has limits of its own and says what went wrong with the status 200. */
export function graphqlRoutes(router: Router): void {
  router.installation('POST', '/graphql', ({ state, token, body }) => {
    const headers = { 'x-ratelimit-resource': 'graphql' };
    if (WhoAmI.safeParse(body).success)
      return { ...json({ data: { viewer: { databaseId: state.app.bot.id } } }), headers };
    const { query, variables } = parse(Question, body);
    const repository = state.findRepository(variables.owner, variables.name);
    const pr = repository?.issues.get(variables.number);
    if (!repository || !reaches(state, token, repository) || !pr || !isPullRequest(pr)) throw notFound();
    if (!allows(token.permissions, 'pull_requests', 'read')) {
      return { ...json({ data: null, errors: [{ type: 'FORBIDDEN', message: 'Forbidden' }] }), headers };
    }
    const asked = (what: string) => Number(new RegExp(`${what}\\(first: (\\d+)`).exec(query)?.[1] ?? 0);
    const from = Number(variables.after ?? 0);
    const commits = commitsOf(pr);
    const end = Math.min(from + asked('commits'), commits.length);
    const nodes = commits
      .slice(from, end)
      .map((commit) => ({ commit: credited(state, commit, asked('authors')) }));
    const pageInfo = { hasNextPage: end < commits.length, endCursor: String(end) };
    return { ...json({ data: { repository: { pullRequest: { commits: { pageInfo, nodes } } } } }), headers };
  });
}

/** The author first, then whom the trailers name by the address of an account. */
function credited(state: State, { sha, author, message }: Commit, first: number) {
  const trailers = [...message.matchAll(/^co-authored-by:.*<([^<>]+)>\s*$/gim)];
  const emails = [author.email, ...trailers.map((match) => match[1] ?? '')];
  const nodes = emails.map((email) => {
    const account = accountOf(state, { ...author, email });
    return { user: account ? { databaseId: account.id, login: account.login } : null };
  });
  return { oid: sha, authors: { totalCount: nodes.length, nodes: nodes.slice(0, first) } };
}
