import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  CI_AND_MERGE,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  ownCheck,
  ownChecks,
  pushAgain,
  react,
  reportCi,
  start,
  statusOf,
} from './support.ts';

/** A pull request whose maintainers are asked for a countersign. */
async function asked(chain = MERGE_ONLY): Promise<{ harness: Harness; number: number; headSha: string }> {
  const harness = await start({ chain });
  const opened = await open(harness);
  if (chain === CI_AND_MERGE) await reportCi(harness, opened.headSha, 'success');
  await harness.advance(A_RECHECK);
  return { harness, ...opened };
}

/** The text of the voided approval comment. */
function voidedBecause(harness: Harness, number: number, which = 0): string | undefined {
  return approvals(harness, number)
    [which]?.body.split('\n')
    .find((line) => line.startsWith('It asked'));
}

test('a draft is ignored until it is ready for review', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness, { draft: true });
  await harness.advance(A_RECHECK);
  expect(ownChecks(harness, headSha)).toEqual([]);
  expect(github.comments(REPO, number)).toEqual([]);

  await github.readyForReview(REPO, number, 'ada');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('a pull request to another base than the default branch is ignored', async () => {
  const harness = await start();
  const { github } = harness;
  await github.push({ repo: REPO, branch: 'release', author: 'mia' });
  const { number, headSha } = await open(harness, { base: 'release' });
  await harness.advance(A_RECHECK);
  expect(ownChecks(harness, headSha)).toEqual([]);
  expect(github.comments(REPO, number)).toEqual([]);
});

test('a push supersedes the run, closes its check run, and leads to a new one and a new approval comment', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha: first } = await asked(CI_AND_MERGE);
  const second = await pushAgain(harness);
  await harness.advance(A_RECHECK);

  expect(checkLines(harness, first)).toEqual(['cancelled: Superseded by a newer push']);
  expect(ownCheck(harness, first).summary).toContain('The newer commit gets a run of its own.');
  expect(checkLines(harness, second)).toEqual(['in_progress: Waiting for CI: no check has reported yet']);
  expect(headline(statusOf(harness, number))).toBe('⏳ Waiting for CI: no check has reported yet');

  await reportCi(harness, second, 'success');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  expect(harness.github.comments(REPO, number)).toHaveLength(2);
});

test('five pushes in a row leave one approval comment, the status comment that it replaces, and one open check run', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  const heads = [headSha];
  for (const times of [2, 3, 4, 5, 6]) heads.push(await pushAgain(harness, 'one\n'.repeat(times)));
  await reportCi(harness, heads.at(-1) ?? '', 'success');
  await harness.advance(A_RECHECK);

  expect(heads.map((sha) => checkLines(harness, sha))).toEqual([
    ...Array.from({ length: 5 }, () => ['cancelled: Superseded by a newer push']),
    ['in_progress: Waiting for a maintainer to countersign'],
  ]);
  expect(harness.github.comments(REPO, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
});

test('a force-push back to an earlier head asks again, and that head’s earlier countersign does not count', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha: first } = await asked();
  const { github } = harness;
  const earlier = approvalOf(harness, number).id;
  const second = await pushAgain(harness);
  await harness.advance(A_RECHECK);
  await github.react(REPO, earlier, 'mia', 'rocket');
  await github.push({ repo: REPO, branch: 'greet', author: 'ada', forceTo: first });
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(checkLines(harness, second)).toEqual(['cancelled: Superseded by a newer push']);
  expect(checkLines(harness, first)).toEqual([
    'cancelled: Superseded by a newer push',
    'in_progress: Waiting for a maintainer to countersign',
  ]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', 'replaced', '✍️ Approve this merge?']);

  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ headSha: first }]);
});

test('closing ends the run and its approval comment, and says so', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  await react(harness, number, 'mia');
  await harness.github.closePullRequest(REPO, number, 'ada');
  await harness.advance(A_RECHECK);

  expect(harness.github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['cancelled: Stopped: the pull request was closed']);
  expect(approvals(harness, number).map(headline)).toEqual(['⏭️ This approval request has expired']);
  expect(voidedBecause(harness, number)).toContain('The pull request was closed.');
});

test('reopening starts a new run with its own approval comment', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  const { github } = harness;
  await github.closePullRequest(REPO, number, 'ada');
  await harness.advance(A_RECHECK);
  await github.reopenPullRequest(REPO, number, 'ada');
  await harness.advance(A_RECHECK);

  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: the pull request was closed',
    'in_progress: Waiting for a maintainer to countersign',
  ]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
  expect(github.comments(REPO, number)).toHaveLength(2);
});

