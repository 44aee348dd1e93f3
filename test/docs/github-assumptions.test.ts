import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOC = readFileSync(join(ROOT, 'docs/github-assumptions.md'), 'utf8');

interface Row {
  what: string;
  where: string[];
  sources: string[];
  shownBy: { file: string; name: string }[];
}

const rows: Row[] = DOC.split('\n')
  .filter((line) => /^\| (?!what we rely on)/.test(line))
  .map((line) => line.slice(1, -1).split(' | '))
  .map(([what = '', where = '', source = '', shown = '']) => ({
    what: what.trim(),
    where: [...where.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
    sources: [...source.matchAll(/\]\((https:\/\/[^)\s]+)\)/g)].map((match) => match[1] ?? ''),
    shownBy: [...shown.matchAll(/`([^`]+)`: "([^"]+)"/g)].map((match) => ({
      file: match[1] ?? '',
      name: match[2] ?? '',
    })),
  }));

/** A test's file, or one of the files with the assertions of the conformance suite. */
function sourceOf(file: string): string | undefined {
  return [`test/${file}.test.ts`, `test/${file}.ts`].find((path) => existsSync(join(ROOT, path)));
}

/** The text of the file, with quotes unescaped. */
function text(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').replaceAll("\\'", "'");
}

describe('docs/github-assumptions.md', () => {
  it('has rows, each only once', () => {
    expect(rows.length).toBeGreaterThan(80);
    expect(new Set(rows.map(({ what }) => what)).size).toBe(rows.length);
  });

  it.each(rows.map((row) => [row.what, row] as const))('%s', (_what, { where, sources, shownBy }) => {
    expect(where.filter((file) => existsSync(join(ROOT, 'src', file)))).toEqual(where);
    expect([where.length > 0, sources.length > 0, shownBy.length > 0]).toEqual([true, true, true]);
    const missing = shownBy.filter(({ file, name }) => {
      const path = sourceOf(file);
      return path === undefined || !text(path).includes(name);
    });
    expect(missing).toEqual([]);
  });

  it('names every assertion of the conformance suite', () => {
    const files = ['api', 'checks', 'contents', 'conversation', 'pulls', 'required-checks'];
    const said = files.flatMap((file) =>
      [...text(`test/conformance/assertions/${file}.ts`).matchAll(/claim:\s*(['"`])(.+?)\1,/g)].map(
        (match) => ({ file: `conformance/assertions/${file}`, claim: match[2] ?? '' }),
      ),
    );
    const named = rows.flatMap(({ shownBy }) => shownBy);
    const unnamed = said.filter(
      ({ file, claim }) => !named.some((one) => one.file === file && claim.startsWith(one.name)),
    );
    expect(said.length).toBeGreaterThan(50);
    expect(unnamed.map(({ claim }) => claim)).toEqual([]);
  });
});
