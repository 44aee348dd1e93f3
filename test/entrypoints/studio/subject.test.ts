import { expect, test } from 'vitest';
import { subjectOf } from '../../../src/entrypoints/studio/subject.ts';
import type { ReadTx } from '../../../src/ports/storage.ts';
import { Visible } from '../../../src/ports/visible.ts';

const KNOWN = { repositoryId: 7, repository: 'octo/app' };
const read = {
  overview: { repositoryAt: async (name: string) => (name.toLowerCase() === 'octo/app' ? KNOWN : undefined) },
} as unknown as Pick<ReadTx, 'overview'>;

test.each([
  ['octo/app#12', 12],
  [' OCTO/app#12 ', 12],
  ['https://github.com/octo/app/pull/12', 12],
  ['https://ghes.example:8443/octo/app/pull/12/files?w=1#diff', 12],
  ['/octo/app/pull/12', 12],
  ['octo/app/pull/12', 12],
  ['octo/app', null],
])('%j names a pull request, or a repository alone', async (text, pullRequest) => {
  expect(await subjectOf(read, Visible.only([7]), text)).toEqual({ ...KNOWN, pullRequest });
});

test.each([
  '',
  '#1',
  'octo',
  'octo/app#0',
  'octo/app#1;x',
  'octo/app#12345678901',
  '../app#1',
  'octo/app/issues/1',
])('%j names nothing', async (text) => {
  expect(await subjectOf(read, Visible.everything(), text)).toEqual({ wrong: 'no_form' });
});

test('a repository that the person does not see is as hidden as one that does not exist', async () => {
  expect([
    await subjectOf(read, Visible.only([8]), 'octo/app#1'),
    await subjectOf(read, Visible.only([8]), 'octo/none#1'),
  ]).toEqual([
    { wrong: 'hidden', repository: 'octo/app' },
    { wrong: 'hidden', repository: 'octo/none' },
  ]);
});
