import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, type HarnessOptions, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  headline,
  MERGE_ONLY,
  open,
  ownCheck,
  react,
  type Setting,
  start,
  statusOf,
} from './support.ts';

const HELD_BY_WILL = 'Not merging: will requested changes, and has neither approved since nor been dismissed';
const CONFLICTS = 'Conflicts with main: resolve them by merging or rebasing';

async function asked(setting: Setting = {}): Promise<{ harness: Harness; number: number; headSha: string }> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  return { harness, ...(await open(harness)) };
}

describe('a review that requests changes', () => {
  test('blocks the merge until its author approves', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    await github.review(REPO, number, 'will', 'CHANGES_REQUESTED');
    await countersign(harness, number);
    expect(github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${HELD_BY_WILL}`]);
    expect(approvalOf(harness, number).body).toContain(`> **On hold:** ${HELD_BY_WILL}.`);

    await github.review(REPO, number, 'will', 'COMMENTED');
    await harness.advance(A_RECHECK);
    expect(github.merges).toEqual([]);
    await github.review(REPO, number, 'will', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
  });

  test('blocks the merge until somebody dismisses it', { tags: 'slow' }, async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    const review = await github.review(REPO, number, 'mia', 'CHANGES_REQUESTED');
    await countersign(harness, number, 'max');
    expect(github.merges).toEqual([]);
    await github.dismissReview(REPO, number, review, 'max');
    await harness.advance(A_RECHECK);
    expect(github.merges).toHaveLength(1);
  });

  test('is in the approval comment from the start, and survives a push', { tags: 'slow' }, async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    await github.review(REPO, number, 'will', 'CHANGES_REQUESTED');
    await github.push({ repo: REPO, branch: 'greet', author: 'ada', files: { 'b.txt': 'b\n' } });
    await harness.settle();
    expect(approvals(harness, number)).toHaveLength(2);
    expect(approvalOf(harness, number).body).toContain(`> **On hold:** ${HELD_BY_WILL}.`);
    await countersign(harness, number);
    expect(github.merges).toEqual([]);
  });

  eachFirstQuick([
    ['an outsider', 'otto', {}],
    [
      'a writer, where the settings ignore it,',
      'will',
      { settings: 'merge: { changes_requested: ignore }\n' },
    ],
  ])('does not block if it is by %s', async (_, login, setting) => {
    const { harness, number } = await asked(setting);
    await harness.github.review(REPO, number, login, 'CHANGES_REQUESTED');
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('blocks the merge if a query shows an older state than the last read of the pull request', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await asked();
    const { github } = harness;
    const id = approvalOf(harness, number).id;
    await github.react(REPO, id, 'mia', 'rocket');
    let shown: unknown;
    github.onRequest(({ path, responseBody }) => {
      const text = JSON.stringify(responseBody);
      if (path === '/graphql' && /reviews.*ROCKET/.test(text)) shown ??= responseBody;
    });
    // The first recheck reads the old state, but a later read fails.
    const restore = github.fail(({ path }) => path.includes('/permission'), { status: 502 });
    await harness.advance(4_000);
    expect(shown).toBeDefined();
    github.holdDeliveries();
    await github.review(REPO, number, 'will', 'CHANGES_REQUESTED');
    await github.comment(REPO, number, 'will', 'Please wait.');
    restore();
    github.fail(({ path }) => path === '/graphql', { status: 200, body: shown });
    await harness.advance(60_000);
    expect(github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${HELD_BY_WILL}`]);
  });

  test('that GitHub refuses to show is not considered missing', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked();
    harness.github.fail(({ path }) => path.includes('/reviews'), { status: 403, body: { message: 'No' } });
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Not merging: it is not known whether a maintainer requests changes: GitHub refuses to tell (forbidden, 403)',
    ]);
  });
});

