import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/core/package-root.ts';
import { parsePackage } from '../../../src/domain/skill/parse.ts';
import { pathOf, placeOf } from '../../../src/domain/skill/place.ts';
import { withinEffort } from '../../support/effort.ts';
import { errorsOf, FOLDER, files, packageOf, skillMd } from '../../support/packages.ts';

describe('a package', () => {
  test('consists of its SKILL.md and the artifacts of its folders', () => {
    const skill = packageOf(
      files(
        { 'prompts/review.md': 'Look at {{ diff }}.', 'code/count.py': 'submit(1)\n' },
        skillMd(
          [
            'version: 1.2.0',
            'author: Ada',
            'tags: [names, style]',
            'intent_patterns: ["check (the )?names"]',
            'trigger_phrases: check the names',
            'paths: "src/**/*.ts"',
            'outcome: gate_verdict',
            'trust: standard',
            'cognitive_hints: { produces: [risks] }',
            'artifacts:',
            '  prompts/review.md: { temperature: 0 }',
            '',
          ].join('\n'),
        ),
      ),
    );
    const { id, artifacts, tests, ...said } = skill;
    expect(said).toEqual({
      name: 'naming',
      description: 'Looks at the names of things.',
      version: '1.2.0',
      author: 'Ada',
      tags: ['names', 'style'],
      intentPatterns: ['check (the )?names'],
      triggerPhrases: ['check the names'],
      paths: ['src/**/*.ts'],
      outcome: 'gate_verdict',
      outcomeSchema: null,
      trust: 'standard',
      artifactDefaults: [],
      sequence: [],
      uses: [],
      cognitiveHints: { produces: ['risks'] },
    });
    expect(artifacts.map(({ kind, name, ordinal, metadata }) => ({ kind, name, ordinal, metadata }))).toEqual(
      [
        { kind: 'description', name: 'SKILL.md', ordinal: 0, metadata: {} },
        { kind: 'prompt_template', name: 'review.md', ordinal: 1, metadata: { temperature: 0 } },
        { kind: 'code_template', name: 'count.py', ordinal: 2, metadata: {} },
      ],
    );
  });

  test('can follow the Agent Skills convention, with its optional keys', () => {
    const skill = packageOf(
      files(
        {},
        skillMd('license: MIT\nallowed-tools: Read\nmetadata: { short: names }\ncompatibility: any\n'),
      ),
    );
    expect(skill).toMatchObject({ name: 'naming', outcome: null, trust: 'sandbox' });
  });

  test.each([
    ['', 'elevated'],
    ['trust: sandbox\n', 'elevated'],
    ['trust: privileged\n', 'privileged'],
  ])('with an agent and the words %j needs %s trust', (words, trust) => {
    const agent = { 'agents/a.yml': 'agent: codex\nprompt: prompts/a.md\n', 'prompts/a.md': 'Look.\n' };
    expect(packageOf(files(agent, skillMd(words)))).toMatchObject({ trust });
  });

  test('takes the variants of an artifact from the names of its files', () => {
    const { artifacts } = packageOf(
      files({ 'prompts/review.md': 'a', 'prompts/review@gpt.md': 'b', 'prompts/review@claude-4.1.md': 'c' }),
    );
    expect(
      artifacts.slice(1).map(({ name, modelVariant, content }) => [name, modelVariant, content]),
    ).toEqual([
      ['review.md', null, 'a'],
      ['review.md', 'claude-4.1', 'c'],
      ['review.md', 'gpt', 'b'],
    ]);
  });

  test('lists what SKILL.md names first, in that order, and the others by path', () => {
    const { artifacts } = packageOf(
      files(
        { 'code/a.py': '1', 'prompts/b.md': '2', 'prompts/c.md': '3', 'code/z.js': '4' },
        skillMd('artifacts: { prompts/c.md: {}, code/z.js: {} }\n'),
      ),
    );
    expect(artifacts.map(({ name }) => name)).toEqual(['SKILL.md', 'c.md', 'z.js', 'a.py', 'b.md']);
  });

  test('has an id from its content, in whatever order its files were found', () => {
    const given = files({ 'prompts/a.md': 'a', 'code/b.py': 'b' });
    expect(packageOf(given.toReversed()).id).toBe(packageOf(given).id);
    expect(packageOf(files({ 'prompts/a.md': 'a', 'code/b.py': 'B' })).id).not.toBe(packageOf(given).id);
    expect(packageOf(given).id).toMatch(/^skl_[0-9a-f]{32}$/);
  });

  test('keeps its id when its test cases change, because no run sees them', () => {
    const one = 'cases: [{ name: one, files: { a.ts: x }, expect: { passed: true } }]';
    const [without, withCases] = [files(), files({ 'tests/a.yml': one })].map((given) => packageOf(given));
    expect(withCases?.id).toBe(without?.id);
    expect(withCases?.artifacts.map(({ name }) => name)).toEqual(['SKILL.md']);
    expect(withCases?.tests).toEqual([{ path: 'tests/a.yml', text: one }]);
  });

  test('that ships with Countersign has no errors', () => {
    const root = join(PACKAGE_ROOT, 'skills');
    for (const name of readdirSync(root)) {
      const folder = join(root, name);
      const found = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file) => ({ path: relative(folder, file), text: readFileSync(file, 'utf8') }));
      expect(parsePackage(found, `skills/${name}`).diagnostics).toEqual([]);
    }
  });
});

