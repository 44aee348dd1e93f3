import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTools } from '../../src/cli/compose.ts';
import { temporaryFolders } from '../contract/temp.ts';
import { ManualClock } from '../support/clock.ts';
import { answered, countersign } from './support.ts';

const newFolder = temporaryFolders();
const SKILLS = '.github/countersign/skills';
const NAMING = `---
name: naming
description: Looks at the names of things.
version: 1.2.0
tags: [names]
trigger_phrases: check the names
paths: "src/**"
outcome: gate_verdict
---

# Naming
`;

function repository(files: Record<string, string> = {}): string {
  const folder = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const withNaming = () =>
  repository({ [`${SKILLS}/naming/SKILL.md`]: NAMING, [`${SKILLS}/naming/prompts/ask@gpt.md`]: 'Ask.\n' });

/** One command in this process, which is much faster than one of its own. */
async function skill(cwd: string, ...args: string[]) {
  return answered(['skill', ...args], {
    cwd,
    clock: new ManualClock('2026-03-02T09:00:00.000Z'),
    tools: createTools({}),
  });
}

const json = async (cwd: string, ...args: string[]) => JSON.parse((await skill(cwd, ...args, '--json')).out);

describe('lint', () => {
  it('is answered by the real command line', async () => {
    expect(await countersign(['skill', 'lint'], { cwd: withNaming() })).toEqual({
      code: 0,
      stdout: 'Checked 1 skill: no faults.\n',
      stderr: '',
    });
  });

  it('says when nothing in a package says how it comes to its outcome', async () => {
    const cwd = repository({ [`${SKILLS}/naming/SKILL.md`]: NAMING });
    expect(await skill(cwd, 'lint')).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'naming/SKILL.md:1:1: no file of the package says how it comes to a gate_verdict',
      ),
    });
  });

  it('reads files with a byte order mark as the same package, as the app does', async () => {
    const plain = withNaming();
    const marked = repository({
      [`${SKILLS}/naming/SKILL.md`]: `\uFEFF${NAMING}`,
      [`${SKILLS}/naming/prompts/ask@gpt.md`]: '\uFEFFAsk.\n',
    });
    expect((await skill(marked, 'lint')).out).toBe('Checked 1 skill: no faults.\n');
    const id = async (cwd: string) => (await json(cwd, 'show', 'naming')).id;
    expect(await id(marked)).toBe(await id(plain));
  });

  it('says every fault of every package of a repository, and ends with 1', async () => {
    const cwd = repository({
      [`${SKILLS}/naming/SKILL.md`]: NAMING.replace('version', 'vresion'),
      [`${SKILLS}/naming/notes.txt`]: 'x',
      [`${SKILLS}/ci/SKILL.md`]: NAMING.replace('naming', 'ci'),
      [`${SKILLS}/good/SKILL.md`]: NAMING.replace('naming', 'good'),
    });
    symlinkSync('/etc/hostname', join(cwd, SKILLS, 'good', 'prompts'));
    const { code, out } = await skill(cwd, 'lint');
    expect(code).toBe(1);
    expect(out).toMatchInlineSnapshot(`
      ".github/countersign/skills/ci/SKILL.md:1:1: "ci" is built in, and a package of that name would silently take its place in chains; give it another name
      .github/countersign/skills/good/prompts:1:1: this is a symbolic link, and those are not followed
      .github/countersign/skills/naming/SKILL.md:4:1: unknown key "vresion": did you mean "version"? Allowed: name, description, version, author, tags, intent_patterns, trigger_phrases, paths, outcome, trust, artifact_defaults, cognitive_hints, artifacts, license, compatibility, allowed-tools, metadata
      .github/countersign/skills/naming/notes.txt:1:1: a package has no such file; allowed: SKILL.md, prompts/*.md, code/*.py, code/*.js, modules/*.json, analyzers/*.yml, agents/*.yml, tests/*.yml

      Checked 3 skills: 4 faults in 3 of them.
      "
    `);
    expect(await json(cwd, 'lint')).toMatchObject({ skills: [{ ok: false }, { ok: false }, { ok: false }] });
  });

  it('says where a prompt or a program does not parse, and carries out nothing', async () => {
    const cwd = repository({
      [`${SKILLS}/naming/SKILL.md`]: NAMING,
      [`${SKILLS}/naming/prompts/ask.md`]: 'Judge\n{{ diff ',
      [`${SKILLS}/naming/prompts/sound.md`]: '{{ nobody.knows.it }}{% for a in b %}{% endfor %}',
      [`${SKILLS}/naming/code/broken.js`]: 'const a = 1;\nsubmit({',
      [`${SKILLS}/naming/code/imports.js`]: "import fs from 'fs';",
      [`${SKILLS}/naming/code/deep.js`]: `submit(${'('.repeat(20_000)}`,
      [`${SKILLS}/naming/code/sound.js`]: "const said = await llm_query('x');\nwhile (true) {}",
      [`${SKILLS}/naming/code/sound.py`]: 'submit({',
    });
    expect((await skill(cwd, 'lint')).out).toMatchInlineSnapshot(`
      ".github/countersign/skills/naming/code/broken.js:2:9: SyntaxError: invalid property name
      .github/countersign/skills/naming/code/deep.js:1:1: this is nested too deeply to be parsed
      .github/countersign/skills/naming/code/imports.js:1:1: ReferenceError: could not load module 'fs'
      .github/countersign/skills/naming/prompts/ask.md:2:1: syntax error: unexpected end of input, expected end of variable block

      Checked 1 skill: 4 faults.
      "
    `);
  });

  it('takes a package, a folder of packages, a repository and an exported file', async () => {
    const cwd = withNaming();
    await skill(cwd, 'export', 'naming', 'naming.json');
    for (const path of [`${SKILLS}/naming`, SKILLS, '.', 'naming.json']) {
      expect(await skill(cwd, 'lint', path)).toMatchObject({ code: 0, out: 'Checked 1 skill: no faults.\n' });
    }
    expect(await skill(join(cwd, SKILLS, 'naming'), 'lint', '.')).toMatchObject({ code: 0 });
  });

  it('finds no fault in what ships', async () => {
    expect(await skill(process.cwd(), 'lint', 'skills')).toMatchObject({ code: 0 });
  });

  it('says that there is nothing, and refuses a path that is not there', async () => {
    const cwd = newFolder();
    expect((await skill(cwd, 'lint')).out).toBe(
      'Nothing to check: there are no skills in .github/countersign/skills here.\n',
    );
    expect(await skill(cwd, 'lint', 'nowhere')).toEqual({
      code: 1,
      out: '',
      err: 'There is no file or folder nowhere.\n',
    });
  });
});

