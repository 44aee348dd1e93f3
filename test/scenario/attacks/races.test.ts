// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { REPO } from '../../support/harness.ts';
import { A_RECHECK, approvalOf, approvals, countersign, headline, react } from '../support.ts';
import { justBefore, mergeCalls, merged, type OpenApproval, openApproval, READS } from './support.ts';

interface Scene extends OpenApproval {
  /** The id of mia's countersign. */
  reaction: number;
}

type Act = (scene: Scene) => unknown;

/** Each invalidates a countersign. */
const takesTheReactionBack: Act = ({ harness, number, reaction }) =>
  harness.github.unreact(REPO, approvalOf(harness, number).id, reaction);
const losesThePermission: Act = ({ harness }) => harness.github.setPermission(REPO, 'mia', 'write');
const leavesTheTeam: Act = ({ harness }) => harness.github.addTeam('octo', 'release', []);
const anotherRejects: Act = ({ harness, number }) => react(harness, number, 'max', '-1');
const isPushedTo: Act = ({ harness }) =>
  harness.github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'a.txt': 'a\n' } });
const isRetargeted: Act = ({ harness, number }) =>
  harness.github.editPullRequest(REPO, number, 'ada', { base: 'release' });
const becomesADraft: Act = ({ harness, number }) => harness.github.convertToDraft(REPO, number, 'ada');
const isClosed: Act = ({ harness, number }) => harness.github.closePullRequest(REPO, number, 'ada');

/** mia, or will of the release team, has just countersigned; the app has not polled yet. */
async function countersigned(by: 'mia' | 'will' = 'mia'): Promise<Scene> {
  const scene = await openApproval(
    { settings: 'countersign: { teams: [octo/release] }\n' },
    {},
    ({ github }) => {
      github.addTeam('octo', 'release', ['will']);
      void github.push({ repo: REPO, branch: 'release', author: 'max' });
    },
  );
  return { ...scene, reaction: await react(scene.harness, scene.number, by) };
}

describe('between two reads of the poll that sees the countersign', () => {
  eachFirstQuick<[string, keyof typeof READS, Act, ('mia' | 'will')?]>([
    ['the maintainer withdraws the reaction', 'reactions', takesTheReactionBack],
    ['another maintainer rejects', 'reactions', anotherRejects],
    ['the maintainer loses the permission', 'permission', losesThePermission],
    ['the maintainer leaves the team', 'membership', leavesTheTeam, 'will'],
    ['the author pushes', 'permission', isPushedTo],
    ['the author chooses another base', 'permission', isRetargeted],
    ['the author turns it into a draft', 'permission', becomesADraft],
    ['the author closes it', 'permission', isClosed],
  ])('nothing is merged if %s', async (_, read, act, by) => {
    const scene = await countersigned(by);
    justBefore(scene.harness, READS[read], () => void act(scene));
    await scene.harness.advance(A_RECHECK);
    expect(mergeCalls(scene.harness)).toBe(0);
    expect(merged(scene.harness)).toEqual([]);
  });
});

test('a rejection counts that comes while GitHub takes minutes to answer the rest of the poll', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await countersigned();
  justBefore(harness, READS.permission, () => {
    harness.clock.advance(120_000);
    void react(harness, number, 'max', '-1');
  });
  await harness.advance(A_RECHECK);
  expect(mergeCalls(harness)).toBe(0);
  await harness.advance(600_000);
  expect(merged(harness)).toEqual([]);
});

describe('between the last read and the merge call', () => {
  // A push is in test/scenario/merging.test.ts.
  eachFirstQuick<[string, Act]>([
    ['the author turns it into a draft', becomesADraft],
    ['the author closes it', isClosed],
  ])('GitHub refuses and the old countersign is not used again if %s', async (_, act) => {
    const scene = await countersigned();
    const { harness } = scene;
    justBefore(harness, READS.merge, () => void act(scene));
    await harness.advance(65_000);
    expect(mergeCalls(harness)).toBe(1);
    expect(merged(harness)).toEqual([]);
  });
});

describe('between a merge call that GitHub failed to answer and the next', () => {
  eachFirstQuick<[string, Act, ('mia' | 'will')?]>([
    ['the maintainer loses the permission', losesThePermission],
    ['the maintainer leaves the team', leavesTheTeam, 'will'],
    ['another maintainer rejects', anotherRejects],
    ['the author chooses another base', isRetargeted],
    ['the author pushes', isPushedTo],
  ])('the facts are judged again and nothing is merged if %s', async (_, act, by) => {
    const scene = await countersigned(by);
    const { harness } = scene;
    harness.github.holdDeliveries();
    justBefore(harness, READS.merge, () => void act(scene));
    harness.github.fail(READS.merge, { status: 502 }, 1);
    await harness.advance(20_000);
    expect(mergeCalls(harness)).toBe(1);
    expect(merged(harness)).toEqual([]);
  });
});

describe('between the countersign and the poll, with every webhook late', () => {
  eachFirstQuick<[string, Act]>([
    ['the author chooses another base', isRetargeted],
    ['the author turns it into a draft', becomesADraft],
    ['the author closes it', isClosed],
  ])('nothing is merged, also not when the webhooks arrive, if %s', async (_, act) => {
    const scene = await countersigned();
    const { harness } = scene;
    harness.github.holdDeliveries();
    await act(scene);
    await harness.advance(A_RECHECK);
    await harness.github.releaseDeliveries('reverse');
    await harness.advance(A_RECHECK);
    expect(mergeCalls(harness)).toBe(0);
    expect(merged(harness)).toEqual([]);
  });
});

test('a pull request that was closed and reopened between the countersign and the poll is asked about again', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await countersigned();
  await harness.github.closePullRequest(REPO, number, 'ada');
  await harness.settle();
  await harness.github.reopenPullRequest(REPO, number, 'ada');
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
});

test('a round trip to another base between the countersign and the poll leads to a new approval comment', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await countersigned();
  await harness.github.editPullRequest(REPO, number, 'ada', { base: 'release' });
  await harness.advance(A_RECHECK);
  await harness.github.editPullRequest(REPO, number, 'ada', { base: 'main' });
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
  await countersign(harness, number);
  expect(merged(harness)).toEqual([number]);
});

test('a list of commits of another head hides nobody who wrote this one', { tags: 'slow' }, async () => {
  const { harness, number } = await openApproval();
  const { github } = harness;
  const harmless = github.pullRequest(REPO, number).headSha;
  const byMia = await github.push({ repo: REPO, branch: 'greet', author: 'mia', files: { 'a.txt': 'a\n' } });
  await harness.advance(A_RECHECK);
  await react(harness, number, 'mia');
  // The branch moves back while its commits are listed, and returns before the pull request is read.
  const to = (head: string) => () => {
    void github.push({ repo: REPO, branch: 'greet', author: 'ada', forceTo: head });
  };
  github.holdDeliveries();
  justBefore(harness, READS.commits, to(harmless));
  justBefore(harness, READS.permission, to(byMia));
  // Exactly until the next poll: the one after it would find both the same again.
  await harness.advance(3_000);
  expect(github.pullRequest(REPO, number).headSha).toBe(byMia);
  expect(approvalOf(harness, number).body).not.toContain('mia may countersign and did');
  expect(merged(harness)).toEqual([]);
});
