import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  checkLines,
  countersign,
  hasExpired,
  headline,
  MERGE_ONLY,
  open,
  ownCheck,
  ownChecks,
  react,
  start,
} from './support.ts';

const CHAIN = '.github/countersign/chains/pr-review.yaml';
const FROZEN = `    gates: { pre: [{ id: freeze, criteria: [{ id: week, freeze: { from: 2026-03-01, until: 2026-03-08, reason: a release is out } }] }] }\n`;
const MERGE_STEP = '  - id: merge\n';

/** MERGE_ONLY with the changes of the test. */
const chainWith = (change: (text: string) => string) => change(MERGE_ONLY);

/** Somebody pushes to main, and no event reports it to the app. */
async function changeUnnoticed({ github }: Harness, files: Record<string, string | null>): Promise<void> {
  github.holdDeliveries();
  await github.push({ repo: REPO, branch: 'main', author: 'max', files });
}

/** The files change while an approval is open; then mia countersigns. */
async function countersignedAfter(files: Record<string, string | null>, chain = MERGE_ONLY) {
  const harness = await start({ chain });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await changeUnnoticed(harness, files);
  await countersign(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  return { harness, number, headSha };
}

eachFirstQuick<[string, Record<string, string | null>, string]>([
  [
    'a gate with a freeze',
    { [CHAIN]: chainWith((text) => text + FROZEN) },
    `${CHAIN} on main changed since this was asked: gates of merge`,
  ],
  [
    'another condition',
    { [CHAIN]: chainWith((text) => `${text}    condition: "{{ trigger.author == 'max' }}"\n`) },
    `${CHAIN} on main changed since this was asked: condition of merge`,
  ],
  [
    'another value in `with`',
    { [CHAIN]: chainWith((text) => text.replace('}}" }', '}}", method: rebase }')) },
    `${CHAIN} on main changed since this was asked: with of merge`,
  ],
  [
    'a step before the merge',
    { [CHAIN]: chainWith((text) => text.replace(MERGE_STEP, `  - id: ci\n    skill: ci\n${MERGE_STEP}`)) },
    `${CHAIN} on main changed since this was asked: depends_on of merge, the new step ci`,
  ],
  [
    'the removal of the merge step',
    { [CHAIN]: labelOnly() },
    `${CHAIN} on main changed since this was asked: there is no step merge any more`,
  ],
  [
    'a filter that excludes the pull request',
    { [CHAIN]: chainWith((text) => text.replace('draft: false', 'draft: false, labels: [ready]')) },
    `${CHAIN} on main changed since this was asked: its trigger, which leaves this pull request out`,
  ],
  [
    'settings that run no chain',
    { '.github/countersign.yml': 'chains: []\n' },
    'the chain pr-review is not in force on main any more',
  ],
  [
    'the deletion of its file, after which the shipped chain has its name',
    { [CHAIN]: null },
    'the chain pr-review is the shipped one now, which differs from the one that asked: ',
  ],
])('%s voids an open approval, and the comment names it', async (_, files, because) => {
  const { harness, number, headSha } = await countersignedAfter(files);
  expect(harness.github.merges).toEqual([]);
  const [question] = approvals(harness, number);
  expect(question && hasExpired(question)).toBe(true);
  const read = [question?.body, ownChecks(harness, headSha)[0]?.summary];
  for (const text of read)
    expect(text?.replaceAll(/[`\\]/g, '').toLowerCase()).toContain(because.toLowerCase());
});

function labelOnly(): string {
  return `${MERGE_ONLY.slice(0, MERGE_ONLY.indexOf('  - id: merge'))}  - { action: gh-label, with: { labels: [seen] } }\n`;
}

test('an approval that a chain change voided is asked again by the new chain', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await countersignedAfter({
    [CHAIN]: chainWith((text) => text.replace('}}" }', '}}", method: rebase }')),
  });
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual([
    'cancelled: Stopped: the chain changed on the governing branch',
    'success: Merged: countersigned by mia',
  ]);
});

test('an invalid chain file blocks the merge, and the approval counts again once the file is fixed', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await countersignedAfter({ [CHAIN]: `${MERGE_ONLY}    oops: 1\n` });
  expect(harness.github.merges).toEqual([]);
  expect(ownCheck(harness, headSha).summary).toContain('pr-review.yaml on main has errors');
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files: { [CHAIN]: MERGE_ONLY } });
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a chain change that does not affect the step voids no approval', { tags: 'slow' }, async () => {
  const { harness, headSha } = await countersignedAfter({
    [CHAIN]: `# A remark.\ndescription: what it is for\n${MERGE_ONLY}    timeout: 3d\n  - { id: after, action: gh-label, with: { labels: [merged] } }\n`,
    'README.md': '# Another text\n',
  });
  expect(harness.github.merges).toHaveLength(1);
  expect(ownChecks(harness, headSha)).toHaveLength(1);
});

test('a chain change that a webhook reports voids the approval before anybody answers', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness);
  const files = { [CHAIN]: chainWith((text) => text + FROZEN) };
  await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(hasExpired)).toEqual([true, false]);
  await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
});
