import type { Octokit } from '@octokit/rest';
import { z } from 'zod';
import { bounded } from '../../core/bounded-fetch.ts';
import type { Clock } from '../../core/clock.ts';
import type { Proposal, Proposed } from '../../ports/proposal.ts';
import { RequestFailure, toFailure } from './failure.ts';
import type { OctokitSource } from './sign-in.ts';
import { type Fetch, redirected } from './transport.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Opens a pull request with new files, as the person whose token the source has. The branch appears only once its commit is
 * complete, and is removed again if GitHub then refuses the pull request. Nothing is forced or written over.
 *
 * Rejected: the contents API, which makes a commit for each file.
 * @throws GitHubError for every other failure
 */
export async function propose(
  { source, clock, fetch = globalThis.fetch }: { source: OctokitSource; clock: Clock; fetch?: Fetch },
  { repo, base, branch, files, title, body }: Proposal,
): Promise<Proposed> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const sending = {
    fetch: redirected(bounded(fetch, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })),
    log: silent,
  };
  const octokit: Pick<Octokit, 'request'> = source.create(undefined, {
    userAgent: 'countersign',
    log: silent,
    request: sending,
  });
  const at = { owner: repo.owner, repo: repo.name };

  if ((await tipOf(branch)) !== undefined) return { kind: 'branch_exists' };
  const parent = await tipOf(base);
  if (parent === undefined) throw refusal(`there is no branch ${base}`);
  const before = await send(
    'GET /repos/{owner}/{repo}/git/commits/{commit_sha}',
    { commit_sha: parent },
    hasTree,
  );
  const tree = await send(
    'POST /repos/{owner}/{repo}/git/trees',
    {
      base_tree: before.tree.sha,
      tree: files.map(({ path, text }) => ({ path, mode: '100644', type: 'blob', content: text })),
    },
    hasSha,
  );
  const commit = await send(
    'POST /repos/{owner}/{repo}/git/commits',
    { message: `${title}\n`, tree: tree.sha, parents: [parent] },
    hasSha,
  );
  if (!(await createBranch(commit.sha))) return { kind: 'branch_exists' };
  try {
    const opened = await send(
      'POST /repos/{owner}/{repo}/pulls',
      { head: branch, base, title, body },
      openedSchema,
    );
    return { kind: 'opened', number: opened.number, url: opened.html_url };
  } catch (error) {
    if (error instanceof RequestFailure && error.kind !== 'unavailable') await removeBranch();
    throw error;
  }

  async function tipOf(name: string): Promise<string | undefined> {
    try {
      return (await send('GET /repos/{owner}/{repo}/git/ref/{ref}', { ref: `heads/${name}` }, refSchema))
        .object.sha;
    } catch (error) {
      if (error instanceof RequestFailure && error.kind === 'not_found') return undefined;
      throw error;
    }
  }

  /** @returns whether it was made: somebody else can have been faster */
  async function createBranch(sha: string): Promise<boolean> {
    try {
      await send(
        'POST /repos/{owner}/{repo}/git/refs',
        { ref: `refs/heads/${branch}`, sha },
        z.object({ ref: z.string() }),
      );
      return true;
    } catch (error) {
      // https://docs.github.com/en/rest/git/refs#create-a-reference
      if (error instanceof RequestFailure && error.status === 422 && /already exists/i.test(error.said))
        return false;
      throw error;
    }
  }

  /** Only what this call made. If it fails, the branch stays, and the next attempt says so. */
  async function removeBranch(): Promise<void> {
    const route = 'DELETE /repos/{owner}/{repo}/git/refs/{ref}';
    await send(route, { ref: `heads/${branch}` }, z.unknown()).catch(() => {});
  }

  async function send<T>(
    route: string,
    parameters: Record<string, unknown>,
    schema: z.ZodType<T>,
  ): Promise<T> {
    try {
      const { data } = await octokit.request(route, {
        ...at,
        ...parameters,
        headers: { 'x-github-api-version': '2022-11-28' },
      });
      return schema.parse(data);
    } catch (error) {
      throw toFailure(error, route, clock.now());
    }
  }
}

function refusal(said: string): RequestFailure {
  return new RequestFailure({
    kind: 'invalid',
    status: 0,
    route: 'POST /repos/{owner}/{repo}/pulls',
    said,
    signIn: false,
  });
}

const hasSha = z.object({ sha: z.string() });
const hasTree = z.object({ tree: hasSha });
const refSchema = z.object({ object: hasSha });
const openedSchema = z.object({ number: z.int(), html_url: z.string() });