describe('test', () => {
  it('of a named skill of which no case was tried ends with 1, and says why', async () => {
    const cwd = withNaming();
    const one = 'cases: [{ name: one, files: { a.ts: "" }, expect: { passed: true } }]\n';
    mkdirSync(join(cwd, SKILLS, 'naming', 'tests'));
    writeFileSync(join(cwd, SKILLS, 'naming', 'tests', 'a.yml'), one);
    expect(await skill(cwd, 'test', 'naming')).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'left out  naming: one (it asks a model, and the case has no answers of one)',
      ),
    });
    writeFileSync(join(cwd, SKILLS, 'naming', 'SKILL.md'), NAMING.replace(/^outcome: .*\n/m, ''));
    expect((await skill(cwd, 'test', 'naming')).out).toContain('its SKILL.md says no outcome');
  });
});

describe('list', () => {
  it('shows what ships and what is here, also what has faults', async () => {
    const cwd = withNaming();
    mkdirSync(join(cwd, SKILLS, 'empty'));
    expect((await skill(cwd, 'list')).out).toMatchInlineSnapshot(`
      "SKILL              FROM       FOLDER                             COMES TO        ARTIFACTS
      ci                 shipped    skills/ci                                          description
      dependency-review  shipped    skills/dependency-review           review_verdict  description, analyzer
      docs-review        shipped    skills/docs-review                 review_verdict  description, analyzer
      empty              workspace  .github/countersign/skills/empty                   1 fault: is not used
      migration-review   shipped    skills/migration-review            review_verdict  description, analyzer
      naming             workspace  .github/countersign/skills/naming  gate_verdict    description, prompt_template
      pr-review          shipped    skills/pr-review                   review_verdict  description, analyzer, prompt_template
      workflow-review    shipped    skills/workflow-review             review_verdict  description, analyzer
      "
    `);
    const listed: { scope: string }[] = await json(cwd, 'list');
    expect(listed.filter(({ scope }) => scope === 'workspace')).toMatchObject([
      { name: 'empty', ok: false },
      {
        name: 'naming',
        ok: true,
        outcome: 'gate_verdict',
        kinds: ['description', 'prompt_template'],
      },
    ]);
    expect(listed).toContainEqual(expect.objectContaining({ name: 'pr-review', scope: 'shipped' }));
  });
});

