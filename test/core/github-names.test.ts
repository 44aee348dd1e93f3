import { expect, test } from 'vitest';
import { readName } from '../../src/core/github-names.ts';

test.each([
  ['octo/app', { repository: 'octo/app', pullRequest: null, host: null }],
  [' octo/app#12 ', { repository: 'octo/app', pullRequest: 12, host: null }],
  ['octo/app/pull/12', { repository: 'octo/app', pullRequest: 12, host: null }],
  ['/octo/app/pull/12', { repository: 'octo/app', pullRequest: 12, host: null }],
  ['mia_octo/app#12', { repository: 'mia_octo/app', pullRequest: 12, host: null }],
  ['https://github.com/octo/app/pull/12', { repository: 'octo/app', pullRequest: 12, host: 'github.com' }],
  [
    'http://ghes.example:8443/octo/app/pull/12/files?w=1#diff',
    { repository: 'octo/app', pullRequest: 12, host: 'ghes.example:8443' },
  ],
])('%j names a repository or a pull request', (text, named) => {
  expect(readName(text)).toEqual(named);
});

test.each([
  '',
  '#1',
  'octo',
  '-octo/app',
  'octo/app#0',
  'octo/app#01',
  'octo/app#1;x',
  'octo/app#12345678901',
  '../app#1',
  'octo/app/issues/1',
  'https://github.com/octo/app',
  'https://github.com/octo/app#12',
  'https://github.com',
  'ftp://github.com/octo/app/pull/1',
])('%j names nothing', (text) => {
  expect(readName(text)).toBeUndefined();
});
