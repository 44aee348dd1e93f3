import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatches } from '../../../src/core/glob.ts';
import { MAX_PATHS, somePathMatcher } from '../../../src/skills/catalogue/glob-matcher.ts';
import { createMatcher, MAX_TEXT_LENGTH, type Question } from '../../../src/skills/catalogue/match.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';

const SEED = Number(process.env.COUNTERSIGN_SEED ?? 5);

function skill(name: string, lines: string, description?: string) {
  const text = skillMd(lines, name);
  const described =
    description === undefined ? text : text.replace('Looks at the names of things.', description);
  return packageOf(files({}, described), name);
}

const SKILLS = [
  skill(
    'migration-review',
    'tags: [sql, database]\npaths: "db/**/*.sql"\n',
    'Finds risks in changes of the database schema.',
  ),
  skill(
    'docs-review',
    'trigger_phrases: ["check the docs", spelling]\npaths: ["docs/**", "*.md"]\n',
    'Reads the documentation for mistakes.',
  ),
  skill('load-plan', 'intent_patterns: "how (much|many) .* (bear|take)"\n', 'Plans a load test.'),
];
const matcher = createMatcher(SKILLS);
const match = (text: string, paths: string[] = []) => matcher.match({ text, paths });
const kinds = (question: Question) =>
  matcher
    .match(question)
    .map(({ name, reasons }) => [name, reasons.map(({ kind, said }) => `${kind} ${said}`)]);

describe('a skill is found by', () => {
  test.each<[string, Question, string, string]>([
    [
      'its name',
      { text: 'please run migration-review', paths: [] },
      'migration-review',
      'name migration-review',
    ],
    [
      'its name in words',
      { text: 'a Migration Review?', paths: [] },
      'migration-review',
      'name migration-review',
    ],
    ['a tag', { text: 'is the SQL fine', paths: [] }, 'migration-review', 'tag sql'],
    [
      'a trigger phrase',
      { text: 'could you CHECK THE DOCS', paths: [] },
      'docs-review',
      'phrase check the docs',
    ],
    [
      'an intent pattern',
      { text: 'How much users can it take?', paths: [] },
      'load-plan',
      'intent how (much|many) .* (bear|take)',
    ],
    [
      'a path of the pull request',
      { text: '', paths: ['db/2026/add.sql'] },
      'migration-review',
      'path db/**/*.sql',
    ],
    ['words of its description', { text: 'any mistake here?', paths: [] }, 'docs-review', 'words mistake'],
  ])('%s', (_, question, name, reason) => {
    const [best] = kinds(question);
    expect(best?.[0]).toBe(name);
    expect(best?.[1]).toContain(reason);
  });
});

describe('a skill is not found by', () => {
  test.each([
    ['nothing', '', []],
    ['words that every question has', 'can you please check this for me', []],
    ['a part of its name', 'immigration-reviewer', []],
    ['the words of a phrase in another order', 'the docs check', ['src/a.ts']],
    ['a path that its globs exclude', '', ['db.sql', 'src/docs/a.txt']],
  ])('%s', (_, text, paths) => {
    const strong = match(text, paths).filter(({ reasons }) => reasons.some(({ kind }) => kind !== 'words'));
    expect(strong).toEqual([]);
  });
});

test('the score is the sum of its reasons, the strongest first', () => {
  const [best] = match('migration review of the database', ['db/a.sql']);
  expect(best?.reasons.map(({ kind }) => kind)).toEqual(['name', 'path', 'words', 'tag']);
  const sum = best?.reasons.reduce((all, { score }) => all + score, 0);
  expect(best?.score).toBeCloseTo(sum ?? 0, 5);
});

test('a word of the question weighs more than a path', () => {
  expect(match('check the docs', ['db/a.sql']).map(({ name }) => name)).toEqual([
    'docs-review',
    'migration-review',
  ]);
});

test('a rare word weighs more than one that every skill has', () => {
  const skills = [
    skill('a', '', 'Reviews names.'),
    skill('b', '', 'Reviews tables.'),
    skill('c', '', 'Reviews names.'),
    skill('d', '', 'Reviews names.'),
  ];
  expect(createMatcher(skills).match({ text: 'names of tables', paths: [] })[0]?.name).toBe('b');
});

test('of two equal skills the name decides, whatever their order', () => {
  const twins = ['zeta', 'alpha'].map((name) => skill(name, 'tags: same\n'));
  for (const skills of [twins, twins.toReversed()]) {
    const found = createMatcher(skills).match({ text: 'same', paths: [] });
    expect(found.map(({ name }) => name)).toEqual(['alpha', 'zeta']);
  }
});

test('only the beginning of a text and a limited number of paths are considered', () => {
  expect(match(`${'x '.repeat(MAX_TEXT_LENGTH / 2)} sql`)).toEqual([]);
  const paths = Array.from({ length: MAX_PATHS }, (_, index) => `src/${index}.ts`);
  expect(match('', [...paths, 'db/a.sql'])).toEqual([]);
});

test(`a glob is found among paths exactly if it matches one of them (seed ${SEED})`, () => {
  const part = fc.constantFrom('a', 'b', '/', '*', '**', '?', '**/', 'ab', '.ts');
  const text = fc
    .array(fc.constantFrom('a', 'b', '/', 'ab', '.ts', '*'), { maxLength: 8 })
    .map((all) => all.join(''));
  const glob = fc.array(part, { maxLength: 7 }).map((all) => all.join(''));
  fc.assert(
    fc.property(glob, fc.array(text, { maxLength: 5 }), (pattern, paths) => {
      expect(somePathMatcher(paths)(pattern)).toBe(paths.some((path) => globMatches(pattern, path)));
    }),
    { seed: SEED, numRuns: process.env.COUNTERSIGN_LONG === '1' ? 20_000 : 1_000 },
  );
});
