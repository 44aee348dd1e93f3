import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, approvals, MERGE_ONLY, open, start } from './support.ts';

const MINUTE = 60_000;
const STATUS = '/countersign status';

async function flood(
  { github, settle }: Harness,
  number: number,
  login: string,
  count: number,
): Promise<number[]> {
  const ids: number[] = [];
  for (let at = 0; at < count; at++) ids.push(await github.comment(REPO, number, login, STATUS));
  await settle();
  return ids;
}

/** The app's answers to each comment: its reactions, and how many sentences of each kind. */
function answersTo({ github }: Harness, number: number, ids: readonly number[]): string[] {
  const comments = github.comments(REPO, number);
  return ids.map((id) => {
    const reactions = comments.find((one) => one.id === id)?.reactions.map(({ content }) => content) ?? [];
    const reply = comments.find(({ body }) => body.includes(`reply to=${id}`))?.body;
    const said = reply === undefined ? 'nothing' : reply.includes('times an hour') ? 'wait' : 'status';
    return [...reactions.sort(), said].join(' ');
  });
}

test('154 commands of an outsider do not delay the approval comment of another pull request', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness, { draft: true });
  await flood(harness, number, 'otto', 154);
  await harness.advance(8 * MINUTE);

  const other = await open(harness, { branch: 'other' });
  await harness.advance(A_RECHECK);
  expect(approvals(harness, other.number)).toHaveLength(1);
});

test('one person’s commands delay neither another person’s nor an approval comment', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness, { draft: true });
  const many = await flood(harness, number, 'will', 20);
  const [one = 0] = await flood(harness, number, 'mia', 1);
  const other = await open(harness, { branch: 'other' });
  await harness.advance(A_RECHECK);
  expect(answersTo(harness, number, [one])).toEqual(['eyes hooray status']);
  expect(approvals(harness, other.number)).toHaveLength(1);
  expect(answersTo(harness, number, many)).toContain('nothing');

  await harness.advance(5 * MINUTE);
  expect(new Set(answersTo(harness, number, many))).toEqual(new Set(['eyes hooray status']));
});

test('a person without write access gets five answers an hour, one note about that, and then reactions only', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness, { draft: true });
  const ids = await flood(harness, number, 'otto', 22);
  await harness.advance(5 * MINUTE);
  expect(answersTo(harness, number, ids)).toEqual([
    ...Array(5).fill('eyes hooray status'),
    'confused wait',
    ...Array(14).fill('confused nothing'),
    'nothing',
    'nothing',
  ]);

  const [member] = await flood(harness, number, 'will', 1);
  await harness.advance(60 * MINUTE);
  const [later] = await flood(harness, number, 'otto', 1);
  await harness.advance(MINUTE);
  expect(answersTo(harness, number, [member ?? 0, later ?? 0])).toEqual([
    'eyes hooray status',
    'eyes hooray status',
  ]);
});

test('a command that its writer may issue runs, however often they asked for the status', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number } = await open(harness, { author: 'otto' });
  await flood(harness, number, 'otto', 7);
  const id = await harness.github.comment(REPO, number, 'otto', '/countersign cancel');
  await harness.settle();
  await harness.advance(5 * MINUTE);
  expect(answersTo(harness, number, [id])).toEqual(['hooray nothing']);
  const runs = await harness.app.storage.read.runs.list({ pullRequest: number });
  expect(runs.map(({ status }) => status)).toEqual(['cancelled']);
});
