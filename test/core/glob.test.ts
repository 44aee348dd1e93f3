import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyGlobMatches, globMatches, globProblem, plainGlobMatches } from '../../src/core/glob.ts';
import { withinEffort } from '../support/effort.ts';

describe('a glob', () => {
  test.each([
    ['main', 'main', true],
    ['main', 'maintain', false],
    ['release/*', 'release/1.2', true],
    ['release/*', 'release/1/2', false],
    ['release/**', 'release/1/2', true],
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/deep/a.ts', true],
    ['**/a.ts', 'xa.ts', false],
    ['**/a.ts', 'x/a.ts', true],
    ['src/**/a.ts', 'src/a.ts', true],
    ['src/**/a.ts', 'src/x/y/a.ts', true],
    ['src/**/a.ts', 'srca.ts', false],
    ['src/**', 'src', false],
    ['**', 'any/thing', true],
    ['**', '', true],
    ['v?', 'v1', true],
    ['v?', 'v/', false],
    ['v?', 'v', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a***b', 'a/x/b', true],
    ['dependabot[bot]', 'dependabott', true],
    ['dependabot\\[bot]', 'dependabot[bot]', true],
    ['{main,release/*}', 'main', true],
    ['{main,release/*}', 'release/1', true],
    ['{main,release/*}', 'next', false],
    ['a{,b}c', 'ac', true],
    ['a{b,{c,d}}', 'ad', true],
    ['v[0-9].[!x]', 'v1.2', true],
    ['v[0-9].[!x]', 'v1.x', false],
    ['v[!0]', 'v/', false],
    ['[a-]', '-', true],
    ['[]]', ']', true],
    ['{a', '{a', false],
    ['\\{a', '{a', true],
    ['a.c', 'abc', false],
    ['?', '🚀', true],
    ['', '', true],
    ['', 'x', false],
  ])('matches %j against %j: %j', (pattern, text, expected) => {
    expect(globMatches(pattern, text)).toBe(expected);
  });

  test.each([
    ['{a,b', 'a "{" has no "}"; write \\{ for the character itself'],
    ['[ab', 'a "[" has no "]"; write \\[ for the character itself'],
    ['[b-a]', 'the range b-a is backwards'],
    ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}', 'its braces stand for more than 64 alternatives'],
    ['{{{{{a}}}}}', 'its braces are nested too deeply'],
    ['src/{a,b}/[cd]*.ts', undefined],
  ])('%j cannot be used because %j', (pattern, because) => {
    expect(globProblem(pattern)).toBe(because);
  });

  test('in a list excludes what an entry behind a "!" matches', () => {
    const docs = ['docs/**', '!docs/internal/**'];
    expect(anyGlobMatches(docs, 'docs/a.md')).toBe(true);
    expect(anyGlobMatches(docs, 'docs/internal/a.md')).toBe(false);
    expect(anyGlobMatches(['!docs/**'], 'src/a.ts')).toBe(true);
    expect(anyGlobMatches([], 'src/a.ts')).toBe(false);
  });

  test('with plain brackets and braces is what CODEOWNERS and logins have', () => {
    expect(plainGlobMatches('dependabot[bot]', 'dependabot[bot]')).toBe(true);
    expect(plainGlobMatches('{a,b}', 'a')).toBe(false);
  });

  test('refuses within limited work what a backtracking matcher would never finish', () => {
    const matches = () => globMatches(`${'**a'.repeat(8)}b`, 'a'.repeat(4_096));
    expect(withinEffort(100, matches)).toBe(false);
  });

  test('agrees with a plain recursive definition', () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', '/', '?', '*', '**', '/**/', '**/'), { maxLength: 6 });
    const text = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 7 });
    fc.assert(
      fc.property(pattern, text, (parts, chars) => {
        const glob = parts.join('').replace(/\*{3,}/g, '**');
        expect(globMatches(glob, chars.join(''))).toBe(slowly(glob, chars.join(''), true));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** The definition taken literally, with unlimited backtracking. */
function slowly(glob: string, text: string, folderMayOpen: boolean): boolean {
  if (glob === '') return text === '';
  if (glob.startsWith('**/') && folderMayOpen) {
    if (slowly(glob.slice(3), text, true)) return true;
    return [...text].some(
      (char, index) => char === '/' && slowly(glob.slice(3), text.slice(index + 1), true),
    );
  }
  if (glob.startsWith('*')) {
    const deep = glob.startsWith('**');
    const rest = glob.slice(deep ? 2 : 1);
    for (let end = 0; end <= text.length; end++) {
      if (!deep && text.slice(0, end).includes('/')) break;
      if (slowly(rest, text.slice(end), false)) return true;
    }
    return false;
  }
  const fits = glob[0] === '?' ? text !== '' && text[0] !== '/' : glob[0] === text[0];
  return fits && text !== '' && slowly(glob.slice(1), text.slice(1), glob[0] === '/');
}
