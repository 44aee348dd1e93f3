import { expect } from 'vitest';
import {
  commitsSchema,
  filesSchema,
  listedPullRequestsSchema,
  mergedSchema,
  pullRequestSchema,
} from '../../../src/adapters/octokit/answers.ts';
import type { Assertion, World } from '../assertion.ts';
import { refusalOf } from '../target.ts';

function merge({ octokit, at }: World, number: number, sha?: string) {
  return octokit.pulls.merge({
    ...at,
    pull_number: number,
    merge_method: 'squash',
    ...(sha === undefined ? {} : { sha }),
  });
}

async function get({ octokit, at }: World, number: number) {
  return (await octokit.pulls.get({ ...at, pull_number: number })).data;
}

export const pulls: readonly Assertion[] = [
  {
    claim: 'a pull request has every field that decisions need',
    async check(world) {
      const { number, headSha, base } = await world.scratch.shared();
      const read = pullRequestSchema.parse(await get(world, number));
      expect(read).toMatchObject({ number, headSha, baseRef: base, state: 'open', merged: false });
    },
  },
  {
    claim: 'whether a pull request can be merged is unknown at first, and known later',
    async check(world) {
      const { number } = await world.scratch.pullRequest();
      expect([null, true]).toContain((await get(world, number)).mergeable);
      await world.scratch.eventually(async () => expect((await get(world, number)).mergeable).toBe(true));
    },
  },
  {
    claim: 'the files of a pull request name the head that they were listed for',
    async check(world) {
      const { number, headSha, head } = await world.scratch.shared();
      const { data } = await world.octokit.pulls.listFiles({ ...world.at, pull_number: number });
      expect(filesSchema.parse(data)).toMatchObject([
        {
          path: `${head}.md`,
          status: 'added',
          additions: 1,
          headSha,
          patch: expect.stringContaining('+head'),
        },
      ]);
    },
  },
  {
    claim: 'the commits of a pull request end with its head',
    async check(world) {
      const { number, headSha } = await world.scratch.shared();
      const { data } = await world.octokit.pulls.listCommits({ ...world.at, pull_number: number });
      expect(commitsSchema.parse(data).at(-1)).toMatchObject({
        sha: headSha,
        authorEmail: expect.any(String),
      });
    },
  },
  {
    claim: 'pull requests are listed by their last change, newest first',
    async check(world) {
      await world.scratch.shared();
      const { data } = await world.octokit.pulls.list({
        ...world.at,
        state: 'all',
        sort: 'updated',
        direction: 'desc',
      });
      const times = listedPullRequestsSchema.parse(data).map(({ updatedAt }) => updatedAt.getTime());
      expect(times).toEqual(times.toSorted((a, b) => b - a));
    },
  },
  {
    claim: 'a merge that names another head is refused with 409',
    async check(world) {
      const { number, headSha, head } = await world.scratch.pullRequest();
      await world.scratch.commit(head, `${head}-2.md`, 'more\n');
      await world.scratch.eventually(async () =>
        expect((await refusalOf(merge(world, number, headSha))).status).toBe(409),
      );
    },
  },
  {
    claim:
      'the answer to a merge has the commit that the base branch then points at, and a second merge is refused with 405',
    async check(world) {
      const { number, headSha, base } = await world.scratch.pullRequest();
      await world.scratch.eventually(async () => expect((await get(world, number)).mergeable).toBe(true));
      const { sha } = mergedSchema.parse((await merge(world, number, headSha)).data);
      await world.scratch.eventually(async () => {
        expect((await world.octokit.repos.getBranch({ ...world.at, branch: base })).data.commit.sha).toBe(
          sha,
        );
        expect(pullRequestSchema.parse(await get(world, number))).toMatchObject({
          state: 'closed',
          merged: true,
          mergeCommitSha: sha,
          headSha,
        });
      });
      expect((await refusalOf(merge(world, number, headSha))).status).toBe(405);
    },
  },
  {
    claim: 'a draft is not merged: 405',
    async check(world) {
      const { number } = await world.scratch.pullRequest({ draft: true });
      expect(await refusalOf(merge(world, number))).toMatchObject({
        status: 405,
        message: expect.stringMatching(/draft/i),
      });
    },
  },
  {
    claim: 'a closed pull request is not merged: 405',
    async check(world) {
      const { number } = await world.scratch.pullRequest();
      await world.octokit.pulls.update({ ...world.at, pull_number: number, state: 'closed' });
      expect((await refusalOf(merge(world, number))).status).toBe(405);
    },
  },
  {
    claim: 'a conflict makes a pull request dirty, and its merge is refused with 405',
    async check(world) {
      const { number } = await world.scratch.pullRequest({ conflicting: true });
      await world.scratch.eventually(async () =>
        expect(await get(world, number)).toMatchObject({ mergeable: false, mergeable_state: 'dirty' }),
      );
      expect((await refusalOf(merge(world, number))).status).toBe(405);
    },
  },
  {
    claim: 'a pull request whose head branch is deleted is closed',
    async check(world) {
      const { number, head } = await world.scratch.pullRequest();
      await world.octokit.git.deleteRef({ ...world.at, ref: `heads/${head}` });
      await world.scratch.eventually(async () => expect((await get(world, number)).state).toBe('closed'));
    },
  },
  {
    claim: 'another base branch changes what a pull request is compared with, and keeps its head',
    async check(world) {
      const { number, headSha } = await world.scratch.pullRequest();
      const other = `${world.prefix}/other-base`;
      await world.scratch.branch(other);
      await world.octokit.pulls.update({ ...world.at, pull_number: number, base: other });
      expect(pullRequestSchema.parse(await get(world, number))).toMatchObject({ baseRef: other, headSha });
    },
  },
];