describe('errors in a package', () => {
  test('are all reported at once, for every file, with their places', () => {
    const skill = [
      '---',
      'name: Naming',
      'descripton: misspelt',
      'version: 1.0',
      'tags: [a, 2]',
      'intent_patterns: ["fine", "(a"]',
      'outcome: gate_verdct',
      'artifact_defaults: [{ id: out, kind: outcome, outcome: ci_result }]',
      'artifacts: { prompts/reviw.md: {} }',
      '---',
    ].join('\n');
    const given = files(
      {
        'prompts/review.md': ' ',
        'modules/m.json': '{',
        'analyzers/a.yml': 'rules: [\n',
        'agents/a.yml': 'agent: codex\nprompt: prompts/review.md\n',
        'notes.txt': 'x',
        'code/b.py': 'a\uFFFDb',
      },
      skill,
    );
    expect(errorsOf(given)).toMatchInlineSnapshot(`
      [
        ".github/countersign/skills/naming/SKILL.md:2:1: "description" is missing",
        ".github/countersign/skills/naming/SKILL.md:2:7: a skill name starts with a small letter and goes on with small letters, digits and single "-"",
        ".github/countersign/skills/naming/SKILL.md:2:7: a skill is called by its folder, so this must be "naming"",
        ".github/countersign/skills/naming/SKILL.md:3:1: unknown key "descripton": did you mean "description"? Allowed: name, description, version, author, tags, intent_patterns, trigger_phrases, paths, outcome, outcome_schema, trust, artifact_defaults, cognitive_hints, sequence, uses, artifacts, license, compatibility, allowed-tools, metadata",
        ".github/countersign/skills/naming/SKILL.md:4:10: a version is a text such as 1.2.0",
        ".github/countersign/skills/naming/SKILL.md:5:11: entry 2 of "tags" must be a text, not 2",
        ".github/countersign/skills/naming/SKILL.md:6:27: the pattern cannot be used: missing closing ): \`(a\`",
        ".github/countersign/skills/naming/SKILL.md:7:10: "outcome" cannot be "gate_verdct": did you mean "gate_verdict"? Allowed: review_verdict, gate_verdict, lint_result, test_result, research_analysis, impact_report, flow_plan, show_plan, flow_control_verdict, a kind of your own, which is two words with a "/", such as octo/coverage",
        ".github/countersign/skills/naming/SKILL.md:8:56: the skill has another outcome; allowed: none",
        ".github/countersign/skills/naming/SKILL.md:9:14: the package has no file "prompts/reviw.md": did you mean "prompts/review.md"? Allowed: prompts/review.md, modules/m.json, analyzers/a.yml, agents/a.yml, notes.txt, code/b.py",
        ".github/countersign/skills/naming/analyzers/a.yml:1:1: agents/a.yml has the same name; a package's artifacts are told apart by it",
        ".github/countersign/skills/naming/analyzers/a.yml:2:1: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]",
        ".github/countersign/skills/naming/code/b.py:1:1: the file holds something that is not UTF-8 text",
        ".github/countersign/skills/naming/modules/m.json:1:1: this is not valid JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)",
        ".github/countersign/skills/naming/notes.txt:1:1: a package has no such file; allowed: SKILL.md, prompts/*.md, code/*.py, code/*.js, modules/*.json, analyzers/*.yml, agents/*.yml, tests/*.yml",
        ".github/countersign/skills/naming/prompts/review.md:1:1: the file is empty",
      ]
    `);
  });

  test.each([
    ['nothing at all', '', 'the frontmatter is missing'],
    ['no frontmatter', '# Naming\n', 'the frontmatter is missing'],
    ['a frontmatter that does not end', '---\nname: naming\n', 'the frontmatter is missing'],
    ['a byte order mark', `\uFEFF${skillMd()}`, 'the frontmatter is missing'],
    ['YAML that cannot be read', '---\nname: [\n---\n', 'this is not valid YAML'],
    ['a list instead of a mapping', '---\n- a\n---\n', 'the file must be a mapping'],
    ['another folder’s name', skillMd('', 'other'), 'a skill is called by its folder'],
    ['an outcome that only the app can produce', skillMd('outcome: ci_result\n'), 'cannot be "ci_result"'],
    ['an action’s outcome', skillMd('outcome: action_result\n'), 'cannot be "action_result"'],
    ['a pattern with look-around', skillMd('intent_patterns: "(?=a)b"\n'), 'the pattern cannot be used'],
    ['a pattern that is too large', skillMd('intent_patterns: "(a{1,200}){1,4}"\n'), 'too large'],
    ['a glob of many wildcards', skillMd('paths: "*a*a*a*a*a*a*a*a*"\n'), 'at most 8 wildcards'],
    ['an unknown trust level', skillMd('trust: root\n'), 'cannot be "root"'],
    ['metadata of SKILL.md itself', skillMd('artifacts: { SKILL.md: {} }\n'), 'has no file "SKILL.md"'],
  ])('are found in a SKILL.md with %s', (_, text, message) => {
    const found = errorsOf(files({}, text));
    expect(found.join('\n')).toContain(message);
    expect(found[0]).toMatch(/^\.github\/countersign\/skills\/naming\/SKILL\.md:\d+:\d+: /);
  });

  test.each([
    ['a folder without a SKILL.md', [{ path: 'prompts/a.md', text: 'a' }], 'needs a SKILL.md'],
    ['too many files', files(numbered(51)), 'at most 50 files, not 52'],
    ['a file that is too large', files({ 'prompts/a.md': 'a'.repeat(65_537) }), 'larger than 64 KB'],
    ['files that are too large together', files(numbered(10, 'a'.repeat(65_000))), 'at most 512 KB'],
  ])('are found in %s', (_, given, message) => {
    expect(errorsOf(given).join('\n')).toContain(message);
  });

  test.each([
    ['analyzers/a@gpt.yml', 'analyzer: sql-migrations\nrules: { drop-table: off }\n'],
    ['agents/a@gpt.yml', 'agent: codex\nprompt: prompts/a.md\n'],
  ])('are found in the variant %s, which another file also defines', (path, text) => {
    expect(errorsOf(files({ 'prompts/a.md': 'Look.', [path]: text }))).toEqual([
      `${FOLDER}/${path}:1:1: only files of prompts/, code/ and modules/ have variants, such as "@gpt"`,
    ]);
  });

  test('have the right line also in files with CR and LF', () => {
    const [diagnostic] = errorsOf(files({}, skillMd('vresion: 1.0.0\n').replaceAll('\n', '\r\n')));
    expect(diagnostic).toMatch(/SKILL\.md:4:1: unknown key "vresion": did you mean "version"\?/);
  });
});

