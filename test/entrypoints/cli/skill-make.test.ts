import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SKILL_OUTCOMES } from '../../../src/domain/skill/manifest.ts';
import { SCAFFOLD_OUTCOMES } from '../../../src/entrypoints/cli/skill-scaffold-program.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { json, NAMING, repositories, SKILLS, skill } from './skill-support.ts';

const { newFolder, withNaming, repository } = repositories();

describe('new', () => {
  it('creates a package that has no errors and can be found', async () => {
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
      Wrote .github/countersign/skills/naming/tests/naming.yml

      Say in the first what the skill does, in the second how, and in the third what must be the result.
      Then: countersign skill lint checks the files, and countersign skill test naming runs the cases.
      A step of a chain asks it with skill: naming; countersign chain lint checks that.
      ",
      }
    `);
    expect(await json(cwd, 'show', 'naming')).toMatchObject({
      description: 'Says: "no", if a name is #bad.',
    });
  });

  /** A process of Python takes long. */
  it('offers every outcome that a skill may state', () => {
    expect(SCAFFOLD_OUTCOMES).toEqual(SKILL_OUTCOMES);
  });

  it('begins a prompt and a program for each of these outcomes, whose cases pass', {
    tags: 'slow',
  }, async () => {
    const cwd = newFolder();
    for (const outcome of SCAFFOLD_OUTCOMES) {
      const name = outcome.replaceAll('_', '-');
      await skill(cwd, 'new', `a-${name}`, '--outcome', outcome);
      await skill(cwd, 'new', `b-${name}`, '--outcome', outcome, '--program', 'js');
    }
    const count = 2 * SCAFFOLD_OUTCOMES.length;
    expect((await skill(cwd, 'lint')).out).toBe(`Checked ${count} skills: no errors.\n`);
    const { code, out } = await skill(cwd, 'test');
    expect(code).toBe(0);
    expect(out.match(/^ok +[ab]-/gm)).toHaveLength(3 * SCAFFOLD_OUTCOMES.length);
  });

  const ways: [string, string[], number][] = [
    ['a prompt that says yes or no', [], 1],
    ['a program that finds', ['--program', 'js', '--outcome', 'review_verdict'], 2],
    ['a prompt that finds', ['--outcome', 'review_verdict'], 1],
    ['a program that says yes or no', ['--program', 'js'], 2],
    ['a program in Python that says yes or no', ['--program', 'py'], 2],
    ['a program in Python that finds', ['--program', 'py', '--outcome', 'review_verdict'], 2],
  ];
  eachFirstQuick(process.env.COUNTERSIGN_LONG === '1' ? ways : ways.slice(0, 2))(
    'with %s creates a package without errors whose cases pass',
    async (_, options, cases) => {
      const cwd = newFolder();
      await skill(cwd, 'new', 'naming', ...options);
      expect((await skill(cwd, 'lint')).out).toBe('Checked 1 skill: no errors.\n');
      const { code, out } = await skill(cwd, 'test', 'naming');
      expect({ code, said: out.split('\n').at(-2) }).toEqual({
        code: 0,
        said: `Ran ${cases} case${cases === 1 ? '' : 's'}: none failed.`,
      });
    },
  );

  it('overwrites nothing', async () => {
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
  ])('refuses %s as a usage error, and writes nothing', async (name, message) => {
    const cwd = newFolder();
    expect(await skill(cwd, 'new', name)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('export and import', () => {
  it('copy every file unchanged to another repository', async () => {
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

  it('write through no symbolic link', async () => {
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

  it('overwrite nothing', async () => {
    const cwd = withNaming();
    writeFileSync(join(cwd, 'naming.json'), 'mine');
    expect(await skill(cwd, 'export', 'naming', 'naming.json')).toEqual({
      code: 1,
      out: '',
      err: 'naming.json is there already, and is not written over: name another file, or remove this one first.\n',
    });
    expect(readFileSync(join(cwd, 'naming.json'), 'utf8')).toBe('mine');
    await skill(cwd, 'export', 'naming', 'other.json');
    expect((await skill(cwd, 'import', 'other.json')).err).toContain('already');
  });

  it.each([
    ['a path that leads outside', { '../../../evil.md': 'x' }],
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

  it.each([
    ['export', ['naming', 'out/naming.json'], 'There is no folder out to write naming.json to.'],
    ['import', ['naming.json'], 'There is no file or folder naming.json.'],
    ['import', ['.github'], '.github is a folder, and this needs a file.'],
    ['import', [`${SKILLS}/naming/SKILL.md`], 'this is no exported package: that is one JSON document'],
  ])('report what is wrong with (%s %j)', async (verb, args, said) => {
    expect(await skill(withNaming(), verb, ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(said),
    });
  });

  it('refuse the name of a built-in skill', async () => {
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

describe('import of a package in the format of another skill system', () => {
  const artifact = (kind: string, name: string, content: string, more: object = {}) => ({
    kind,
    name,
    content,
    ...more,
  });
  const CHECKER = {
    id: '550e8400-e29b-41d4-a716-446655440000',
    name: 'Consistency Checker',
    description: 'Finds contradictions.',
    version: '1.0.0',
    tags: ['analysis'],
    source: 'system',
    intent_patterns: ['find contradictions'],
    trigger_phrases: ['are there any contradictions'],
    artifacts: [
      artifact('description', 'Overview', 'It looks for statements that contradict each other.', {
        ordinal: 0,
      }),
      artifact('prompt_template', 'Check Prompt', '{% for claim in claims %}{{ claim.text }}{% endfor %}', {
        ordinal: 1,
        metadata: {
          assertions: [
            { type: 'length', check: 'char_range', min: 100, max: 5_000 },
            { type: 'structural', check: 'json_schema', schema: { type: 'object' } },
          ],
        },
      }),
      artifact('code_template', 'Script', "import host\n\nhost.submit('{{ entity }}')\n", { ordinal: 2 }),
      artifact(
        'dspy_module',
        'Checker',
        '{"template_id": "chain_of_thought", "signature": "claims -> contradictions"}',
        {
          ordinal: 3,
          state_blob: 'e30=',
          metadata: { fallback_artifact: 'Check Prompt' },
        },
      ),
      artifact('example', 'One', 'x', { ordinal: 4 }),
    ],
  };

  it('writes its files and says what it could not use', async () => {
    const cwd = repository({ 'checker.json': JSON.stringify(CHECKER) });
    const { code, out } = await skill(cwd, 'import', 'checker.json');
    expect(code).toBe(0);
    expect(out).toMatchInlineSnapshot(`
      "Wrote consistency-checker to .github/countersign/skills/consistency-checker: 4 files.
      Check these before you use it:
      - "id" is not used
      - "source" is not used
      - the package names no outcome, so its SKILL.md says gate_verdict: change it if it produces another
      - "One" is of the kind example, which does not exist here
      - the optimized state of modules/checker.json is not used: run countersign skill optimize
      - prompts/check-prompt.md names claims, which a run does not know: pass them in the step's with, and write inputs.claims
      - code/script.py imports host, which may not exist here: use the functions of docs/code-templates.md
      - code/script.py has template tags, and programs are not templates: use input['inputs']
      - assertion 2 of "Check Prompt" is not used: write it in the SKILL.md, for a gate_verdict
      "
    `);
    const folder = join(cwd, SKILLS, 'consistency-checker');
    expect(JSON.parse(readFileSync(join(folder, 'modules/checker.json'), 'utf8'))).toMatchObject({
      template: 'chain_of_thought',
      signature: { inputs: { claims: { type: 'json' } }, outputs: { contradictions: { type: 'json' } } },
      fallback_artifact: 'prompts/check-prompt.md',
    });
    expect(readFileSync(join(folder, 'SKILL.md'), 'utf8')).toContain('contradict each other');
    expect((await skill(cwd, 'lint')).out).not.toContain('SKILL.md');
  });

  it('refuses one that would be no valid package here', async () => {
    const artifacts = CHECKER.artifacts.filter(({ kind }) => kind !== 'prompt_template');
    const cwd = repository({ 'checker.json': JSON.stringify({ ...CHECKER, artifacts }) });
    expect(await skill(cwd, 'import', 'checker.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('a module names its fallback'),
    });
  });
});