describe('show', () => {
  it('says where a skill is from, what it is found by and what it is made of', async () => {
    const cwd = withNaming();
    expect((await skill(cwd, 'show', 'naming')).out).toMatchInlineSnapshot(`
      "naming 1.2.0 (of the repository: .github/countersign/skills/naming)
      Looks at the names of things.
      Comes to a gate_verdict.
      Tags: names.
      Trigger phrases: check the names.
      Paths: src/**.

      FILE                KIND             FOR  BYTES
      SKILL.md            description           174
      prompts/ask@gpt.md  prompt_template  gpt  5
      "
    `);
    expect(await json(cwd, 'show', 'naming')).toMatchObject({
      id: expect.stringMatching(/^skl_/),
      trust: 'sandbox',
      artifacts: [{ path: 'SKILL.md' }, { path: 'prompts/ask@gpt.md', model_variant: 'gpt', bytes: 5 }],
    });
  });

  it('tells of what is built in too', async () => {
    expect((await skill(withNaming(), 'show', 'ci')).out).toMatch(
      /^ci 1\.0\.0 \(ships with Countersign: skills\/ci\)\n.*\nIt is built in: Countersign carries it out itself\.\nTags: /,
    );
  });

  it('says what is wrong with a skill, and what a misspelt name may have meant', async () => {
    const cwd = withNaming();
    writeFileSync(join(cwd, SKILLS, 'naming', 'notes.txt'), 'x');
    expect((await skill(cwd, 'show', 'naming')).err).toMatch(
      /^The skill naming cannot be used: .*notes\.txt:1:1: /,
    );
    expect((await skill(cwd, 'show', 'pr-reviw')).err).toBe(
      'There is no skill pr-reviw; did you mean pr-review?\n',
    );
  });
});

describe('match', () => {
  it('ranks the skills by a question and paths, with the reasons', async () => {
    const cwd = withNaming();
    const { code, out } = await skill(
      cwd,
      'match',
      'check',
      'the',
      'names',
      '--path',
      'src/a.ts',
      '--path',
      'b',
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /^SKILL +SCORE +BECAUSE OF\nnaming +\d+\.\d\d +phrase check the names; path src\/\*\*; words name; tag names\n$/,
    );
    expect(await json(cwd, 'match', 'nonsense')).toEqual([]);
    expect((await skill(cwd, 'match', 'nonsense')).out).toBe('No skill fits.\n');
  });
});

