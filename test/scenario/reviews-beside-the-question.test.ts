// @module-tag security
// @module-tag slow

import { describe, expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  checkLines,
  countersign,
  MERGE_ONLY,
  open,
  ownCheck,
  pushAgain,
  type Setting,
  start,
} from './support.ts';

const REQUIRED = 'countersign: { review: required }\n';
const STEP_REQUIRES = MERGE_ONLY.replace(
  'requires_approval: true',
  'requires_approval: { review: required }',
);

async function asked(setting: Setting = {}): Promise<{ harness: Harness; number: number; headSha: string }> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  return { harness, ...(await open(harness)) };
}

/** The paragraphs of the approval comment about what people said on GitHub. */
function saidOnGitHub(harness: Harness, number: number): string[] {
  return approvalOf(harness, number)
    .body.split('\n\n')
    .filter((part) => /^(\*\*(Approved on|A review|Conversations)|> \*\*GitHub refuses)/.test(part));
}

describe('an approving review', () => {
  test('of the head, by somebody who may countersign, is shown beside the question', async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    expect(saidOnGitHub(harness, number)).toEqual([]);
    await github.review(REPO, number, 'mia', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(saidOnGitHub(harness, number)).toEqual(['**Approved on GitHub by:** `mia`.']);
    expect(github.merges).toEqual([]);
  });

  test('that was there before the question is in it from the start', async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    github.holdDeliveries();
    const { number } = await open(harness);
    await github.review(REPO, number, 'max', 'APPROVED');
    await github.releaseDeliveries();
    await harness.settle();
    expect(saidOnGitHub(harness, number)).toEqual(['**Approved on GitHub by:** `max`.']);
  });

  test.each([
    ['by somebody who may not countersign', 'will', {}],
    ['by somebody outside', 'otto', {}],
    ['by somebody who co-wrote a commit', 'mia', { coAuthors: ['mia'] }],
  ])('%s is not shown', async (_, login, input) => {
    const harness = await start({ chain: MERGE_ONLY });
    const { number } = await open(harness, input);
    await harness.github.review(REPO, number, login, 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(saidOnGitHub(harness, number)).toEqual([]);
  });

  test('of an earlier head is not shown', async () => {
    const { harness, number } = await asked();
    await harness.github.review(REPO, number, 'mia', 'APPROVED');
    await pushAgain(harness);
    await harness.advance(A_RECHECK);
    expect(saidOnGitHub(harness, number)).toEqual([]);
  });
});

