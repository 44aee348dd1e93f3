import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import {
  approvalOf,
  approvals,
  CI_AND_MERGE,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  pushAgain,
  react,
  readable,
  reportCi,
  start,
} from './support.ts';

/** Enough time for a first status comment, and for every later change of a comment. */
const SHOWN_MS = 10_000;

/** What a person sees of the app's comments, oldest first: `…` stands for one that is collapsed. */
function seen({ github }: Harness, number: number): string[] {
  return github.comments(REPO, number).map((comment) => (comment.isMinimized ? '…' : headline(comment)));
}

test('a pull request whose CI takes its time has a status comment, which the question replaces, and nothing after the merge', async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['⏳ Waiting for CI: 0 of 1 checks are done']);

  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
  const [former, question] = harness.github.comments(REPO, number);
  expect(readable(harness, former?.body ?? '')).toBe(
    `<!-- countersign:status -->\n⏭️ [A newer comment](https://github.test/octo/app/pull/1#issuecomment-${question?.id}) replaces this one.`,
  );

  await countersign(harness, number);
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['…', '🎉 Countersigned and merged']);
  expect(harness.github.comments(REPO, number).map(({ id }) => id)).toEqual([former?.id, question?.id]);
});

test('a pull request whose CI is done at once has one comment from the question to the merge', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  await countersign(harness, number);
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['🎉 Countersigned and merged']);
});

test('a reaction to the status comment answers no later question', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  const [status] = harness.github.comments(REPO, number);
  await harness.github.react(REPO, status?.id ?? 0, 'mia', 'rocket');
  await reportCi(harness, headSha, 'success');
  await harness.advance(60_000);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
  expect(harness.github.merges).toEqual([]);
});

test('after a push, the question shows the state of the new head, until a new question replaces it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  const first = approvalOf(harness, number);
  const second = await pushAgain(harness);
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['⏳ Waiting for CI: no check has reported yet']);
  const [shown] = harness.github.comments(REPO, number);
  expect(shown?.id).toBe(first.id);
  expect(shown?.body).not.toContain('countersign:approval');

  // Somebody agrees to what the comment asked before, or to the state that it shows.
  await harness.github.react(REPO, first.id, 'mia', 'rocket');
  await reportCi(harness, second, 'success');
  await harness.advance(60_000);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
  expect(harness.github.merges).toEqual([]);

  await countersign(harness, number);
  await harness.advance(SHOWN_MS);
  expect(harness.github.merges).toMatchObject([{ number, headSha: second }]);
  expect(seen(harness, number)).toEqual(['…', '🎉 Countersigned and merged']);
});

test('a rejection is shown in the question, and a push turns it into the state of the new head', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  await react(harness, number, 'mia', '-1');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['✋ Rejected by mia']);
  await pushAgain(harness);
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['⏳ Waiting for CI: no check has reported yet']);
});

test('a question expires with the pull request, and reopening it asks in a new comment', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  await harness.advance(SHOWN_MS);
  const [asked] = harness.github.comments(REPO, number);
  await harness.github.closePullRequest(REPO, number, 'ada');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['⏭️ This approval request has expired']);
  expect(harness.github.comments(REPO, number)[0]?.body).toContain('The pull request was closed.');

  await harness.github.react(REPO, asked?.id ?? 0, 'mia', 'rocket');
  await harness.github.reopenPullRequest(REPO, number, 'ada');
  await harness.advance(60_000);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
  expect(harness.github.merges).toEqual([]);
});

test('a restart between the question and the removal of the status comment removes it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  await reportCi(harness, headSha, 'success');
  expect(seen(harness, number)).toEqual([
    '⏳ Waiting for CI: 0 of 1 checks are done',
    '✍️ Approve this merge?',
  ]);
  await harness.restart();
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
});

test('where GitHub refuses to collapse a comment, it is one line that leads to the newer one', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  const refusal = {
    data: null,
    errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
  };
  const isCollapsing = ({ mutates }: { mutates?: readonly string[] }) =>
    mutates?.includes('minimizeComment') === true;
  harness.github.fail(isCollapsing, { status: 200, body: refusal });
  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['replaced', '✍️ Approve this merge?']);
  expect(harness.github.comments(REPO, number)[0]?.body).toMatch(/^<!-- .* -->\n⏭️ .* replaces this one\.$/);
});

test('an outage of GitHub between the two only delays the removal', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  const isCollapsing = ({ mutates }: { mutates?: readonly string[] }) =>
    mutates?.includes('minimizeComment') === true;
  harness.github.fail(isCollapsing, 'reset', 2);
  await reportCi(harness, headSha, 'success');
  await harness.advance(300_000);
  expect(seen(harness, number)).toEqual(['…', '✍️ Approve this merge?']);
});

test('a comment that somebody deletes stays deleted, and the next question is a new one', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  await react(harness, number, 'mia', '-1');
  await harness.advance(SHOWN_MS);
  await harness.github.deleteComment(REPO, approvalOf(harness, number).id, 'max');
  const second = await pushAgain(harness);
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual([]);
  await reportCi(harness, second, 'success');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['✍️ Approve this merge?']);
});

test('what a second chain does stands in the question of the first, and its own question replaces nothing that is open', {
  tags: 'slow',
}, async () => {
  const other = CI_AND_MERGE.replace('name: pr-review', 'name: other');
  const harness = await start({
    chain: MERGE_ONLY,
    files: { '.github/countersign/chains/other.yaml': other },
  });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['✍️ Approve this merge?']);
  expect(approvalOf(harness, number).body).toContain('### ⏳ Waiting for CI: 0 of 1 checks are done');

  await reportCi(harness, headSha, 'success');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['✍️ Approve this merge?', '✍️ Approve this merge?']);
  // Each shows its own question, and only the newer one the state of another chain.
  const parts = approvals(harness, number).map(({ body }) => body.match(/^### .+$/gm));
  expect(parts).toEqual([
    ['### ✍️ Approve this merge?'],
    ['### ✍️ Approve this merge?', expect.stringContaining('Waiting for a maintainer to countersign')],
  ]);
  await countersign(harness, number);
  await harness.advance(SHOWN_MS);
  expect(harness.github.merges).toHaveLength(1);
  expect(seen(harness, number)).toEqual(['…', '🎉 Countersigned and merged']);
});

test('a reaction to a comment that says that the merge was rejected answers no question', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number } = await open(harness);
  await harness.advance(SHOWN_MS);
  const rejection = await react(harness, number, 'mia', '-1');
  await harness.advance(SHOWN_MS);
  expect(seen(harness, number)).toEqual(['✋ Rejected by mia']);

  // max agrees with the rejection, and mia takes it back.
  await react(harness, number, 'max', '+1');
  await github.unreact(REPO, approvalOf(harness, number).id, rejection);
  await github.comment(REPO, number, 'mia', '/countersign rerun');
  await harness.advance(60_000);
  expect(github.merges).toEqual([]);
  expect(seen(harness, number).filter((line) => line !== '')).toEqual(['…', '✍️ Approve this merge?']);
  await countersign(harness, number, 'max');
  expect(github.merges).toHaveLength(1);
});

test('a question that GitHub never got is not written after the question about the next head', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const isQuestion = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && path.endsWith('/comments');
  harness.github.fail(isQuestion, 'reset', 3);
  const { number } = await open(harness);
  await harness.advance(2_000);
  await pushAgain(harness);
  await harness.advance(300_000);
  expect(seen(harness, number)).toEqual(['✍️ Approve this merge?']);
});
