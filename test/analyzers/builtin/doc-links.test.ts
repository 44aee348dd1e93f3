import { describe, expect, test } from 'vitest';
import { headingSlugs } from '../../../src/analyzers/builtin/doc-links/slug.ts';
import { linkTarget } from '../../../src/analyzers/builtin/doc-links/target.ts';
import { checkLinks } from '../../../src/analyzers/builtin/doc-links.ts';
import { describeRules, lookAt, type Row, rulesOf } from './table.ts';

const OTHERS = ['README.md', 'docs/Setup.md', 'src/a b.ts', 'docs/img/x.png'];
const found = (text: string, more: Record<string, string> = {}) =>
  lookAt(checkLinks, 'docs/guide.md', { 'docs/guide.md': text, ...more }, OTHERS);

const ROWS: Row<string>[] = [
  ['broken-link', '[a](gone.md)', '[a](Setup.md)'],
  ['broken-link', '![a](img/y.png)', '![a](img/x.png "title")'],
  ['broken-link', '[a][b]\n\n[b]: ../gone', '[a][b]\n\n[b]: ../src'],
  ['broken-link', '[a](/docs/gone.md?raw=true)', '[a](/docs/Setup.md?raw=true)'],
  ['broken-link', '[a](<../src/a c.ts>)', '[a](../src/a%20b.ts#L3)'],
  ['broken-link', '[a](gone.md)', '`[a](gone.md)` and\n\n```\n[a](gone.md)\n```'],
  ['broken-anchor', '# One\n[a](#two)', '# One\n[a](#one)'],
  ['broken-anchor', '[a](guide.md#x)\n# Y', '[a](../README.md#what-nobody-read)'],
  ['other-case', '[a](setup.md)', '[a](Setup.md)'],
];

describeRules('doc-links', ROWS, (text) => rulesOf(found(text)));

test('an anchor is looked up in every document that changes', () => {
  const more = { 'docs/new.md': '# First *steps*, `now`!\n' };
  expect(found('[a](new.md#first-steps-now) [b](new.md#second)', more)).toEqual(['broken-anchor:1']);
});

describe('a link', () => {
  test.each([
    ['a.md', 'docs/a.md', ''],
    ['./a.md#x', 'docs/a.md', 'x'],
    ['../a%20b.md', 'a b.md', ''],
    ['/a.md', 'a.md', ''],
    ['#x%C3%A9', 'docs/guide.md', 'xé'],
    ['..', '', ''],
    ['a//b/./c', 'docs/a/b/c', ''],
  ])('%s leads to %j, %j', (url, path, anchor) => {
    expect(linkTarget(url, 'docs/guide.md')).toEqual({ path, anchor });
  });

  test.each([
    'https://a.test/b.md',
    'mailto:a@b.test',
    '//a.test',
    '../../issues/1',
    '%',
    '',
    '{{ page }}.md',
    'C:\\x',
  ])('%j leads to no file that can be looked up', (url) => {
    expect(linkTarget(url, 'docs/guide.md')).toBeUndefined();
  });
});

test('headings have the anchors that GitHub gives them', () => {
  const text = '# A, b & c\n## A, b & c\n## `x_y` -- z\n### Größe\n<a id="Own"></a>\n\nSet\n===\n';
  expect([...headingSlugs(text)].sort()).toEqual(
    ['', 'a-b--c', 'a-b--c-1', 'größe', 'own', 'set', 'top', 'x_y----z'].sort(),
  );
});
