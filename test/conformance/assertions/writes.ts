import { expect } from 'vitest';
import type { Assertion, World } from '../assertion.ts';
import { refusalOf } from '../target.ts';

/** A branch of its own for an assertion that moves one. */
async function ownBranch({ scratch, prefix }: World, name: string): Promise<string> {
  const branch = `${prefix}/${name}`;
  await scratch.branch(branch);
  return branch;
}

async function tipOf({ octokit, at }: World, branch: string): Promise<string> {
  return (await octokit.git.getRef({ ...at, ref: `heads/${branch}` })).data.object.sha;
}

/** What the actions of steps rely on when they write. */
export const writes: readonly Assertion[] = [
  {
    claim: 'a branch that exists is not created again, and keeps its commit',
    async check(world) {
      const { octokit, at } = world;
      const branch = await ownBranch(world, 'exists');
      const before = await tipOf(world, branch);
      const sha = (await world.scratch.shared()).headSha;
      const again = refusalOf(octokit.git.createRef({ ...at, ref: `refs/heads/${branch}`, sha }));
      expect((await again).status).toBe(422);
      expect(await tipOf(world, branch)).toBe(before);
    },
  },
  {
    claim: 'a commit of any tree and parent moves no branch',
    async check(world) {
      const { octokit, at } = world;
      const branch = await ownBranch(world, 'unmoved');
      const tip = await tipOf(world, branch);
      const { data: of } = await octokit.git.getCommit({
        ...at,
        commit_sha: (await world.scratch.shared()).headSha,
      });
      const made = await octokit.git.createCommit({
        ...at,
        message: 'Other files [skip ci]',
        tree: of.tree.sha,
        parents: [tip],
      });
      const { data } = await octokit.git.getCommit({ ...at, commit_sha: made.data.sha });
      expect([data.tree.sha, data.parents.map(({ sha }) => sha)]).toEqual([of.tree.sha, [tip]]);
      expect(await tipOf(world, branch)).toBe(tip);
    },
  },
  {
    claim:
      'a merge into a branch makes a commit, is nothing new the second time, and is refused with 409 if it conflicts',
    async check(world) {
      const { octokit, at, scratch } = world;
      const [base, head, other] = [
        await ownBranch(world, 'merge-base'),
        await ownBranch(world, 'merge-head'),
        await ownBranch(world, 'merge-other'),
      ];
      const commit_message = 'Conformance suite [skip ci]';
      await scratch.commit(head, 'merged.md', 'head\n');
      await scratch.commit(other, 'merged.md', 'other\n');
      expect((await octokit.repos.merge({ ...at, base, head, commit_message })).status).toBe(201);
      expect((await octokit.repos.merge({ ...at, base, head, commit_message })).status).toBe(204);
      expect(
        (await refusalOf(octokit.repos.merge({ ...at, base, head: other, commit_message }))).status,
      ).toBe(409);
    },
  },
  {
    claim: 'a head is updated with its base only if it is the one that the request names',
    async check(world) {
      const { octokit, at, scratch } = world;
      const { number, headSha, base, head } = await scratch.pullRequest();
      await scratch.commit(base, 'behind.md', 'behind\n');
      const update = (sha: string) =>
        octokit.pulls.updateBranch({ ...at, pull_number: number, expected_head_sha: sha });
      const wrong = await tipOf(world, base);
      expect((await refusalOf(update(wrong))).status).toBe(422);
      expect((await update(headSha)).status).toBe(202);
      await scratch.eventually(async () => expect(await tipOf(world, head)).not.toBe(headSha));
    },
  },
  {
    claim: 'the statuses of a commit are listed newest first, whatever their context',
    async check(world) {
      const { octokit, at, scratch, prefix } = world;
      const branch = await ownBranch(world, 'statuses');
      const sha = await scratch.commit(branch, 'statuses.md', 'statuses\n');
      for (const [context, state] of [
        ['one', 'pending'],
        ['two', 'success'],
        ['one', 'failure'],
      ] as const)
        await octokit.repos.createCommitStatus({ ...at, sha, state, context: `${prefix}/${context}` });
      await scratch.eventually(async () => {
        const { data } = await octokit.repos.listCommitStatusesForRef({ ...at, ref: sha });
        expect(data.map(({ context, state }) => `${context.split('/').at(-1)} ${state}`)).toEqual([
          'one failure',
          'two success',
          'one pending',
        ]);
      });
    },
  },
  {
    claim: 'somebody who does not exist cannot be assigned, and assigning them changes nothing',
    async check({ octokit, at, scratch }) {
      const { number } = await scratch.shared();
      const nobody = `countersign-nobody-${Date.now().toString(36)}`;
      const asked = refusalOf(octokit.issues.checkUserCanBeAssigned({ ...at, assignee: nobody }));
      expect((await asked).status).toBe(404);
      const { data } = await octokit.issues.addAssignees({
        ...at,
        issue_number: number,
        assignees: [nobody],
      });
      expect(data.assignees ?? []).toEqual([]);
    },
  },
  {
    claim: 'a milestone that does not exist is refused',
    async check({ octokit, at, scratch }) {
      const { number } = await scratch.shared();
      const set = octokit.issues.update({ ...at, issue_number: number, milestone: 999_999 });
      expect((await refusalOf(set)).status).toBe(422);
    },
  },
  {
    claim: 'a review of somebody who is no collaborator is not requested',
    async check({ octokit, at, scratch }) {
      const { number } = await scratch.shared();
      const nobody = `countersign-nobody-${Date.now().toString(36)}`;
      const asked = octokit.pulls.requestReviewers({ ...at, pull_number: number, reviewers: [nobody] });
      expect((await refusalOf(asked)).status).toBe(422);
    },
  },
  {
    claim: 'pull requests are found by their head branch and base, also when they are closed',
    async check({ octokit, at, scratch }) {
      const { number, head, base } = await scratch.pullRequest();
      await octokit.pulls.update({ ...at, pull_number: number, state: 'closed' });
      await scratch.eventually(async () => {
        const { data } = await octokit.pulls.list({ ...at, state: 'all', head: `${at.owner}:${head}`, base });
        expect(data.map((found) => [found.number, found.state])).toEqual([[number, 'closed']]);
      });
    },
  },
  {
    claim: 'a workflow that does not exist is not started',
    async check({ octokit, at, scratch, prefix }) {
      const { base } = await scratch.shared();
      const started = octokit.actions.createWorkflowDispatch({
        ...at,
        workflow_id: `${prefix}.yml`.replaceAll('/', '-'),
        ref: base,
      });
      expect((await refusalOf(started)).status).toBe(404);
    },
  },
  {
    claim: 'a tag without a release has none, and answers 404',
    async check({ octokit, at, prefix }) {
      const found = octokit.repos.getReleaseByTag({ ...at, tag: `${prefix}-none`.replaceAll('/', '-') });
      expect((await refusalOf(found)).status).toBe(404);
    },
  },
];
