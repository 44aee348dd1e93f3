// @module-tag security

import { expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  CI_AND_MERGE,
  countersign,
  MERGE_ONLY,
  open,
  ownChecks,
  reportCi,
  start,
} from '../support.ts';
import { merged } from './support.ts';

const CHAIN = CI_AND_MERGE.replace('base: "{{ repo.default_branch }}", ', '');

/** Two pull requests of one commit, into two branches or from two branches. */
async function twins(harness: Harness, how: 'two bases' | 'two branches'): Promise<[number, number, string]> {
  const { github } = harness;
  await github.push({ repo: REPO, branch: 'release', author: 'max' });
  const first = await open(harness);
  const second =
    how === 'two bases'
      ? await open(harness, { base: 'release', files: { 'src/more.ts': 'export {};\n' } })
      : await open(harness, { branch: 'mirror' });
  if (how === 'two branches') {
    await github.push({ repo: REPO, branch: 'mirror', author: 'ada', forceTo: first.headSha });
    await harness.settle();
  }
  const heads = [first, second].map(({ number }) => github.pullRequest(REPO, number).headSha);
  expect(new Set(heads).size).toBe(1);
  return [first.number, second.number, heads[0] ?? ''];
}

eachFirstQuick(['two bases', 'two branches'] as const)(
  'of two pull requests with one head by %s, each is merged only on its own countersign',
  async (how) => {
    const harness = await start({ chain: CHAIN });
    const [first, second, head] = await twins(harness, how);
    await reportCi(harness, head, 'success');
    await harness.advance(A_RECHECK);
    expect(approvalOf(harness, first).id).not.toBe(approvalOf(harness, second).id);

    await countersign(harness, first);
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([first]);

    await harness.github.comment(REPO, second, 'ada', 'It was approved there already.');
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([first]);
    expect(ownChecks(harness, head).filter(({ status }) => status === 'in_progress')).toHaveLength(1);

    await countersign(harness, second, 'max');
    expect(merged(harness)).toEqual([first, second]);
  },
);

test('a rejection of one does not count for the other, and the other’s countersign does not undo it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const [first, second] = await twins(harness, 'two bases');
  await harness.github.react(REPO, approvalOf(harness, first).id, 'mia', '-1');
  await countersign(harness, second);
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([second]);
});

test('the owner of a fork who installs the app there can only countersign the fork’s own pull requests', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.addOrganization('evil');
  const here = await open(harness, { author: 'otto', fork: 'evil/app' });
  github.installApp('evil');
  github.setPermission('evil/app', 'eve', 'admin');
  const there = await open(harness, { repo: 'evil/app', author: 'otto' });
  const head = github.pullRequest('evil/app', there.number).headSha;
  await harness.advance(A_RECHECK);
  expect([there.number, head]).toEqual([here.number, github.pullRequest(REPO, here.number).headSha]);

  await countersign(harness, here.number, 'eve');
  const question = github
    .comments('evil/app', there.number)
    .find(({ body }) => body.includes('countersign:question'));
  await github.react('evil/app', question?.id ?? 0, 'eve', 'rocket');
  await harness.advance(A_RECHECK);
  expect(merged(harness, 'evil/app')).toEqual([there.number]);
  expect(merged(harness)).toEqual([]);
});
