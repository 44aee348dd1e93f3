import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What the guide says that people read: the first column of its table about GitHub, up to the first `…`. */
const guide = readFileSync('docs/guides/troubleshoot.md', 'utf8');
const table = guide.slice(guide.indexOf('## GitHub refuses'), guide.indexOf('## Ask for help'));
const said = [...table.matchAll(/^\| ([^|]+) \|/gm)]
  .map(([, words = '']) => words.split('…')[0]?.trim() ?? '')
  .slice(1);
const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));

test('the guide to troubles names four messages about GitHub', () => {
  expect(said).toHaveLength(4);
});

test.each(said)('the app says what the guide to troubles quotes: %s', (words) => {
  expect(sources.some((text) => text.includes(words))).toBe(true);
});
