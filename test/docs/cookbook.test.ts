import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { readChainCases } from '../../src/domain/chain-case/case-file.ts';
import { caseDifferences } from '../../src/messages/cli/chain-test.ts';
import type { Played } from '../../src/messages/cli/dry-run.ts';
import { written } from '../../src/messages/run/what-is-written.ts';
import { countersign } from '../entrypoints/cli/support.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const shipped = readdirSync(join(ROOT, 'chains'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''));
const pages = readdirSync(join(ROOT, 'docs/cookbook')).filter((name) => name.endsWith('.md'));
const recipes = pages.filter((name) => name !== 'README.md').map(pageOf);

interface Block {
  info: string;
  text: string;
}

/** A page with its blocks: files by the path behind `yaml`, and what is written by the name of its case. */
function pageOf(name: string) {
  const blocks = [...read(`docs/cookbook/${name}`).matchAll(/^```(\S+) (.+)\n([\s\S]*?)^```$/gm)].map(
    ([, , info = '', text = '']): Block => ({ info, text }),
  );
  const files = blocks.filter(({ info }) => info.startsWith('.github/'));
  const chains = blocks.filter(({ info }) => info.startsWith('chains/'));
  const tests = chains.map(({ info }) => ({
    info: info.replace(/^chains\/(.*)\.yaml$/, '.github/countersign/tests/$1.yml'),
    text: read(info.replace(/^chains\/(.*)\.yaml$/, 'chains/tests/$1.yml')),
  }));
  const all = [...files, ...tests];
  const cases = all
    .filter(({ info }) => info.startsWith('.github/countersign/tests/'))
    .flatMap(({ info, text }) => {
      const { chain = '', cases, diagnostics } = readChainCases(text, info);
      expect(diagnostics).toEqual([]);
      return cases.map((one) => ({ title: `${name}: ${chain}: ${one.name}`, chain, one }));
    });
  const comments = blocks.flatMap(({ info, text }) => {
    const [, of] = /^case="(.+)"$/.exec(info) ?? [];
    return of === undefined ? [] : [{ of, text }];
  });
  return { name, chains, files: new Map(all.map(({ info, text }) => [info, text])), cases, comments };
}

/** What GitHub would show of each comment, release and pull request. */
function writtenBy(played: Played): string[] {
  if (played.kind === 'not_run') return [];
  return played.effects.map((effect) =>
    written(effect)
      .map((line) => line.replace(/^ {2}│ ?/, ''))
      .join('\n'),
  );
}

test('each shipped chain beside pr-review has a page in the cookbook, which the index names', () => {
  const index = read('docs/cookbook/README.md');
  const shown = recipes.flatMap(({ chains }) => chains.map(({ info }) => info));
  expect(shown.sort()).toEqual(
    shipped.filter((name) => name !== 'pr-review').map((name) => `chains/${name}.yaml`),
  );
  for (const { name } of recipes) expect(index).toContain(`](${name})`);
});

test('each shipped chain has cases beside it', () => {
  const tested = readdirSync(join(ROOT, 'chains/tests')).map((name) => name.replace('.yml', ''));
  expect(tested.sort()).toEqual(shipped);
});

test.each(recipes)('$name of the cookbook shows each shipped chain as it is', ({ chains }) => {
  for (const { info, text } of chains) expect(text).toBe(read(info));
});

test.each(recipes)(
  'the files of $name of the cookbook have neither errors nor warnings',
  async ({ files }) => {
    const cwd = mkdtempSync(join(tmpdir(), 'countersign-test-'));
    folders.push(cwd);
    for (const [path, text] of files) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
    const { code, stdout, stderr } = await countersign(['chain', 'lint', '--strict'], { cwd });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.any(String), stderr: '' });
  },
);

const prReview = readChainCases(read('chains/tests/pr-review.yml'), 'chains/tests/pr-review.yml');
const all = [
  ...recipes.flatMap(({ cases, files, comments }) =>
    cases.map((one) => ({ ...one, files, comments: comments.filter(({ of }) => of === one.one.name) })),
  ),
  ...prReview.cases.map((one) => ({
    title: `pr-review: ${one.name}`,
    chain: 'pr-review',
    one,
    files: new Map<string, string>(),
    comments: [],
  })),
];

test('each comment in the cookbook names a case of its page', () => {
  for (const { name, comments, cases } of recipes)
    for (const { of } of comments)
      expect(
        cases.map(({ one }) => one.name),
        name,
      ).toContain(of);
});

// Playing a case takes about a second, so the quick suite plays the first.
eachFirstQuick(all)('$title', async ({ chain, one, files, comments }) => {
  const played = await createTools({}).chainCase(chain, one, files);
  expect(caseDifferences(one, played)).toEqual([]);
  // A page shows the beginning: further down is when GitHub was read.
  for (const { text } of comments)
    expect(writtenBy(played.played)).toContainEqual(expect.stringContaining(text.trim()));
});
