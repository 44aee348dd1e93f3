import { expect } from 'vitest';
import type { Assertion, World } from '../assertion.ts';
import type { ScratchPull } from '../scratch.ts';
import { needApp, refusalOf } from '../target.ts';

/** GitHub Actions, on every host: an App that always exists and that reports nothing on commits which skip it. */
const GITHUB_ACTIONS = 15_368;
const CONTEXT = 'countersign conformance';

/** A pull request for one of the suite's branches, which requires one check. */
async function requiring(world: World, appId?: number): Promise<ScratchPull> {
  const pull = await world.scratch.pullRequest();
  await world.scratch.requireCheck(pull.base, CONTEXT, appId);
  return pull;
}

function merge({ octokit, at }: World, { number, headSha }: ScratchPull) {
  return octokit.pulls.merge({ ...at, pull_number: number, sha: headSha, merge_method: 'squash' });
}

async function refusedFor(world: World, pull: ScratchPull, standing: string): Promise<void> {
  await world.scratch.eventually(async () => {
    const { status, message } = await refusalOf(merge(world, pull));
    expect(status).toBe(405);
    expect(message).toContain(`Required status check "${CONTEXT}" is ${standing}`);
  });
}

async function merges(world: World, pull: ScratchPull): Promise<void> {
  await world.scratch.eventually(async () => expect((await merge(world, pull)).data.merged).toBe(true));
}

function report(world: World, { headSha }: ScratchPull, content: object) {
  const { octokit } = needApp(world);
  return octokit.checks.create({ ...world.at, name: CONTEXT, head_sha: headSha, ...content });
}

function status(world: World, { headSha }: ScratchPull, state: 'success' | 'failure' | 'pending') {
  return world.octokit.repos.createCommitStatus({ ...world.at, sha: headSha, context: CONTEXT, state });
}

export const requiredChecks: readonly Assertion[] = [
  {
    claim: 'a required check that nobody reported blocks the merge: 405, is expected',
    check: async (world) => refusedFor(world, await requiring(world), 'expected'),
  },
  {
    claim: 'a commit status with its name satisfies a required check',
    async check(world) {
      const pull = await requiring(world);
      await status(world, pull, 'failure');
      await refusedFor(world, pull, 'failing');
      await status(world, pull, 'success');
      await merges(world, pull);
    },
  },
  {
    claim: 'a required check that is running blocks the merge: 405, is in progress',
    async check(world) {
      needApp(world);
      const pull = await requiring(world);
      await report(world, pull, { status: 'in_progress' });
      await refusedFor(world, pull, 'in progress');
    },
  },
  ...(['success', 'neutral', 'skipped'] as const).map(
    (conclusion): Assertion => ({
      claim: `a required check that ended ${conclusion} allows the merge`,
      async check(world) {
        needApp(world);
        const pull = await requiring(world);
        await report(world, pull, { conclusion });
        await merges(world, pull);
      },
    }),
  ),
  {
    claim: 'a newer run of a required check counts, whatever the older one concluded',
    async check(world) {
      needApp(world);
      const pull = await requiring(world);
      await report(world, pull, { conclusion: 'success' });
      await report(world, pull, { conclusion: 'failure' });
      await refusedFor(world, pull, 'failing');
    },
  },
  {
    claim: "another App's report does not satisfy a check that is pinned to an App",
    async check(world) {
      const pull = await requiring(world, GITHUB_ACTIONS);
      await status(world, pull, 'success');
      await refusedFor(world, pull, 'expected');
    },
  },
  {
    claim: 'a ruleset appears among the rules of the branch, and makes it protected',
    async check(world) {
      const { base } = await requiring(world);
      await world.scratch.eventually(async () => {
        const rules = await world.octokit.repos.getBranchRules({ ...world.at, branch: base });
        expect(rules.data).toContainEqual(
          expect.objectContaining({
            type: 'required_status_checks',
            parameters: expect.objectContaining({
              required_status_checks: [expect.objectContaining({ context: CONTEXT })],
            }),
          }),
        );
        const { data } = await world.octokit.repos.getBranch({ ...world.at, branch: base });
        expect(data.protected).toBe(true);
      });
    },
  },
];