test('reopening restarts what ended without a merge, but not what a maintainer rejected', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked(CI_AND_MERGE);
  const { github } = harness;
  const reopen = async () => {
    await github.closePullRequest(REPO, number, 'ada');
    await harness.advance(A_RECHECK);
    await github.reopenPullRequest(REPO, number, 'ada');
    await harness.advance(A_RECHECK);
  };
  const second = await pushAgain(harness);
  await reportCi(harness, second, 'failure');
  await harness.advance(A_RECHECK);
  await reopen();
  const failed = 'failure: CI has not passed: 1 of 1 check failed';
  expect(checkLines(harness, second)).toEqual([failed, failed]);
  const told = github.deliveries.findLast(({ action }) => action === 'reopened');
  await github.redeliver(told?.guid ?? '');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, second)).toEqual([failed, failed]);

  await reportCi(harness, second, 'success');
  await harness.advance(A_RECHECK);
  await react(harness, number, 'mia', '-1');
  await harness.advance(A_RECHECK);
  // The run continues under a new check run, because GitHub never reopens one.
  const rejected = [failed, failed, 'failure: Rejected by mia'];
  expect(checkLines(harness, second)).toEqual(rejected);
  await reopen();
  expect(checkLines(harness, second)).toEqual(rejected);
  expect(checkLines(harness, headSha)).toHaveLength(1);
  expect(github.merges).toEqual([]);
});

test('a conversion to draft voids the approval, and a new one follows when the pull request is ready again', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked();
  const { github } = harness;
  await react(harness, number, 'mia');
  await github.convertToDraft(REPO, number, 'ada');
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual(['skipped: Stopped: the pull request is a draft']);
  expect(voidedBecause(harness, number)).toContain('The pull request was turned into a draft.');

  await github.readyForReview(REPO, number, 'ada');
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('another base voids the countersign, and the maintainers are asked about the same head for the new base', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked();
  const { github } = harness;
  await github.push({ repo: REPO, branch: 'release', author: 'mia' });
  // The new base has the same chain, because it was created from main.
  await react(harness, number, 'mia');
  await github.editPullRequest(REPO, number, 'ada', { base: 'release' });
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: the pull request has a new base branch',
    'in_progress: Waiting for a maintainer to countersign',
  ]);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  expect(approvalOf(harness, number).body).toContain(`head=${headSha} base=release`);
  expect(approvalOf(harness, number).body).toContain('into `release`');

  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ number, headSha }]);
  expect(github.fileAt(REPO, 'release', 'src/greet.ts')).toBeDefined();
  expect(github.fileAt(REPO, 'main', 'src/greet.ts')).toBeUndefined();
});

test('a new base that the chain is not for ends the run and starts none', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked(CI_AND_MERGE);
  const { github } = harness;
  await github.push({ repo: REPO, branch: 'release', author: 'mia' });
  await react(harness, number, 'mia');
  await github.editPullRequest(REPO, number, 'ada', { base: 'release' });
  await harness.advance(A_RECHECK);

  expect(github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: the pull request has a new base branch',
  ]);
  expect(approvals(harness, number).map(headline)).toEqual(['⏭️ This approval request has expired']);
  expect(voidedBecause(harness, number)).toContain('The base branch of the pull request was changed.');
});

test('a new title changes nothing', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  const before = harness.github.comments(REPO, number);
  await harness.github.editPullRequest(REPO, number, 'ada', { title: 'Greet everybody' });
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toHaveLength(1);
  expect(harness.github.comments(REPO, number)).toEqual(before);
});

test('a merge by a person ends the run and its approval comment, and says so', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  await harness.github.mergePullRequest(REPO, number, 'max', 'merge');
  await harness.advance(A_RECHECK);

  expect(harness.github.merges).toMatchObject([{ by: 'max', method: 'merge' }]);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: somebody merged the pull request by hand',
  ]);
  expect(voidedBecause(harness, number)).toContain('The pull request was merged by hand.');
});

test('a chain that filters on labels starts when the label is added and ends when it is removed', {
  tags: 'slow',
}, async () => {
  const harness = await start({
    chain: MERGE_ONLY.replace('draft: false', 'draft: false, labels: [ready-*]'),
  });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await github.addLabel(REPO, number, 'ada', 'docs');
  await harness.advance(A_RECHECK);
  expect(ownChecks(harness, headSha)).toEqual([]);

  await github.addLabel(REPO, number, 'ada', 'ready-to-merge');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);

  await react(harness, number, 'mia');
  await github.removeLabel(REPO, number, 'ada', 'ready-to-merge');
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  expect(checkLines(harness, headSha)).toEqual([
    'skipped: Stopped: this chain no longer applies to the pull request',
  ]);
  expect(voidedBecause(harness, number)).toContain('this chain no longer applies to it');

  await github.addLabel(REPO, number, 'ada', 'ready-to-merge');
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('a label that no chain filters on starts no run', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  await harness.github.addLabel(REPO, number, 'ada', 'docs');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('a pull request from a fork is approved and merged like any other', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness, { author: 'otto', fork: 'otto/app' });
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  expect(harness.github.merges).toMatchObject([{ number, headSha }]);
});
