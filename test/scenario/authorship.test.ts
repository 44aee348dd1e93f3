import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  checkLines,
  countersign,
  MERGE_ONLY,
  open,
  react,
  readable,
  type Setting,
  start,
} from './support.ts';

const UNKNOWN = 'Somebody <somebody@elsewhere.example>';

async function asked(
  input: Parameters<typeof open>[1],
  setting: Setting = {},
): Promise<{ harness: Harness; number: number; headSha: string }> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  harness.github.addUser('ada', { email: 'ada@octo.example' });
  harness.github.addUser('web-flow', { email: 'noreply@github.com' });
  return { harness, ...(await open(harness, input)) };
}

const isActivity = ({ path }: { path: string }) => path.includes('/activity');

describe('a person who pushed commits', () => {
  test('may not countersign them, whatever name is in the commits', { tags: 'slow' }, async () => {
    const { harness, number } = await asked({ pusher: 'mia' });
    await countersign(harness, number, 'mia');
    expect(harness.github.merges).toEqual([]);
    expect(approvalOf(harness, number).body).toContain('mia reacted, but pushed some of the commits');
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toHaveLength(1);
  });

  test('to somebody’s fork may not countersign them', { tags: 'slow' }, async () => {
    const { harness, number } = await asked({ fork: 'ada/app' });
    await harness.github.push({
      repo: 'ada/app',
      branch: 'greet',
      author: 'ada',
      pusher: 'mia',
      files: { 'b.txt': 'b\n' },
    });
    await harness.settle();
    await countersign(harness, number, 'mia');
    expect(harness.github.merges).toEqual([]);
  });

  test('is found in the repository’s activity if no webhook reported the push', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    github.uninstallApp('octo');
    await github.push({
      repo: REPO,
      branch: 'greet',
      author: 'ada',
      pusher: 'mia',
      files: { 'b.txt': 'b\n' },
    });
    github.installApp('octo');
    const { number } = await open(harness);
    await countersign(harness, number, 'mia');
    expect(github.merges).toEqual([]);
    await countersign(harness, number, 'max');
    expect(github.merges).toHaveLength(1);
  });

  test('is found in webhooks only if GitHub keeps no list of activity', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    harness.github.fail(isActivity, { status: 404, body: { message: 'Not Found' } });
    const { number } = await open(harness);
    expect(approvalOf(harness, number).body).toContain('One countersign is needed.');
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('is unknown if neither names them, so one more countersign is needed', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    harness.github.fail(isActivity, { status: 403, body: { message: 'Forbidden' } });
    const { number, headSha } = await open(harness, { fork: 'ada/app' });
    expect(readable(harness, approvalOf(harness, number).body, { head: headSha })).toContain(
      'Nobody knows who pushed <head>, so 2 countersigns are needed instead of 1.',
    );
    await countersign(harness, number, 'mia');
    expect(harness.github.merges).toEqual([]);
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toHaveLength(1);
  });
});

describe('commits that GitHub links to no account', () => {
  eachFirstQuick([
    ['its author', { writtenAs: UNKNOWN, committedAs: 'ada <ada@octo.example>' }],
    ['its committer', { committedAs: UNKNOWN }],
    ['a co-author', { coAuthors: [UNKNOWN] }],
    ['more than GitHub’s own address', { writtenAs: 'GitHub <noreply@github.com>' }],
  ])('with an unknown account as %s need one more countersign', async (_, input) => {
    const { harness, number, headSha } = await asked(input);
    expect(readable(harness, approvalOf(harness, number).body, { head: headSha })).toContain(
      'GitHub names no account for everybody who wrote or committed <head>, so 2 countersigns are needed instead of 1.',
    );
    await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Waiting for maintainers to countersign: 1 of 2 did',
    ]);
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toHaveLength(1);
  });

  test('need no additional countersign if the settings allow them', { tags: 'slow' }, async () => {
    const { harness, number } = await asked(
      { writtenAs: UNKNOWN },
      { settings: 'countersign: { unattributed: allow }\n' },
    );
    expect(approvalOf(harness, number).body).toContain('One countersign is needed.');
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('are not merged if the settings refuse them', { tags: 'slow' }, async () => {
    const { harness, number, headSha } = await asked(
      { writtenAs: UNKNOWN },
      { settings: 'countersign: { unattributed: refuse }\n' },
    );
    const held = `Not merging: GitHub names no account for everybody who wrote or committed ${headSha.slice(0, 7)}, which the settings refuse`;
    expect(approvalOf(harness, number).body).toContain(`> **On hold:** ${held}.`);
    await countersign(harness, number, 'mia');
    await countersign(harness, number, 'max');
    expect(harness.github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([`in_progress: ${held}`]);
  });
});

test('a commit made on GitHub’s pages needs no additional countersign', { tags: 'slow' }, async () => {
  const { harness, number } = await asked({ committedAs: 'GitHub <noreply@github.com>' });
  expect(approvalOf(harness, number).body).toContain('One countersign is needed.');
  await countersign(harness, number);
  expect(harness.github.merges).toHaveLength(1);
});