describe('new', () => {
  it('begins a package that has no faults and can be found', async () => {
    const cwd = newFolder();
    const { code, out } = await skill(
      cwd,
      'new',
      'naming',
      '--description',
      'Says: "no", if a name is #bad.',
    );
    expect({ code, out }).toMatchInlineSnapshot(`
      {
        "code": 0,
        "out": "Wrote .github/countersign/skills/naming/SKILL.md
      Wrote .github/countersign/skills/naming/prompts/naming.md

      Say in SKILL.md what it does, and in the prompt how; countersign skill lint checks both.
      ",
      }
    `);
    expect(await skill(cwd, 'lint')).toMatchObject({ code: 0, out: 'Checked 1 skill: no faults.\n' });
    expect(await json(cwd, 'show', 'naming')).toMatchObject({
      description: 'Says: "no", if a name is #bad.',
    });
  });

  it('takes the place of nothing', async () => {
    const cwd = withNaming();
    expect(await skill(cwd, 'new', 'naming')).toMatchObject({
      code: 1,
      err: expect.stringContaining('already'),
    });
    expect(readFileSync(join(cwd, SKILLS, 'naming', 'SKILL.md'), 'utf8')).toBe(NAMING);
  });

  it.each([
    ['Naming', 'is no name of a skill'],
    ['../naming', 'is no name of a skill'],
    ['ci', '"ci" is built in'],
    ['auto', 'stands for whichever'],
  ])('refuses %s as misuse, and writes nothing', async (name, message) => {
    const cwd = newFolder();
    expect(await skill(cwd, 'new', name)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('export and import', () => {
  it('bring every file to another repository as it is', async () => {
    const [from, to] = [withNaming(), newFolder()];
    const secret = `AKIA${'ABCDEFGHIJKLMNOP'}`;
    writeFileSync(join(from, SKILLS, 'naming/prompts/ask.md'), `An example: ${secret}\r\n`);
    expect(await skill(from, 'export', 'naming', 'naming.json')).toMatchObject({
      code: 0,
      out: 'Wrote naming to naming.json: 3 files.\n',
    });
    cpSync(join(from, 'naming.json'), join(to, 'naming.json'));
    expect(await skill(to, 'import', 'naming.json')).toMatchObject({
      code: 0,
      out: `Wrote naming to ${SKILLS}/naming: 3 files.\n`,
    });
    for (const path of ['SKILL.md', 'prompts/ask.md', 'prompts/ask@gpt.md']) {
      const read = (root: string) => readFileSync(join(root, SKILLS, 'naming', path));
      expect(read(to)).toEqual(read(from));
    }
  });

  it('write through no link', async () => {
    const cwd = withNaming();
    await skill(cwd, 'export', 'naming', 'naming.json');
    const [other, elsewhere] = [newFolder(), newFolder()];
    mkdirSync(join(other, '.github'));
    symlinkSync(elsewhere, join(other, '.github/countersign'));
    const ended = await skill(other, 'import', join(cwd, 'naming.json'));
    expect(ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('.github/countersign is a symbolic link'),
    });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('write over nothing', async () => {
    const cwd = withNaming();
    writeFileSync(join(cwd, 'naming.json'), 'mine');
    expect((await skill(cwd, 'export', 'naming', 'naming.json')).code).toBe(1);
    expect(readFileSync(join(cwd, 'naming.json'), 'utf8')).toBe('mine');
    await skill(cwd, 'export', 'naming', 'other.json');
    expect((await skill(cwd, 'import', 'other.json')).err).toContain('already');
  });

  it.each([
    ['a path that leads out', { '../../../evil.md': 'x' }],
    ['an absolute path', { '/tmp/evil.md': 'x' }],
    ['another name', { 'SKILL.md': NAMING.replace('naming', '../evil') }],
  ])('refuse a file with %s, and write nothing', async (_, files) => {
    const cwd = newFolder();
    const text = JSON.stringify({
      format: 'countersign-skill/1',
      name: 'naming',
      files: { 'SKILL.md': NAMING, ...files },
    });
    writeFileSync(join(cwd, 'evil.json'), text);
    expect((await skill(cwd, 'import', 'evil.json')).code).toBe(1);
    expect(readdirSync(cwd)).toEqual(['evil.json']);
  });

  it('refuse a built-in name', async () => {
    const cwd = newFolder();
    const files = { 'SKILL.md': NAMING.replace('naming', 'pr-review') };
    writeFileSync(
      join(cwd, 'a.json'),
      JSON.stringify({ format: 'countersign-skill/1', name: 'pr-review', files }),
    );
    expect((await skill(cwd, 'import', 'a.json')).err).toContain('"pr-review" is built in');
    expect(existsSync(join(cwd, '.github'))).toBe(false);
  });
});

it('chain lint knows the skills that are here, and no others', async () => {
  const cwd = withNaming();
  mkdirSync(join(cwd, '.github/countersign/chains'));
  const chain = (name: string) => `name: a\ntrigger: { event: pr.opened }\nsteps:\n  - { skill: ${name} }\n`;
  for (const [name, code] of [
    ['naming', 0],
    ['spelling', 1],
  ] as const) {
    writeFileSync(join(cwd, '.github/countersign/chains/a.yaml'), chain(name));
    const ended = await countersign(['chain', 'lint'], { cwd });
    expect(ended.code).toBe(code);
  }
});

it('chain lint tells a skill with faults from one that is not there', async () => {
  const cwd = withNaming();
  mkdirSync(join(cwd, '.github/countersign/chains'));
  const chain = 'name: a\ntrigger: { event: pr.opened }\nsteps:\n  - { skill: naming }\n';
  writeFileSync(join(cwd, '.github/countersign/chains/a.yaml'), chain);
  writeFileSync(join(cwd, '.github/countersign/skills/naming/stray.txt'), 'x');
  const { stdout } = await countersign(['chain', 'lint'], { cwd });
  expect(stdout).toContain('the skill "naming" has faults of its own');
});

it('chain lint tells what a step with a package must leave behind', async () => {
  const cwd = withNaming();
  mkdirSync(join(cwd, '.github/countersign/chains'));
  const chain = 'name: a\ntrigger: { event: pr.opened }\nsteps:\n  - { skill: naming }\n';
  writeFileSync(join(cwd, '.github/countersign/chains/a.yaml'), chain);
  const ended = await countersign(['chain', 'lint'], { cwd });
  expect(ended.stdout).toContain('a.yaml: artifacts: 1 expected: 1 required, 0 optional');
});
