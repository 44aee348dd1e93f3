import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packageFromJson, packageToJson } from '../../../src/domain/skill/json.ts';
import { filesOf, type PackageFile } from '../../../src/domain/skill/package.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';

const SEED = Number(process.env.COUNTERSIGN_SEED ?? 5);
const RUNS = process.env.COUNTERSIGN_LONG === '1' ? 2_000 : 200;

/** Any text that a UTF-8 file of a package can hold: quotes, fences, line ends of all kinds, other scripts. */
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

/** Valid data files in several spellings. No two have the same name. */
const lineEnd = fc.constantFrom('\n', '\r\n');
const comment = fc.constantFrom('# "quoted" \\', '# ---', '#', '# ünï', '# {{ a }}');
const yamlOf = (lines: (name: string) => string[]) =>
  fc
    .tuple(stem, lineEnd, comment)
    .map(([name, end, said]) => ({ name, text: [said, ...lines(name), ''].join(end) }));
const data = fc.oneof(
  fc.tuple(stem, variant, fc.constantFrom(undefined, 1, '\t')).map(([name, family, space]) => ({
    path: `modules/${name}${family === undefined ? '' : `@${family}`}.json`,
    text: JSON.stringify(MODULE, null, space),
  })),
  yamlOf(() => ['analyzer: doc-links', 'paths: ["docs/**"]']).map(({ name, text }) => ({
    path: `analyzers/links-${name}.yml`,
    text,
  })),
  yamlOf(() => ['agent: codex', `prompt: ${OF_AGENTS}`]).map(({ name, text }) => ({
    path: `agents/agent-${name}.yml`,
    text,
  })),
  yamlOf((name) => [`cases: [{ name: "${name}.", files: { a.ts: x }, expect: { passed: true } }]`]).map(
    ({ name, text }) => ({ path: `tests/${name}.yml`, text }),
  ),
);
const OF_AGENTS = 'prompts/of-agents.md';
const MODULE = {
  template: 'predict',
  signature: {
    instruction: 'Say "what" it\nis: \\ {{ a }}',
    inputs: { title: { type: 'string' } },
    outputs: { summary: { type: 'string' } },
  },
  fallback_artifact: OF_AGENTS,
};

/** Folders with random artifacts, some of them with metadata in SKILL.md. */
const folder = fc
  .tuple(
    fc.dictionary(path, fc.tuple(text, fc.boolean()), { maxKeys: 8 }),
    fc.uniqueArray(data, { maxLength: 6, selector: (file) => file.path }),
    text,
  )
  .map(([artifacts, others, body]): PackageFile[] => {
    const named = Object.entries(artifacts).filter(([, [, isNamed]]) => isNamed);
    const lines = named.map(([name]) => `  ${JSON.stringify(name)}: { size: 1 }\n`).join('');
    const head = named.length === 0 ? '' : `artifacts:\n${lines}`;
    const contents = Object.fromEntries([
      ...Object.entries(artifacts).map(([name, [content]]) => [name, content]),
      ...others.map((file) => [file.path, file.text]),
      [OF_AGENTS, 'Look.'],
    ]);
    return files(contents, skillMd(head, 'naming', body));
  });

const sorted = (all: readonly PackageFile[]) => all.toSorted((a, b) => (a.path < b.path ? -1 : 1));

test(`a folder becomes a package, then JSON, then the same package and folder again (seed ${SEED})`, () => {
  fc.assert(
    fc.property(folder, (given) => {
      const skill = packageOf(given);
      const back = packageFromJson(packageToJson(skill), 'naming.json');
      expect(back.diagnostics).toEqual([]);
      expect(back.skill).toEqual(skill);
      expect(sorted(back.skill ? filesOf(back.skill) : [])).toEqual(sorted(given));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test(`any text makes the reader of JSON packages report errors, but never throw (seed ${SEED})`, () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.json().map((any) => `{"format":"countersign-skill/1","name":"a","files":${any}}`),
      ),
      (given) => {
        const { skill, diagnostics } = packageFromJson(given, 'x.json');
        expect(skill).toBeUndefined();
        expect(diagnostics.length).toBeGreaterThan(0);
      },
    ),
    { seed: SEED, numRuns: RUNS },
  );
});

describe('a JSON package', () => {
  const json = (more = '', inside = '', format = 'countersign-skill/1') =>
    `{"format":"${format}","name":"naming"${more},"files":{"SKILL.md":${JSON.stringify(skillMd())}${inside}}}`;

  eachFirstQuick([
    ['an unknown key', json(',"file":"x"'), 'unknown key "file": did you mean "files"?'],
    ['another format', json('', '', 'countersign-skill/2'), '"format" cannot be "countersign-skill/2"'],
    ['no files', '{"format":"countersign-skill/1","name":"naming"}', '"files" is missing'],
    ['a file that is not text', json('', ',"prompts/a.md":1'), '"prompts/a.md" must be a text, not 1'],
    [
      'a file twice',
      json('', ',"prompts/a.md":"1","prompts/\\u0061.md":"2"'),
      '"prompts/a.md" is here twice',
    ],
    ['its list of files twice', json(',"files":{}'), 'the key "files" is here twice'],
    [
      'a file named like a member of every object',
      json('', ',"__proto__":"x"'),
      'the key "__proto__" is not allowed',
    ],
    ['another value', '"x"', 'must be a mapping'],
    ['51 prompts', json('', numbered(51)), 'at most 50 files, not 52'],
    ['100,000 prompts', json('', numbered(100_000)), 'at most 50 files, not 100001'],
  ])('with %s is reported as invalid', (_, text, message) => {
    const { skill, diagnostics } = packageFromJson(text, 'naming.json');
    expect(skill).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({ line: 1, column: 1, message: expect.stringContaining(message) });
  });
});

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `,"prompts/p${index}.md":"x"`).join('');
}

test('errors inside a JSON package name the file that they are in', () => {
  const json = JSON.stringify({
    format: 'countersign-skill/1',
    name: 'naming',
    files: { 'SKILL.md': skillMd('vresion: 1.0.0\n'), 'other.txt': 'x' },
  });
  expect(packageFromJson(json, 'naming.json').diagnostics.map(({ file, line }) => `${file}:${line}`)).toEqual(
    ['naming.json#naming/SKILL.md:4', 'naming.json#naming/other.txt:1'],
  );
});