describe('a conflict with the base branch', () => {
  const conflicting = { files: { 'README.md': '# Greetings\n' } };
  const theirs = { 'README.md': '# The app\n' };

  /** The pull request conflicts before the app hears of it. */
  async function conflictingFromTheStart(options: HarnessOptions = {}) {
    const harness = await start({ chain: MERGE_ONLY, ...options });
    const { github } = harness;
    github.holdDeliveries();
    const before = github.branch(REPO, 'main') ?? '';
    const opened = await github.openPullRequest({
      repo: REPO,
      author: 'ada',
      branch: 'greet',
      title: 'Greet people by name',
      ...conflicting,
    });
    await github.push({ repo: REPO, branch: 'main', author: 'max', files: theirs });
    await github.releaseDeliveries();
    await harness.settle();
    return { harness, before, ...opened };
  }

  test('is reported, and nobody is asked', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await conflictingFromTheStart();
    await harness.advance(600_000);
    expect(approvals(harness, number)).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${CONFLICTS}`]);
    expect(headline(statusOf(harness, number))).toBe(`✋ ${CONFLICTS}`);
    expect(statusOf(harness, number).body).not.toContain('by itself');
  });

  test('that ends on the base branch lets the maintainers be asked at once', { tags: 'slow' }, async () => {
    const { harness, number, before } = await conflictingFromTheStart();
    const { github } = harness;
    await github.push({ repo: REPO, branch: 'main', author: 'max', forceTo: before });
    await harness.settle();
    expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
    await countersign(harness, number);
    expect(github.merges).toHaveLength(1);
  });

  test('that a push resolves leads to an approval comment for the new head', { tags: 'slow' }, async () => {
    const { harness, number } = await conflictingFromTheStart();
    const { github } = harness;
    const forceTo = github.branch(REPO, 'main') ?? '';
    await github.push({ repo: REPO, branch: 'greet', author: 'ada', forceTo, ...conflicting });
    await harness.settle();
    expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
    await countersign(harness, number);
    expect(github.merges).toHaveLength(1);
  });

  test('is not assumed while GitHub computes it', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY, mergeability: 'lazy' });
    const { number } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('that GitHub reports only after a while is reported before anybody is asked', {
    tags: 'slow',
  }, async () => {
    const { harness, number, headSha } = await conflictingFromTheStart({ mergeability: 'lazy' });
    await harness.advance(10_000);
    expect(approvals(harness, number)).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${CONFLICTS}`]);
  });

  test('that a refused merge reveals is named, and the merge is not retried repeatedly', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: MERGE_ONLY, mergeability: 'lazy' });
    const { github } = harness;
    const { number, headSha } = await open(harness, conflicting);
    await harness.advance(A_RECHECK);
    let pushed = false;
    github.fail((request) => {
      if (pushed || request.method !== 'PUT') return false;
      pushed = true;
      void github.push({ repo: REPO, branch: 'main', author: 'max', files: theirs });
      return false;
    }, 'reset');
    await react(harness, number, 'mia');
    await harness.advance(120_000);
    expect(github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${CONFLICTS}`]);
    expect(github.mergeRequests).toHaveLength(1);
  });

  test('that only the refusal of the merge names is said with what to do', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    const { number, headSha } = await open(harness);
    github.fail(
      ({ method, path }) => method === 'PUT' && path.endsWith('/merge'),
      { status: 405, body: { message: 'Pull Request has merge conflicts' } },
      1,
    );
    await countersign(harness, number);
    const found =
      'onflicts with main, as GitHub found when it was to be merged: resolve them by merging or rebasing';
    expect(checkLines(harness, headSha)).toEqual([`in_progress: C${found}`]);
    expect(approvalOf(harness, number).body).toContain(`> **On hold:** Not merging: c${found}.`);
    const { summary } = ownCheck(harness, headSha);
    expect(summary).toContain('**Next:** Merge the base branch into the branch of this pull request');
    expect(summary).not.toContain('by itself');
  });
});
