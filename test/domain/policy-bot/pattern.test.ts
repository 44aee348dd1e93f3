import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globMatches } from '../../../src/core/glob.ts';
import { globOf } from '../../../src/domain/policy-bot/pattern.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';

describe('the glob of a pattern', () => {
  it.each([
    ['^config/.*$', 'config/**'],
    ['^config/', 'config/**'],
    ['\\.md$', '**.md'],
    ['^(docs|site)/.*', '{docs/**,site/**}'],
    ['^(.*/)?go\\.mod$', '{go.mod,**?/go.mod}'],
    ['^services/[^/]+/deploy\\.yml$', 'services/?*/deploy.yml'],
    ['^a/.*/b$', 'a/**?/b'],
    ['^release/v?1$', '{release/1,release/v1}'],
    ['^main$', 'main'],
    ['^a\\{b\\},\\*$', 'a\\{b\\}\\,\\*'],
    ['^[.]github/', '.github/**'],
    ['^go.sum$', 'go{?,/}sum'],
    ['.*.go$', '{?,/}**go'],
    ['a.', '**a{?,/}**'],
    ['[^/]*/a$', '**?/a'],
    ['^.*[^/]*/a$', '**?/a'],
    ['^[^/]*[^/]*/a$', '*/a'],
  ])('%s is %s', (pattern, glob) => {
    expect(globOf(pattern)?.glob).toBe(glob);
  });

  it.each([
    '[a-z]+',
    '(?i)readme',
    'a+',
    'a{2}',
    '\\d+',
    '\\w',
    'a^b',
    'a$b',
    '(a',
    'a)',
    '[',
    'a**',
    '\\',
    '(?P<x>a)',
    'a'.repeat(501),
    '(a|b)'.repeat(6),
    '^(a|b)*$',
    '[^/]+/a',
    '^[^/]+[^/]+$',
  ])('%s has none', (pattern) => {
    expect(globOf(pattern)).toBeUndefined();
  });

  const text = fc.constantFrom('a', 'b', '/', '\\.', 'ab', 'a/b');
  const piece = fc.oneof(
    { weight: 4, arbitrary: text },
    fc.constantFrom('.*', '.+', '[^/]*', '[^/]+', 'a?', '.', '(a|b)', '(a/)?', '(.*/)?', '(?:b|/a)'),
  );
  const patterns = fc
    .tuple(fc.constantFrom('', '^'), fc.array(piece, { maxLength: 5 }), fc.constantFrom('', '$'))
    .map(([start, pieces, end]) => `${start}${pieces.join('')}${end}`);
  const segment = fc.stringMatching(/^[ab.]{1,3}$/);
  const paths = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

  eachFirstQuick([500, 3_000])(
    'matches exactly the paths that the pattern matches, of %i',
    async (numRuns) => {
      fc.assert(
        fc.property(patterns, fc.array(paths, { minLength: 5, maxLength: 20 }), (pattern, some) => {
          const glob = globOf(pattern)?.glob;
          if (glob === undefined) return;
          for (const path of some)
            expect([pattern, path, globMatches(glob, path)]).toEqual([
              pattern,
              path,
              new RegExp(pattern).test(path),
            ]);
        }),
        { numRuns },
      );
    },
  );
});
