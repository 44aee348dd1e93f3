// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  pushAgain,
  start,
} from '../support.ts';
import { merged, openApproval } from './support.ts';

// test/scenario/approval.test.ts has a deleted approval comment, and a plain copy of it.

describe('a countersign does not count', () => {
  test('on the approval comment of an older head, however long the new one is open', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval();
    const older = approvalOf(harness, number);
    await pushAgain(harness);
    await harness.advance(A_RECHECK);
    await harness.github.react(REPO, older.id, 'mia', 'rocket');
    await harness.advance(3 * A_RECHECK);
    expect(approvals(harness, number)).toHaveLength(2);
    expect(merged(harness)).toEqual([]);
  });

  test('on a void approval comment that somebody edited to look open again', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval();
    const older = approvalOf(harness, number);
    await pushAgain(harness);
    await harness.advance(A_RECHECK);
    await harness.github.editComment(REPO, older.id, 'will', approvalOf(harness, number).body);
    await harness.github.react(REPO, older.id, 'mia', 'rocket');
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
  });

  test('on copies by people and by another app, or on the approval comment of another pull request', {
    tags: 'slow',
  }, async () => {
    const { harness, number } = await openApproval();
    const { github } = harness;
    const { body } = approvalOf(harness, number);
    github.addUser('ci[bot]', { type: 'Bot' });
    for (const author of ['otto', 'mia', 'ci[bot]']) {
      const copy = await github.comment(REPO, number, author, body);
      await github.react(REPO, copy, 'mia', 'rocket');
    }
    const other = await open(harness, { branch: 'other', files: { 'other.txt': 'Other.\n' } });
    const question = approvalOf(harness, other.number);
    await github.comment(REPO, other.number, 'ada', body);
    await github.react(REPO, question.id, 'mia', 'rocket');
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([other.number]);
  });

  test('on a copy that was posted while the app did not know whether its own had arrived', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    const asks = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/comments');
    const back = github.fail(asks, { status: 502 });
    github.onRequest(({ method, path, body, status }) => {
      if (status !== 502 || !asks({ method, path })) return;
      const text = (body as { body: string }).body;
      void github.comment(REPO, 1, 'ci[bot]', text);
      void github.comment(REPO, 1, 'mia', text);
      back();
    });
    github.addUser('ci[bot]', { type: 'Bot' });
    const { number } = await open(harness);
    await harness.advance(20_000);
    const copies = approvals(harness, number).filter(({ author }) => author !== github.app.botLogin);
    expect(copies.map(({ author }) => author)).toEqual(['ci[bot]', 'mia']);
    const isCopy = ({ path }: { path: string }) => copies.some(({ id }) => path.endsWith(`/${id}`));
    expect(github.requests.filter(isCopy)).toEqual([]);
    for (const { id } of copies) await github.react(REPO, id, 'max', 'rocket');
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
    await countersign(harness, number);
    expect(merged(harness)).toEqual([number]);
  });
});

describe('an edited approval comment', () => {
  test.each([
    ['by the maintainer who answers it', 'mia'],
    ['by another app, which GitHub does not name', 'ci[bot]'],
  ])('is void and replaced, if it was edited %s', async (_, login) => {
    const { harness, number } = await openApproval();
    const { github } = harness;
    const { id, body } = approvalOf(harness, number);
    github.addUser('ci[bot]', { type: 'Bot' });
    await github.react(REPO, id, 'mia', 'rocket');
    await github.editComment(REPO, id, login, body.replace('merged', 'discussed'));
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  });

  test('keeps nobody’s countersign when its text is restored', { tags: 'slow' }, async () => {
    const { harness, number } = await openApproval();
    const { github } = harness;
    const { id, body } = approvalOf(harness, number);
    await github.editComment(REPO, id, 'will', 'Who comes to lunch? 🚀');
    await harness.settle();
    await github.react(REPO, id, 'mia', 'rocket');
    await github.editComment(REPO, id, 'will', body);
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
  });

  eachFirstQuick([
    ['an invisible addition', (body: string) => `${body}\n<!-- and more -->`],
    ['zero-width characters', (body: string) => body.replace('merged', 'mer\u200bged')],
    ['another commit in the marker', (body: string) => body.replace(/head=\w+/, `head=${'0'.repeat(40)}`)],
    ['only the marker left', (body: string) => body.split('\n').slice(0, 2).join('\n')],
  ])('with %s is void', async (_, change) => {
    const { harness, number } = await openApproval();
    const { id, body } = approvalOf(harness, number);
    await harness.github.react(REPO, id, 'mia', 'rocket');
    await harness.github.editComment(REPO, id, 'will', change(body));
    await harness.advance(A_RECHECK);
    expect(merged(harness)).toEqual([]);
  });
});