test('a sequence names existing files, each once, and analyzers only first', () => {
  const given = { 'code/a.js': 'submit(1);', 'prompts/b.md': 'B', 'analyzers/c.yml': 'analyzer: doc-links' };
  const errors = (sequence: string) =>
    errorsOf(files(given, skillMd(`outcome: review_verdict\nsequence: [${sequence}]\n`)));
  expect(errors('analyzers/c.yml, code/a.js, prompts/b.md')).toEqual([]);
  expect(errors('code/a.js, code/a.js, analyzers/c.yml, prompts/none.md')).toEqual([
    `${FOLDER}/SKILL.md:5:23: "code/a.js" is in the sequence twice`,
    `${FOLDER}/SKILL.md:5:34: only the first file of a sequence can be an analyzer`,
    `${FOLDER}/SKILL.md:5:51: the package has no file "prompts/none.md": did you mean "prompts/b.md"? Allowed: code/a.js, prompts/b.md, analyzers/c.yml`,
  ]);
});

describe('a path', () => {
  test.each([
    'prompts/a.md',
    'prompts/a@gpt.md',
    'prompts/a.b@claude-4.1.md',
    'code/a.py',
    'code/a.js',
    'modules/a.json',
    'analyzers/a.yml',
    'agents/a.yml',
    'SKILL.md',
  ])('of an artifact leads to the artifact and back: %s', (path) => {
    const place = placeOf(path);
    expect(place && pathOf(place)).toBe(path);
  });

  test.each([
    'skill.md',
    'README.md',
    'prompts/a.txt',
    'prompts/deep/a.md',
    'prompts/../SKILL.md',
    '../SKILL.md',
    '/prompts/a.md',
    'prompts/.md',
    'prompts/.hidden.md',
    'prompts/a@.md',
    'prompts/a@b@c.md',
    'prompts/a@GPT.md',
    'prompts/a b.md',
    'prompts/a\u202e.md',
    'code/a.sh',
    'constructor/a.md',
  ])('of no artifact is refused: %s', (path) => {
    expect(placeOf(path)).toBeUndefined();
  });
});

describe('"produces"', () => {
  const withProduces = (file: string) =>
    errorsOf(
      files({ [file]: 'x' }, skillMd(`artifacts: { ${file}: { produces: { path: a.md } } }\n`)),
    ).filter((error) => error.includes('"produces"'));

  test.each([
    ['code/count.py', 'a program calls write_artifact'],
    ['agents/codex.yml', 'an agent writes to /artifacts'],
    ['analyzers/names.yml', 'an analyzer leaves no files of its own'],
  ])('is refused for %s, with what leaves files instead', (file, instead) => {
    expect(withProduces(file)).toEqual([
      expect.stringContaining(`only prompts and modules have "produces"; ${instead}`),
    ]);
  });

  test('is allowed for a prompt', () => {
    expect(withProduces('prompts/ask.md')).toEqual([]);
  });
});

test.each(['---x\n'.repeat(12_000), ' \n'.repeat(30_000)])(
  'a hostile frontmatter takes little work',
  (lines) => {
    withinEffort(500, () => parsePackage([{ path: 'SKILL.md', text: `---\n${lines}` }], FOLDER));
  },
);

function numbered(count: number, text = 'a'): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`prompts/p${index}.md`, text]));
}
