import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  countersign,
  hasExpired,
  headline,
  MERGE_ONLY,
  open,
  ownCheck,
  ownChecks,
  start,
} from './support.ts';

const CHAIN = '.github/countersign/chains/pr-review.yaml';
const SETTINGS = '.github/countersign.yml';
const WRITERS_MAY = 'countersign: { permission: write }\n';
const PULL_REQUESTS_ONLY = { approvals: 1, restrict: ['creations'] } as const;

/** A writer creates a branch whose own files would let writers countersign. */
async function makeEvil({ github }: Harness, name = 'evil'): Promise<void> {
  await github.push({ repo: REPO, branch: name, author: 'will', files: { [SETTINGS]: WRITERS_MAY } });
}

async function openInto(harness: Harness, base: string) {
  const opened = await open(harness, { base });
  await harness.advance(A_RECHECK);
  return opened;
}

test('a branch that a writer created does not decide who may countersign merges into it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await makeEvil(harness);
  const { number, headSha } = await openInto(harness, 'evil');
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toEqual([]);
  expect(ownCheck(harness, headSha).summary).toMatch(
    /configuration of main at [0-9a-f]{7}, as evil is not protected: whoever can write can push to it/,
  );
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toHaveLength(1);
});

test('a protected branch decides with its own files who may countersign merges into it', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await makeEvil(harness, 'next');
  harness.github.addRuleset(REPO, { branches: ['next'], ...PULL_REQUESTS_ONLY });
  const { number, headSha } = await openInto(harness, 'next');
  expect(ownCheck(harness, headSha).summary).not.toContain('configuration of');
  await harness.github.review(REPO, number, 'max', 'APPROVED');
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toHaveLength(1);
});

eachFirstQuick([
  ['a pattern that anybody can make branches for', { approvals: 1 }],
  ['a ruleset that only forbids its deletion', { restrict: ['creations', 'deletions'] as const }],
  [
    'required checks, which anybody with write access can set',
    { checks: ['test'], restrict: ['creations'] as const },
  ],
])('%s does not let a branch govern itself', async (_, ruleset) => {
  const harness = await start({ chain: MERGE_ONLY });
  await makeEvil(harness, 'release/evil');
  harness.github.addRuleset(REPO, { branches: ['release/*'], ...ruleset });
  const { headSha } = await openInto(harness, 'release/evil');
  expect(ownCheck(harness, headSha).summary).toContain('as release/evil is not protected');
});

test('a chain of the default branch sees the real base of the pull request', { tags: 'slow' }, async () => {
  const filtered = MERGE_ONLY.replace('draft: false', 'draft: false, base: main');
  const harness = await start({ chain: filtered });
  await makeEvil(harness);
  const { headSha, number } = await openInto(harness, 'evil');
  expect(approvals(harness, number)).toEqual([]);
  expect(ownChecks(harness, headSha)).toEqual([]);
});

test('an approval is void once the branch that governed it is no longer protected', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await makeEvil(harness, 'next');
  const id = harness.github.addRuleset(REPO, { branches: ['next'], ...PULL_REQUESTS_ONLY });
  const { number } = await openInto(harness, 'next');
  harness.github.removeRuleset(REPO, id);
  await countersign(harness, number, 'will');
  expect(harness.github.merges).toEqual([]);
  const [first, second] = approvals(harness, number);
  expect(first?.body).toContain('next is not protected any more, so main governs');
  expect(second && headline(second)).toBe('✍️ Approve this merge?');
});

test('code owners are those that the governing branch names', { tags: 'slow' }, async () => {
  const gated = `${MERGE_ONLY}    gates: { pre: [{ id: owners, criteria: [{ id: all, codeowners: approved }] }] }\n`;
  const harness = await start({ chain: gated, files: { CODEOWNERS: '* @max\n' } });
  await harness.github.push({
    repo: REPO,
    branch: 'evil',
    author: 'will',
    files: { CODEOWNERS: '* @will\n' },
  });
  const { number } = await openInto(harness, 'evil');
  await harness.github.review(REPO, number, 'will', 'APPROVED');
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toEqual([]);
  await harness.github.review(REPO, number, 'max', 'APPROVED');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a push to the governing branch voids an approval for another base', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await makeEvil(harness);
  const { number } = await openInto(harness, 'evil');
  const files = { [CHAIN]: MERGE_ONLY.replace('}}" }', '}}", method: rebase }') };
  await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(hasExpired)[0]).toBe(true);
});
