import { z } from 'zod';
import type { EffectOf } from '../../domain/effect/effect.ts';
import { type Backported, type GitCommit, GitHubError, type Repo } from '../../ports/github.ts';
import type { Client } from './client.ts';
import { isAbsent, RequestFailure } from './failure.ts';
import { readOwnAccount } from './own.ts';

/**
 * Copies a change to another branch with GitHub's own merge, as tibdex/github-cherry-pick does. GitHub merges on the server
 * only into a branch, so there is a temporary one: its commit has the target's files, and the change's parent as its own.
 * Merging the change into it applies the change to those files:
 * https://github.com/tibdex/github-cherry-pick#readme and https://docs.github.com/en/rest/branches/branches#merge-a-branch
 *
 * Rejected: a clone of the repository, which needs git, room for any size, and a copy of everything on our disk.
 */
export async function backport(
  client: Client,
  repo: Repo,
  change: EffectOf<'backport'>,
): Promise<Backported> {
  const at = { owner: repo.owner, repo: repo.name };
  const known = await findPullRequest();
  if (known) return known;
  const made = await tipOf(change.branch);
  if (made === undefined) {
    const failed = await makeBranch();
    if (failed) return failed;
  } else if (!(await isOurs(made))) {
    throw new GitHubError('invalid', 0, `The branch ${change.branch} exists already, with other commits.`);
  }
  return openPullRequest();

  /**
   * Whether the branch is what an attempt that was cut off has left. Anybody who can write can make one with that name and
   * message, so everything is compared with what an attempt makes. The target may have moved since.
   */
  async function isOurs(tip: string): Promise<boolean> {
    const { message, parents, tree, author } = await readCommit(client, repo, tip);
    const [below, ...more] = parents;
    const hasAuthor = author.name === change.author.name && author.email === change.author.email;
    if (below === undefined || more.length > 0 || !hasAuthor || message.trim() !== change.message.trim())
      return false;
    const history = await client.request(
      'GET /repos/{owner}/{repo}/commits',
      { ...at, sha: change.onto, per_page: 100 },
      z.array(z.object({ sha: z.string() })),
    );
    if (!history.some(({ sha }) => sha === below)) return false;
    return tree === (await mergedInto((await readCommit(client, repo, below)).tree));
  }

  async function makeBranch(): Promise<Backported | undefined> {
    const onto = await tipOf(change.onto);
    if (onto === undefined) throw new GitHubError('invalid', 0, `There is no branch ${change.onto}.`);
    const before = await readCommit(client, repo, onto);
    const tree = await mergedInto(before.tree);
    if (tree === undefined) return { result: 'conflict' };
    if (tree === before.tree) return { result: 'nothing' };
    const { message, author } = change;
    await createBranch(change.branch, await createCommit({ tree, parents: [onto], message, author }));
    return undefined;
  }

  /** The tree with the change; `undefined` on a conflict. */
  async function mergedInto(tree: string): Promise<string | undefined> {
    // No workflow runs for a push whose last commit says so:
    // https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs
    const message = `${TEMPORARY} ${change.branch} [skip ci]`;
    const sibling = await createCommit({ tree, parents: [change.parent], message });
    const branch = `countersign/temporary/${change.branch.replaceAll('/', '-')}`;
    await removeLeftover(branch);
    await createBranch(branch, sibling);
    try {
      const merged = await client.request(
        'POST /repos/{owner}/{repo}/merges',
        { ...at, base: branch, head: change.picked, commit_message: message },
        mergedSchema,
      );
      // Anybody who can write could have pushed to the branch meanwhile.
      if (merged.parents[0]?.sha !== sibling)
        throw new GitHubError('invalid', 0, `Somebody else pushed to ${branch}.`);
      return merged.commit.tree.sha;
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 409) return undefined;
      throw error;
    } finally {
      // If this fails, the next attempt removes it.
      await deleteBranch(branch).catch(() => undefined);
    }
  }

  /** What an attempt that was cut off has left. A branch that somebody else made stays. */
  async function removeLeftover(branch: string): Promise<void> {
    const tip = await tipOf(branch);
    if (tip === undefined) return;
    const { message } = await readCommit(client, repo, tip);
    if (message.startsWith(TEMPORARY)) await deleteBranch(branch);
  }

  /**
   * Ours in any state: one that a person closed is not opened again. Anybody who can write can open one from that branch before us,
   * with other commits, and must not have it taken for the copy.
   */
  async function findPullRequest(): Promise<Backported | undefined> {
    const found = await client.request(
      'GET /repos/{owner}/{repo}/pulls',
      { ...at, state: 'all', head: `${repo.owner}:${change.branch}`, base: change.onto, per_page: 100 },
      pullRequestsSchema,
    );
    const ownId = found.some(({ user }) => user?.type === 'Bot') ? await readOwnAccount(client) : undefined;
    const own = found.find(({ user }) => user?.type === 'Bot' && user.id === ownId);
    if (own) return { result: 'opened', number: own.number, url: own.html_url };
    const other = found.find(({ state }) => state === 'open');
    if (other)
      throw new GitHubError('invalid', 0, `Somebody else has opened #${other.number} from ${change.branch}.`);
    return undefined;
  }

  async function openPullRequest(): Promise<Backported> {
    const { branch: head, onto: base, title, body } = change;
    const parameters = { ...at, head, base, title, body };
    return client.request('POST /repos/{owner}/{repo}/pulls', parameters, openedSchema);
  }

  async function tipOf(branch: string): Promise<string | undefined> {
    try {
      const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
      return (await client.request(route, { ...at, ref: `heads/${branch}` }, refSchema)).object.sha;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  async function createCommit(commit: {
    tree: string;
    parents: string[];
    message: string;
    author?: GitCommit['author'];
  }): Promise<string> {
    const route = 'POST /repos/{owner}/{repo}/git/commits';
    return (await client.request(route, { ...at, ...commit }, z.object({ sha: z.string() }))).sha;
  }

  async function createBranch(branch: string, sha: string): Promise<void> {
    const parameters = { ...at, ref: `refs/heads/${branch}`, sha };
    await client.request('POST /repos/{owner}/{repo}/git/refs', parameters, z.object({ ref: z.string() }));
  }

  async function deleteBranch(branch: string): Promise<void> {
    const parameters = { ...at, ref: `heads/${branch}` };
    await client.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', parameters, z.unknown());
  }
}

/** The message of our temporary commits begins so. */
const TEMPORARY = 'Temporary commit of Countersign for';

const mergedSchema = z.object({
  parents: z.array(z.object({ sha: z.string() })),
  commit: z.object({ tree: z.object({ sha: z.string() }) }),
});
const refSchema = z.object({ object: z.object({ sha: z.string() }) });
const openedSchema = z
  .object({ number: z.int(), html_url: z.string() })
  .transform(({ number, html_url: url }) => ({ result: 'opened' as const, number, url }));
const pullRequestsSchema = z.array(
  z.object({
    number: z.int(),
    html_url: z.string(),
    state: z.string(),
    user: z.object({ id: z.int(), type: z.string() }).nullable(),
  }),
);

const commitSchema = z
  .object({
    sha: z.string(),
    message: z.string(),
    tree: z.object({ sha: z.string() }),
    parents: z.array(z.object({ sha: z.string() })),
    author: z.object({ name: z.string(), email: z.string(), date: z.string() }),
  })
  .transform(({ tree, parents, ...commit }) => ({
    ...commit,
    tree: tree.sha,
    parents: parents.map(({ sha }) => sha),
  }));

export function readCommit(client: Client, { owner, name }: Repo, sha: string): Promise<GitCommit> {
  const route = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}';
  return client.request(route, { owner, repo: name, commit_sha: sha }, commitSchema);
}