describe.each([
  ['the settings', { settings: REQUIRED }],
  ['the step', { chain: STEP_REQUIRES }],
])('with a required review of %s', (_, setting) => {
  const MISSING =
    '**A review is needed, too:** One of those who may answer approves this commit in a review on GitHub. The same person may do both.';

  test('a reaction alone does not merge, and the question says what is missing', async () => {
    const { harness, number, headSha } = await asked(setting);
    expect(saidOnGitHub(harness, number)).toEqual([MISSING]);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(approvalOf(harness, number).body).toContain(
      `nobody who may countersign has approved ${headSha.slice(0, 7)} in a review on GitHub yet`,
    );
    expect(ownCheck(harness, headSha)).toMatchObject({
      title: `Countersigned by mia; nobody who may countersign has approved ${headSha.slice(0, 7)} in a review on GitHub yet`,
      summary: expect.stringContaining(
        'One of those who may countersign approves this commit in a review on GitHub.',
      ),
    });
  });

  test('a review alone does not merge', async () => {
    const { harness, number } = await asked(setting);
    await harness.github.review(REPO, number, 'mia', 'APPROVED');
    await harness.advance(60_000);
    expect(harness.github.merges).toEqual([]);
  });

  test('one person may give both', async () => {
    const { harness, number } = await asked(setting);
    await countersign(harness, number);
    await harness.github.review(REPO, number, 'mia', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });
});

describe('a required review', () => {
  test.each([
    ['somebody who may not countersign', 'will', {}],
    ['somebody who co-wrote a commit', 'max', { coAuthors: ['max'] }],
  ])('by %s does not count', async (_, login, input) => {
    const harness = await start({ chain: MERGE_ONLY, settings: REQUIRED });
    const { number } = await open(harness, input);
    await harness.github.review(REPO, number, login, 'APPROVED');
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
  });

  test('that is dismissed does not count', async () => {
    const { harness, number } = await asked({ settings: REQUIRED });
    const { github } = harness;
    const review = await github.review(REPO, number, 'max', 'APPROVED');
    await github.dismissReview(REPO, number, review, 'ada');
    await countersign(harness, number);
    expect(github.merges).toEqual([]);
  });

  test('of an earlier head does not count', async () => {
    const { harness, number } = await asked({ settings: REQUIRED });
    await harness.github.review(REPO, number, 'max', 'APPROVED');
    await pushAgain(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
  });

  test('does not count if GitHub refuses to show the reviews', async () => {
    const { harness, number } = await asked({
      settings: `${REQUIRED}merge: { changes_requested: ignore }\n`,
    });
    const { github } = harness;
    await github.review(REPO, number, 'max', 'APPROVED');
    github.fail(({ path }) => path.includes('/reviews') || path === '/graphql', {
      status: 403,
      body: { message: 'No' },
    });
    await countersign(harness, number);
    expect(github.merges).toEqual([]);
  });
});

describe('an unresolved conversation', () => {
  test('is shown beside the question until it is resolved, and holds up no merge', async () => {
    const { harness, number } = await asked();
    const { github } = harness;
    const id = await github.beginConversation(REPO, number, 'otto', 'src/greet.ts');
    await github.beginConversation(REPO, number, 'will', 'src/greet.ts');
    await harness.advance(A_RECHECK);
    expect(saidOnGitHub(harness, number)).toEqual(['**Conversations:** 2 are unresolved.']);
    await github.resolveConversation(REPO, number, id, 'ada');
    await harness.advance(A_RECHECK);
    expect(saidOnGitHub(harness, number)).toEqual(['**Conversations:** 1 is unresolved.']);
    await countersign(harness, number);
    expect(github.merges).toHaveLength(1);
  });

  test.each([
    [
      'the branch protection',
      (github: Harness['github']) => github.protectBranch(REPO, 'main', { conversations: true }),
    ],
    ['a ruleset', (github: Harness['github']) => github.addRuleset(REPO, { conversations: true })],
  ])(
    'that %s requires to be resolved is announced before anybody answers, and the merge follows once it is',
    async (_, require) => {
      const harness = await start({ chain: MERGE_ONLY });
      const { github } = harness;
      require(github);
      github.holdDeliveries();
      const { number, headSha } = await open(harness);
      const id = await github.beginConversation(REPO, number, 'will', 'src/greet.ts');
      await github.releaseDeliveries();
      await harness.settle();
      expect(saidOnGitHub(harness, number)).toEqual([
        '> **GitHub refuses the merge for now:** The branch main requires that every conversation is resolved, and 1 is not. You can answer already; the merge follows once that is settled.',
        '**Conversations:** 1 is unresolved.',
      ]);
      await countersign(harness, number);
      expect(github.merges).toEqual([]);
      expect(checkLines(harness, headSha)).toEqual([
        'in_progress: Not merging: the branch main requires that every conversation is resolved, and GitHub says that some are not; once they are, this is tried again',
      ]);
      await harness.advance(60_000);
      await github.resolveConversation(REPO, number, id, 'will');
      await harness.advance(A_RECHECK);
      expect(github.merges).toHaveLength(1);
    },
  );
});

test('missing reviews that the branch requires are announced before anybody answers', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.protectBranch(REPO, 'main', { approvals: 2 });
  const { number } = await open(harness);
  const announced =
    '> **GitHub refuses the merge for now:** The branch main requires 2 approving reviews, and GitHub says that some are missing. You can answer already; the merge follows once that is settled.';
  expect(saidOnGitHub(harness, number)).toEqual([announced]);
  await github.review(REPO, number, 'will', 'APPROVED');
  await github.review(REPO, number, 'max', 'APPROVED');
  await harness.advance(A_RECHECK);
  expect(saidOnGitHub(harness, number)).toEqual(['**Approved on GitHub by:** `max`.']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});
