import { setTimeout as sleep } from 'node:timers/promises';
import { isStatus, type Target, Unavailable } from './target.ts';

export interface ScratchPull {
  number: number;
  nodeId: string;
  headSha: string;
  head: string;
  base: string;
}

/** How often a request is repeated before its answer counts, because GitHub's API may lag behind its own writes. */
const TRIES = 15;

/**
 * Everything that the suite creates in a repository, with what removes it again. All branches begin with the target's prefix and
 * start from the default branch, which nothing here ever writes to; the commits ask CI to skip them.
 */
export class Scratch {
  readonly target: Target;
  readonly #undo: (() => Promise<unknown>)[] = [];
  #shared: Promise<ScratchPull> | undefined;
  #count = 0;

  constructor(target: Target) {
    this.target = target;
  }

  /** One pull request for all assertions that only read it or comment on it. */
  shared(): Promise<ScratchPull> {
    this.#shared ??= this.pullRequest();
    return this.#shared;
  }

  /** One of the suite's own pull requests, for one of its own base branches. */
  async pullRequest(
    options: { draft?: boolean; conflicting?: boolean; message?: string } = {},
  ): Promise<ScratchPull> {
    const { at, octokit } = this.target;
    this.#count += 1;
    const [base, head] = [`base-${this.#count}`, `head-${this.#count}`].map(
      (name) => `${this.target.prefix}/${name}`,
    ) as [string, string];
    await this.branch(base);
    await this.branch(head);
    const headSha = await this.commit(head, `${head}.md`, 'head\n', options.message);
    if (options.conflicting) await this.commit(base, `${head}.md`, 'base\n');
    try {
      const { data } = await octokit.pulls.create({
        ...at,
        title: `Conformance suite ${this.#count}`,
        body: 'Made by the conformance suite of Countersign, which closes it.',
        head,
        base,
        ...(options.draft ? { draft: true } : {}),
      });
      this.#undo.push(() => octokit.pulls.update({ ...at, pull_number: data.number, state: 'closed' }));
      return { number: data.number, nodeId: data.node_id, headSha, head, base };
    } catch (error) {
      if (options.draft && isStatus(error, 422)) throw new Unavailable('the repository has no drafts');
      throw error;
    }
  }

  /** A branch at the tip of the default branch. */
  async branch(name: string): Promise<void> {
    const { at, octokit } = this.target;
    const repository = await octokit.repos.get(at);
    const tip = await octokit.repos.getBranch({ ...at, branch: repository.data.default_branch });
    await octokit.git.createRef({ ...at, ref: `refs/heads/${name}`, sha: tip.data.commit.sha });
    this.#undo.push(() => octokit.git.deleteRef({ ...at, ref: `heads/${name}` }));
  }

  /** @returns the branch's new commit. */
  async commit(branch: string, path: string, text: string, message = 'Conformance suite'): Promise<string> {
    if (!branch.startsWith(`${this.target.prefix}/`))
      throw new Error(`${branch} is none of the suite's own branches.`);
    const { at, octokit } = this.target;
    const { data } = await octokit.repos.createOrUpdateFileContents({
      ...at,
      path,
      branch,
      message: `${message}\n\n[skip ci]`,
      content: Buffer.from(text).toString('base64'),
    });
    const { sha } = data.commit;
    if (sha === undefined) throw new Error('The commit has no name.');
    return sha;
  }

  async comment(number: number, body: string): Promise<number> {
    const { at, octokit } = this.target;
    const { data } = await octokit.issues.createComment({ ...at, issue_number: number, body });
    this.#undo.push(() => octokit.issues.deleteComment({ ...at, comment_id: data.id }));
    return data.id;
  }

  /** A ruleset for one of the suite's own branches. @throws Unavailable if the token may not create one. */
  async requireCheck(branch: string, context: string, appId?: number): Promise<void> {
    const { at, octokit, prefix } = this.target;
    if (!branch.startsWith(`${prefix}/`)) throw new Error(`${branch} is none of the suite's own branches.`);
    try {
      const { data } = await octokit.repos.createRepoRuleset({
        ...at,
        name: `${prefix} ${this.#undo.length}`,
        target: 'branch',
        enforcement: 'active',
        conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
        rules: [
          {
            type: 'required_status_checks',
            parameters: {
              strict_required_status_checks_policy: false,
              required_status_checks: [
                { context, ...(appId === undefined ? {} : { integration_id: appId }) },
              ],
            },
          },
        ],
      });
      this.#undo.push(() => octokit.repos.deleteRepoRuleset({ ...at, ruleset_id: data.id }));
    } catch (error) {
      if (isStatus(error, 403, 404))
        throw new Unavailable('the token may not make rulesets (it takes administration: write)');
      throw error;
    }
  }

  /** Repeats a request until the answer is as it should be; the last answer counts. */
  async eventually(check: () => Promise<void>): Promise<void> {
    for (let left = TRIES; left > 1; left--) {
      try {
        return await check();
      } catch (error) {
        if (error instanceof Unavailable) throw error;
        await sleep(this.target.pauseMs);
      }
    }
    return check();
  }

  /** Removes everything again, newest first. @returns what could not be removed. */
  async leave(): Promise<string[]> {
    const left: string[] = [];
    for (const undo of this.#undo.splice(0).reverse())
      await undo().catch((error) => {
        // Already gone, as the branch of a pull request that GitHub deleted after the merge.
        if (!isStatus(error, 404, 410, 422)) left.push(String(error));
      });
    return left;
  }
}
