// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern, MAX_MATCHED_LENGTH, PatternError } from '../../../src/domain/rule/pattern.ts';
import { withinEffort } from '../../support/effort.ts';
import { numRuns, seed } from './seed.ts';

describe('a pattern', () => {
  test.each<[pattern: string, text: string, result: string]>([
    ['v\\d+', 'v12', 'matches'],
    ['v\\d+', 'say v12', 'differs'],
    ['v\\d+', 'v12\n', 'differs'],
    ['^v\\d+$', 'v12\n', 'differs'],
    ['a|ab', 'ab', 'matches'],
    ['.*', 'two\nlines', 'differs'],
    ['(?s).*', 'two\nlines', 'matches'],
    ['(?i)fix', 'FIX', 'matches'],
    ['', '', 'matches'],
    ['\\pL+', 'grüße', 'matches'],
    ['.', '🚀', 'matches'],
    ['(a+)+$', 'aaaa', 'matches'],
  ])('%j on %j gives %s', (pattern, text, result) => {
    expect(compilePattern(pattern).match(text)).toBe(result);
  });

  test.each<[what: string, pattern: string, message: string, tooLarge: boolean]>([
    ['an open bracket', '[a-z', 'the pattern cannot be used: missing closing ]: `[a-z`', false],
    [
      'a look-ahead',
      'a(?=b)',
      'the pattern cannot be used: invalid or unsupported Perl syntax: `(?=`',
      false,
    ],
    ['a look-behind', '(?<=a)b', 'the pattern cannot be used: invalid named capture: `(?<=a)b`', false],
    ['a back-reference', '(a)\\1', 'the pattern cannot be used: invalid escape sequence: `\\1`', false],
    ['1,001 repetitions', 'a{1001}', 'the pattern cannot be used: invalid repeat count: `{1001}`', false],
    ['201 characters', 'a'.repeat(201), 'the pattern has more than 200 characters', true],
    [
      'a pattern that is large once expanded',
      '(?:abc){100}',
      'the pattern is too large once its repetitions such as {1,200} are written out',
      true,
    ],
  ])('is refused with %s', (_, pattern, message, tooLarge) => {
    expect(() => compilePattern(pattern)).toThrow(expect.objectContaining({ message, tooLarge }));
  });

  test('is matched against a text of 4,096 characters, and refuses a longer one', () => {
    const pattern = compilePattern('a*');
    expect(pattern.match('a'.repeat(MAX_MATCHED_LENGTH))).toBe('matches');
    expect(pattern.match('a'.repeat(MAX_MATCHED_LENGTH + 1))).toBe('too_long');
  });

  test(`from any text compiles or throws a PatternError (seed ${seed})`, () => {
    const piece = fc.constantFrom(
      ...'()[]{}|*+?^$.\\,:=!<>P-'.split(''),
      '{1,9}',
      '\\pL',
      '\\Q',
      '(?i)',
      'a',
      '\ud800',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(text, fc.string(), (source, input) => {
        try {
          expect(compilePattern(source).match(input)).toMatch(/^(matches|differs)$/);
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      }),
      { seed, numRuns },
    );
  });

  test(`that is harmless gives the same result as the language’s own engine (seed ${seed})`, () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '.', '(a|b)', '(?:ab)');
    const source = fc
      .array(fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,3}')), { maxLength: 4 })
      .map((parts) => parts.flat().join(''));
    const input = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
    fc.assert(
      fc.property(source, input, (pattern, text) => {
        const result = new RegExp(`^(?:${pattern})$`, 'u').test(text) ? 'matches' : 'differs';
        expect(compilePattern(pattern).match(text)).toBe(result);
      }),
      { seed, numRuns },
    );
  });
});

describe('the work of a match', () => {
  const longest = 'a'.repeat(MAX_MATCHED_LENGTH);
  const TIMES = 20;

  test.each([longest, `${longest.slice(1)}!`, `!${longest.slice(1)}`])(
    'is little for (a+)+$ on 4,096 characters, compiling included',
    (text) => {
      withinEffort(5 * TIMES, () => {
        for (let time = 0; time < TIMES; time++) compilePattern('(a+)+$').match(text);
      });
    },
  );

  const coins = Array.from({ length: MAX_MATCHED_LENGTH }, (_, n) => 'ab'[(n * n * 31 + (n >> 3)) % 2]).join(
    '',
  );
  test.each(['(a|a)*b', '(.*a){20}', '.*a.{250}', '(?:a?){60}a{60}', '(?:.*\\b){60}!?x'])(
    'is bounded for %s on any 4,096 characters',
    (source) => {
      const pattern = compilePattern(source);
      for (const text of [longest, `${longest.slice(1)}!`, coins]) {
        withinEffort(1_000, () => pattern.match(text));
      }
    },
  );
});
