// @module-tag slow
import { expect, test } from 'vitest';
import { countersignAt } from '../entrypoints/cli/support.ts';
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
  react,
  start,
} from './support.ts';

const SETTINGS = '.github/countersign.yml';
const ORGANISATION = 'octo/.github';
const CACHED_MS = 61_000;

function organisation({ github }: Harness, files: Record<string, string>): void {
  github.addRepository({ owner: 'octo', name: '.github', defaultBranch: 'trunk', files });
}

/** GitHub answers as for an app that was removed from the organisation's repository. @returns a function that restores access. */
function takeOut({ github }: Harness, status = 404): () => void {
  return github.fail(({ path }) => path.startsWith(`/repos/${ORGANISATION}`), { status });
}

function setOrganisation({ github }: Harness, text: string): Promise<string> {
  return github.push({ repo: ORGANISATION, branch: 'trunk', author: 'max', files: { [SETTINGS]: text } });
}

test('unreadable settings of an organisation block every merge until they are readable again', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 1 }\n' });
  const { number, headSha } = await open(harness);
  const giveBack = takeOut(harness);
  await countersign(harness, number);
  expect(harness.github.merges).toEqual([]);
  expect(ownCheck(harness, headSha).summary).toContain('countersign organisation forget octo');
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  giveBack();
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('nobody is asked while the settings of the organisation are unreadable, also after a restart', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 2 }\n' });
  const first = await open(harness);
  takeOut(harness);
  await harness.restart();
  await harness.advance(CACHED_MS);
  const second = await open(harness, { branch: 'second', files: { 'src/two.ts': 'export {};\n' } });
  expect(approvals(harness, second.number)).toEqual([]);
  const [check] = ownChecks(harness, second.headSha);
  expect(check).toMatchObject({
    conclusion: 'neutral',
    title: 'The settings of the organisation cannot be read',
  });
  // An event of the first one finds no chain either, which must not count as an answer.
  await harness.github.addLabel(REPO, first.number, 'will', 'ready');
  await harness.settle();
  expect(ownChecks(harness, first.headSha).map(({ name, conclusion }) => [name, conclusion])).toContainEqual([
    'countersign / pr-review',
    null,
  ]);
});

test('an organisation whose settings an operator confirmed to be gone has none', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 1 }\n' });
  const { number } = await open(harness);
  takeOut(harness);
  await countersign(harness, number);
  expect(harness.github.merges).toEqual([]);
  const cli = countersignAt(harness.config.databaseUrl);
  expect(await cli('organisation', 'forget', 'Octo')).toMatchObject({ code: 0 });
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('settings that the organisation itself deleted, in a readable repository, do not exist', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 2 }\n', 'README.md': 'Hello.\n' });
  const { number } = await open(harness);
  const files = { [SETTINGS]: null };
  await harness.github.push({ repo: ORGANISATION, branch: 'trunk', author: 'max', files });
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
  takeOut(harness);
  const second = await open(harness, { branch: 'second', files: { 'src/two.ts': 'export {};\n' } });
  await countersign(harness, second.number);
  expect(harness.github.merges).toHaveLength(2);
});

test('settings of an organisation that GitHub refuses to show block a merge, although they were never seen', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  const giveBack = takeOut(harness, 403);
  await countersign(harness, number);
  expect(harness.github.merges).toEqual([]);
  expect(ownCheck(harness, headSha).summary).toContain('the settings of the organisation cannot be read');
  giveBack();
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toHaveLength(1);
});

test('a second countersign that the organisation starts to require applies to the next merge, not a minute later', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 1 }\n' });
  const { number } = await open(harness);
  await harness.advance(A_RECHECK);
  // No event reports the push: the poll itself must ask.
  harness.github.holdDeliveries();
  await setOrganisation(harness, 'countersign: { count: 2 }\n');
  await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  expect(harness.github.merges).toEqual([]);
  expect(approvals(harness, number).map(hasExpired)[0]).toBe(true);
});

test('a push to the repository of the organisation wakes its open approvals', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  organisation(harness, { [SETTINGS]: 'countersign: { count: 1 }\n' });
  const { number } = await open(harness);
  await setOrganisation(harness, 'countersign: { count: 2 }\n');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
});

test('a repository with laxer settings than its organisation’s minimum follows the minimum, and people see that', async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'countersign: { count: 1 }\n' });
  organisation(harness, { [SETTINGS]: 'minimum: { count: 2 }\n' });
  const { number, headSha } = await open(harness, { files: { [SETTINGS]: 'countersign:\n  count: 1\n' } });
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toEqual([]);
  const summaries = ownChecks(harness, headSha).map(({ summary }) => summary?.replaceAll(/[`\\]/g, ''));
  expect(summaries.join('\n')).toContain(
    'countersign.count is 2, the minimum of the organisation, and not 1',
  );
  expect(summaries.join('\n')).toContain(
    '.github/countersign.yml:2:10 1 is less than the minimum of the organisation, so 2 holds',
  );
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toHaveLength(1);
});
