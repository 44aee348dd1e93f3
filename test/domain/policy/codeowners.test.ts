// @module-tag security

import { describe, expect, test } from 'vitest';
import {
  CODEOWNERS_PATHS,
  parseCodeowners,
  TooManyOwners,
} from '../../../src/domain/policy/facts/codeowners.ts';

const owns = (pattern: string, path: string) => parseCodeowners(`${pattern} @o\n`).of(path) !== undefined;

/**
 * What GitHub does with a pattern: the pattern, paths that it owns, and paths that it does not own. The rules are those of
 * GitHub's page "About code owners". Where it leaves a case open, the answer comes from `testdata/patterns.json` of
 * https://github.com/hmarr/codeowners, whose authors compared each case with GitHub.
 */
const CASES: readonly [pattern: string, owned: string[], others: string[]][] = [
  ['*', ['a.ts', 'deep/in/a.ts'], []],
  ['*.js', ['a.js', 'deep/a.js'], ['a.jsx']],
  // A name without a slash matches at any depth: files of this name, and everything in folders of this name.
  ['lib', ['lib', 'lib/a', 'x/lib', 'x/lib/a'], ['lib.ts', 'x/lib.ts', 'x/a', 'library/a']],
  ['lib/', ['lib/a', 'lib/x/a', 'x/lib/a', 'x/lib/y/a'], ['lib', 'x/lib', 'x/a']],
  // A slash at the start or inside anchors the pattern at the root.
  ['/lib', ['lib', 'lib/a', 'lib/x/a'], ['library', 'x/lib', 'x/lib/a', 'x/a']],
  ['/lib/', ['lib/a', 'lib/x/a'], ['lib', 'x/lib', 'x/lib/a', 'x/lib/y/a']],
  ['lib/api', ['lib/api', 'lib/api/a'], ['lib/apis', 'x/lib/api', 'x/lib/api/a']],
  ['/lib/api', ['lib/api', 'lib/api/a'], ['lib/apis', 'x/lib/api', 'x/lib/api/a']],
  ['lib/api/', ['lib/api/a'], ['lib/api', 'lib/apis', 'x/lib/api/a']],
  ['/lib/api/', ['lib/api/a', 'lib/api/x/a'], ['lib/api', 'x/lib/api/a']],
  // A star stays within one name. As the whole last name, it owns the files of the folder but not those of its subfolders.
  ['l*', ['lib', 'lib/a', 'x/lib', 'x/lib/a'], ['x/a', 'alib']],
  ['/*', ['lib', 'README.md'], ['lib/a', 'lib/x/a']],
  ['/l*', ['lib', 'lib/a', 'lib/x/a'], ['x/lib', 'x/lib/a', 'alib']],
  ['l*/', ['lib/a', 'x/lib/a'], ['lib', 'x/lib', 'alib']],
  ['/*/', ['lib/a', 'x/lib', 'x/lib/a'], ['lib']],
  ['/l*/', ['lib/a'], ['lib', 'x/lib', 'x/lib/a', 'alib']],
  ['lib/*', ['lib/a'], ['lib', 'lib/x/a', 'x/lib', 'x/lib/a', 'alib']],
  ['lib/*.md', ['lib/a.md'], ['lib', 'lib/x/a.md', 'x/lib/a.md', 'x/lib/y/a.md']],
  ['lib/*/api', ['lib/x/api', 'lib/x/api/a'], ['lib', 'lib/x', 'lib/api']],
  ['l?b', ['lib'], ['lb', 'liib', 'l/b']],
  // Two stars match any number of folders, but only as a whole name.
  ['**/lib/api', ['lib/api', 'x/lib/api', 'x/lib/api/a'], ['lib/a/api', 'x/lib/a/api']],
  ['**/*lib*', ['lib', 'x/lib', 'x/alib', 'x/library', 'x/y/lib'], ['x/lb']],
  ['lib/api/**', ['lib/api/a', 'lib/api/x/a'], ['lib/api', 'x/lib/api', 'x/lib/api/a']],
  [
    'lib/**/api',
    ['lib/api', 'lib/api/a', 'lib/x/api/a', 'lib/x/y/api/a', 'lib/api/x/a'],
    ['x/lib/api', 'x/lib/api/a'],
  ],
  ['lib/**/', ['lib/a', 'lib/x/a'], ['lib']],
  ['lib/**/api/a*', ['lib/api/ab', 'lib/x/api/ab'], ['lib/api', 'lib/api/b', 'lib/x/api', 'lib/x/api/b']],
  ['/lib/**', ['lib/a'], ['lib']],
  ['/lib/**/*.ts', ['lib/a.ts', 'lib/x/y/a.ts'], ['lib/a.js']],
  ['l**b', ['lib', 'lb'], ['l/b']],
  // A backslash makes the next character literal.
  ['l\\*b', ['l*b'], ['lib', 'lb']],
  ['l\\?b', ['l?b'], ['lib']],
  ['l\\**b', ['l*b', 'l*x-b'], ['l*', 'lib']],
  ['/lib/\\*', ['lib/*'], ['lib/a']],
  ['with\\ space.md', ['with space.md', 'x/with space.md'], ['with']],
  ['lib\\(1\\).md', ['lib(1).md'], []],
  ['lib(1).md', ['lib(1).md'], []],
  // Paths are case-sensitive.
  ['README.md', ['README.md', 'lib/README.md'], ['readme.md', 'Readme.md']],
];

