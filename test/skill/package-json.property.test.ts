import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packageFromJson, packageToJson } from '../../src/skill/package/json.ts';
import { filesOf, type PackageFile } from '../../src/skill/package/package.ts';
import { files, packageOf, skillMd } from './package-support.ts';

const SEED = Number(process.env.COUNTERSIGN_SEED ?? 5);
const RUNS = process.env.COUNTERSIGN_LONG === '1' ? 5_000 : 200;

/** Any text that a file of UTF-8 can hold and a package may: quotes, fences, line ends of all kinds, other scripts. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
    fc
      .array(fc.constantFrom('---\n', '```\n', '\r\n', '{{ a }}', '"', '\\', '\t', '\u2028', '__proto__'))
      .map((all) => all.join('')),
  )
  .filter((one) => one.trim() !== '' && !/[\0\uFFFD]/.test(one) && one.isWellFormed());

const stem = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,12}$/);
const variant = fc.option(fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,8}$/), { nil: undefined });
const path = fc
  .tuple(fc.constantFrom(['prompts', 'md'], ['code', 'py'], ['code', 'js']), stem, variant)
  .map(
    ([[folder, extension], name, family]) =>
      `${folder}/${name}${family === undefined ? '' : `@${family}`}.${extension}`,
  );

/** Folders with random artifacts, some of them with metadata in the SKILL.md. */
const folder = fc
  .tuple(fc.dictionary(path, fc.tuple(text, fc.boolean()), { maxKeys: 8 }), text)
  .map(([artifacts, body]): PackageFile[] => {
    const named = Object.entries(artifacts).filter(([, [, isNamed]]) => isNamed);
    const lines = named.map(([name]) => `  ${JSON.stringify(name)}: { size: 1 }\n`).join('');
    const head = named.length === 0 ? '' : `artifacts:\n${lines}`;
    const contents = Object.fromEntries(
      Object.entries(artifacts).map(([name, [content]]) => [name, content]),
    );
    return files(contents, skillMd(head, 'naming', body));
  });

const sorted = (all: readonly PackageFile[]) => all.toSorted((a, b) => (a.path < b.path ? -1 : 1));

test(`a folder becomes a package, JSON, a package and the same folder again (seed ${SEED})`, () => {
  fc.assert(
    fc.property(folder, (given) => {
      const skill = packageOf(given);
      const back = packageFromJson(packageToJson(skill), 'naming.json');
      expect(back.faults).toEqual([]);
      expect(back.skill).toEqual(skill);
      expect(sorted(back.skill ? filesOf(back.skill) : [])).toEqual(sorted(given));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test(`no text makes the reader of JSON packages throw, and none is a package by chance (seed ${SEED})`, () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((any) => `{"format":"countersign-skill/1","name":"a","files":${any}}`),
      ),
      (given) => {
        const { skill, faults } = packageFromJson(given, 'x.json');
        expect(skill).toBeUndefined();
        expect(faults.length).toBeGreaterThan(0);
      },
    ),
    { seed: SEED, numRuns: RUNS },
  );
});

test('faults inside a JSON package are told with the file they are in', () => {
  const json = JSON.stringify({
    format: 'countersign-skill/1',
    name: 'naming',
    files: { 'SKILL.md': skillMd('vresion: 1.0.0\n'), 'other.txt': 'x' },
  });
  expect(packageFromJson(json, 'naming.json').faults.map(({ file, line }) => `${file}:${line}`)).toEqual([
    'naming.json#naming/SKILL.md:4',
    'naming.json#naming/other.txt:1',
  ]);
});
