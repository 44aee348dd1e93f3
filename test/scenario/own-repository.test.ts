// @module-tag slow
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { REPO } from '../support/harness.ts';
import { approvals, countersign, open, start } from './support.ts';

/** The settings and the chain that Countersign uses for its own repository. */
const FILES = Object.fromEntries(
  ['.github/countersign.yml', '.github/countersign/chains/review-and-merge.yaml'].map((path) => [
    path,
    readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'),
  ]),
);
const REQUIRED: string[] = parse(FILES['.github/countersign.yml'] ?? '').ci.required;

test('a pull request to Countersign merges after every review, every job of CI and a countersign', async () => {
  const harness = await start({ files: FILES });
  const { number, headSha } = await open(harness);
  const report = async (context: string) => {
    await harness.github.setStatus(REPO, headSha, { context, state: 'success' });
    await harness.settle();
  };
  const [last = '', ...others] = REQUIRED;
  for (const context of others) await report(context);
  expect(approvals(harness, number)).toEqual([]);
  await report(last);
  await countersign(harness, number);
  expect(harness.github.merges).toMatchObject([{ number, method: 'rebase' }]);
});

test('a pull request to Countersign that one review refuses shows why, and nobody is asked to countersign it', async () => {
  const harness = await start({ files: FILES });
  const { number, headSha } = await open(harness, {
    files: { 'migrations/sqlite/0100_drop.sql': 'DROP TABLE deliveries;\n' },
  });
  for (const context of REQUIRED)
    await harness.github.setStatus(REPO, headSha, { context, state: 'success' });
  await harness.settle();
  expect(approvals(harness, number)).toEqual([]);
  const comments = harness.github.comments(REPO, number).map(({ body }) => body);
  expect(comments.filter((body) => !body.includes('<!-- countersign:status'))).toEqual([
    expect.stringContaining('must be fixed'),
  ]);
});