describe('a CODEOWNERS pattern', () => {
  test.each(CASES)('owns the same files as on GitHub: %s', (pattern, owned, others) => {
    expect(owned.filter((path) => !owns(pattern, path))).toEqual([]);
    expect(others.filter((path) => owns(pattern, path))).toEqual([]);
  });
});

describe('a CODEOWNERS file', () => {
  const owners = (text: string, path: string) =>
    parseCodeowners(text)
      .of(path)
      ?.owners.map(({ text: owner }) => owner);

  test.each([
    ['the last matching line wins', '* @a\n*.ts @b\n', 'x.ts', ['@b']],
    ['a line without owners takes the owners away', '* @a\n/free/\n', 'free/x', []],
    [
      'a line with only a comment instead of owners also takes them away',
      '* @a\n/free/ # anybody\n',
      'free/x',
      [],
    ],
    ['comments are ignored', '# all\n* @a # and not @b\n', 'x', ['@a']],
    ['spaces and tabs around words are ignored', ' \t* \t @a \t \n', 'x', ['@a']],
    ['lines can end with CR LF', '* @a\r\n*.ts @b\r\n', 'x.ts', ['@b']],
    ['an empty file owns nothing', '\n\r\n', 'x', undefined],
    [
      'a line may name many owners',
      '* @a @octo/core ada@example.org\n',
      'x',
      ['@a', '@octo/core', 'ada@example.org'],
    ],
  ])('%s', (_, text, path, expected) => {
    expect(owners(text, path)).toEqual(expected);
  });

  /**
   * GitHub skips a line with invalid syntax and continues (same page). Which lines are invalid comes from that page and from the
   * example of https://docs.github.com/en/rest/repos/repos#list-codeowners-errors.
   */
  test.each([
    ['a negation', '!x.ts @b'],
    ['a character range', '/[xy].ts @b'],
    ['a GitLab section', '[Docs][2] @b'],
    ['an escaped hash at the start', '\\#x.ts @b'],
    ['three stars', '***/x.ts @b'],
    ['an owner without an at sign', 'x.ts b'],
    ['half an address as the owner', 'x.ts docs@'],
    ['only an at sign as the owner', 'x.ts @'],
    ['one bad owner beside a good one', 'x.ts @b b'],
    ['only the root', '/ @b'],
  ])('is read without a line that has %s, and that line is reported', (_, line) => {
    const codeowners = parseCodeowners(`* @a\n${line}\n`);
    expect([codeowners.skipped, codeowners.of('x.ts')?.line, codeowners.of('#x.ts')?.line]).toEqual([
      [2],
      1,
      1,
    ]);
  });

  test.each([
    ['@Ada', { kind: 'user', login: 'Ada' }],
    ['@octo/core', { kind: 'team', organisation: 'octo', slug: 'core' }],
    ['7+ada@users.noreply.github.com', { kind: 'account', id: 7 }],
    ['ada@example.org', { kind: 'nobody' }],
  ])('can name the owner %s', (word, owner) => {
    expect(parseCodeowners(`* ${word}`).of('x')?.owners).toEqual([{ text: word, owner }]);
  });

  test('with very many globs is refused instead of compared for minutes', { tags: 'slow' }, () => {
    const codeowners = parseCodeowners('/**/a?/x @a\n'.repeat(4_000));
    expect(() => Array.from({ length: 3_000 }, (_, n) => codeowners.of(`f${n}`))).toThrow(TooManyOwners);
  });

  test('is looked for in the same places and order as on GitHub', () => {
    expect(CODEOWNERS_PATHS).toEqual(['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']);
  });
});
