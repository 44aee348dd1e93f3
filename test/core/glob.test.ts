import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatches } from '../../src/core/glob.ts';
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
    ['dependabot[bot]', 'dependabot[bot]', true],
    ['a.c', 'abc', false],
    ['?', '🚀', true],
    ['', '', true],
    ['', 'x', false],
  ])('matches %j against %j: %j', (pattern, text, expected) => {
    expect(globMatches(pattern, text)).toBe(expected);
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
