import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, NAMING, repositories, SKILLS, skill, skillAlone } from './skill-support.ts';
import { countersign } from './support.ts';

const { newFolder, repository, withNaming } = repositories();

describe('lint', () => {
  it('works through the real command line', async () => {
    expect(await countersign(['skill', 'lint'], { cwd: withNaming() })).toEqual({
      code: 0,
      stdout: 'Checked 1 skill: no errors.\n',
      stderr: '',
    });
  });

  it('reports that no file of a package can produce its outcome', async () => {
    const cwd = repository({ [`${SKILLS}/naming/SKILL.md`]: NAMING });
    expect(await skill(cwd, 'lint')).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'naming/SKILL.md:1:1: no file of the package produces its outcome (gate_verdict)',
      ),
    });
  });

  it('reports a skill in uses that no program can run, with what is allowed', async () => {
    const using = (uses: string) =>
      repository({
        [`${SKILLS}/naming/SKILL.md`]: NAMING.replace('\n---', `\nuses: ${uses}\n---`),
        [`${SKILLS}/naming/prompts/ask.md`]: 'Ask.\n',
      });
    const line = NAMING.replace('\n---', '\nuses: x\n---').split('\n').indexOf('uses: x') + 1;
    // Countersign's own skills are no packages that a program could run.
    expect(await skill(using('[release-notes, pr-review]'), 'lint')).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        new RegExp(
          `naming/SKILL\\.md:${line}:23: there is no skill "pr-review" that a program can run.* [Aa]llowed: coverage-gate, dependency-review, `,
        ),
      ),
    });
    expect((await skill(using('[release-notes]'), 'lint')).code).toBe(0);
  });

  it('warns of a skill in uses that only the organisation or an index can have, and fails with --strict', async () => {
    const cwd = repository({
      [`${SKILLS}/naming/SKILL.md`]: NAMING.replace('\n---', '\nuses: imapct-report\n---'),
      [`${SKILLS}/naming/prompts/ask.md`]: 'Ask.\n',
    });
    const { code, out } = await skill(cwd, 'lint');
    expect(out).toContain(
      'warning: there is no skill "imapct-report" here, so only the organisation or an index can have it: did you mean "impact-report"?',
    );
    expect(out).toContain('Checked 1 skill: no errors, 1 warning.');
    expect(code).toBe(0);
    expect(await json(cwd, 'lint')).toMatchObject({
      skills: [{ name: 'naming', ok: true, faults: [], warnings: [{ severity: 'warning' }] }],
    });
    expect(await skill(cwd, 'lint', '--strict')).toMatchObject({ code: 1, out });
  });

  it('reads files with a byte order mark as the same package, as the app does', async () => {
    const plain = withNaming();
    const marked = repository({
      [`${SKILLS}/naming/SKILL.md`]: `\uFEFF${NAMING}`,
      [`${SKILLS}/naming/prompts/ask@gpt.md`]: '\uFEFFAsk.\n',
    });
    expect((await skill(marked, 'lint')).out).toBe('Checked 1 skill: no errors.\n');
    const id = async (cwd: string) => (await json(cwd, 'show', 'naming')).id;
    expect(await id(marked)).toBe(await id(plain));
  });

  it('reports every error of every package of a repository, and ends with 1', async () => {
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
      .github/countersign/skills/naming/SKILL.md:4:1: unknown key "vresion": did you mean "version"? Allowed: name, description, version, author, tags, intent_patterns, trigger_phrases, paths, outcome, outcome_schema, trust, artifact_defaults, cognitive_hints, sequence, uses, artifacts, license, compatibility, allowed-tools, metadata
      .github/countersign/skills/naming/notes.txt:1:1: a package has no such file; allowed: SKILL.md, prompts/*.md, code/*.py, code/*.js, modules/*.json, analyzers/*.yml, agents/*.yml, tests/*.yml

      Checked 3 skills: 4 errors in 3 of them.
      "
    `);
    expect(await json(cwd, 'lint')).toMatchObject({ skills: [{ ok: false }, { ok: false }, { ok: false }] });
  });

  it('reports where a prompt or a program does not parse, and executes nothing', async () => {
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

      Checked 1 skill: 4 errors.
      "
    `);
  });

  it('accepts a package, a file in one, a folder of packages, a repository and an exported file', async () => {
    const cwd = withNaming();
    const naming = join(SKILLS, 'naming');
    await skill(cwd, 'export', 'naming', 'naming.json');
    for (const paths of [
      [naming],
      [`${naming}/SKILL.md`],
      [`${naming}/prompts`, `./${naming}/prompts/ask@gpt.md`],
      [SKILLS],
      ['.'],
      // In an organisation's repository `.github`, its skills are in this folder.
      ['.github'],
      ['naming.json'],
    ]) {
      expect(await skill(cwd, 'lint', ...paths)).toMatchObject({
        code: 0,
        out: 'Checked 1 skill: no errors.\n',
      });
    }
    for (const folder of ['.', 'prompts']) {
      expect(await skill(join(cwd, naming, folder), 'lint', '.')).toMatchObject({ code: 0 });
    }
    expect((await skill(join(cwd, '.github'), 'lint')).out).toBe('Checked 1 skill: no errors.\n');
  });

  it('says that a file belongs to no package', async () => {
    const cwd = repository({ 'README.md': '# Hello\n' });
    expect((await skill(cwd, 'lint', 'README.md')).out).toMatch(
      /^README\.md:1:1: this is no exported package: that is one JSON document, as countersign skill export writes it\n/,
    );
  });

  it('finds no error in the shipped packages', async () => {
    expect(await skill(process.cwd(), 'lint', 'skills')).toMatchObject({ code: 0 });
    // As seen from outside of a checkout.
    const ci = NAMING.replace('naming', 'ci').replace(/^outcome.*\n/m, '');
    const cwd = repository({ 'countersign/skills/ci/SKILL.md': ci });
    expect(await skill(cwd, 'lint', 'countersign/skills')).toMatchObject({ code: 0 });
  });

  it('says that there is nothing, and refuses a path that does not exist', async () => {
    const cwd = newFolder();
    expect((await skill(cwd, 'lint')).out).toBe(
      'Nothing to check: there are no skills in .github/countersign/skills here.\n',
    );
    mkdirSync(join(cwd, 'src'));
    expect((await skill(cwd, 'lint', 'src')).out).toBe('Nothing to check: there are no skills in src.\n');
    expect(await skill(cwd, 'lint', 'nowhere')).toEqual({
      code: 1,
      out: '',
      err: 'There is no file or folder nowhere.\n',
    });
  });
});

describe('test', () => {
  it('executes a module with the answers of its case', { tags: 'slow' }, async () => {
    const module = {
      template: 'chain_of_thought',
      signature: {
        instruction: 'Judge.',
        inputs: { title: { type: 'string' } },
        outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
      },
      fallback_artifact: 'prompts/ask.md',
    };
    const answer = (passed: boolean) => `{ reasoning: So, summary: Fine., passed: ${passed}, criteria: [] }`;
    const cases = [true, false].map(
      (passed) =>
        `  - { name: it says ${passed}, files: { a.ts: "x" }, answers: [${answer(passed)}], expect: { passed: true } }`,
    );
    const cwd = repository({
      [`${SKILLS}/judge/SKILL.md`]:
        '---\nname: judge\ndescription: Judges.\noutcome: gate_verdict\nartifacts: { modules/judge.json: {} }\n---\n',
      [`${SKILLS}/judge/modules/judge.json`]: JSON.stringify(module),
      [`${SKILLS}/judge/prompts/ask.md`]: 'Judge it.',
      [`${SKILLS}/judge/tests/judge.yml`]: `cases:\n${cases.join('\n')}\n  - { name: none, files: { a.ts: "x" }, expect: { passed: true } }\n`,
    });
    const { cases: results } = JSON.parse((await skillAlone(cwd, 'test', 'judge', '--json')).out);
    expect(results.map(({ kind }: { kind: string }) => kind)).toEqual(['passed', 'failed', 'left_out']);
  });

  it('reports everything that prevents a case from running, and fails', async () => {
    const cwd = repository({
      [`${SKILLS}/naming/SKILL.md`]: NAMING.replace('version', 'vresion').replace('outcome', 'outcom'),
      [`${SKILLS}/good/SKILL.md`]: NAMING.replace('naming', 'good'),
    });
    const diagnostics = ['4:1: unknown key "vresion": did', '8:1: unknown key "outcom": did'];
    const { code, out } = await skillAlone(cwd, 'test');
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      ...diagnostics.map((diagnostic) => expect.stringContaining(`${SKILLS}/naming/SKILL.md:${diagnostic}`)),
      '',
      'Ran 0 cases: none failed.',
      '1 skill has errors and was not tried.',
      '',
    ]);
    const said = JSON.parse((await skillAlone(cwd, 'test', '--json')).out);
    expect(said).toMatchObject({
      cases: [],
      broken: [{ name: 'naming', faults: [{ line: 4 }, { line: 8 }] }],
    });
    const named = await skillAlone(cwd, 'test', 'naming');
    expect(named).toMatchObject({ code: 1, out: '' });
    expect(named.err.split('\n')).toEqual([
      'The skill naming cannot be used:',
      ...diagnostics.map((diagnostic) => expect.stringContaining(diagnostic)),
      '',
    ]);
  });

  it('of a named skill without any case that ran ends with 1, and says why', async () => {
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
    expect((await skill(cwd, 'test', 'naming')).out).toContain('its SKILL.md names no outcome');
  });
});

describe('list', () => {
  it('shows shipped and local skills, also those with errors', async () => {
    const cwd = withNaming();
    mkdirSync(join(cwd, SKILLS, 'empty'));
    expect((await skill(cwd, 'list')).out).toMatchInlineSnapshot(`
      "SKILL                VERSION  FROM       FOLDER                             COMES TO                     ARTIFACTS
      ci                   1.0.0    shipped    skills/ci                                                       description
      codex-pr-review      1.0.0    shipped    skills/codex-pr-review             review_verdict               description, agent, prompt_template
      coverage-gate        1.0.0    shipped    skills/coverage-gate               gate_verdict                 description, code_template
      dependency-review    1.0.0    shipped    skills/dependency-review           review_verdict               description, analyzer
      docs-review          1.0.0    shipped    skills/docs-review                 review_verdict               description, analyzer
      empty                         workspace  .github/countersign/skills/empty                                1 error: is not used
      impact-report        1.0.0    shipped    skills/impact-report               impact_report                description, dspy_module, code_template
      migration-review     1.0.0    shipped    skills/migration-review            review_verdict               description, analyzer
      naming               1.2.0    workspace  .github/countersign/skills/naming  gate_verdict                 description, prompt_template
      pr-review            1.0.0    shipped    skills/pr-review                   review_verdict               description, analyzer, prompt_template
      release-notes        1.0.0    shipped    skills/release-notes               countersign/release-notes    description, prompt_template
      stale-pull-requests  1.0.0    shipped    skills/stale-pull-requests                                      description
      version-updates      1.0.0    shipped    skills/version-updates             countersign/version-updates  description, code_template
      workflow-review      1.0.0    shipped    skills/workflow-review             review_verdict               description, analyzer
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
  it('says where a skill comes from, what matches it, and what it consists of', async () => {
    const cwd = withNaming();
    expect((await skill(cwd, 'show', 'naming')).out).toMatchInlineSnapshot(`
      "naming 1.2.0 (of the repository: .github/countersign/skills/naming)
      Looks at the names of things.
      Its outcome is a gate_verdict.
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

  it('also describes built-in skills, and cases', async () => {
    expect((await skill(withNaming(), 'show', 'pr-review')).out).toMatch(
      /\ntests\/changes\.yml +cases +\d+\n$/,
    );
    expect((await skill(withNaming(), 'show', 'ci')).out).toMatch(
      /^ci 1\.0\.0 \(ships with Countersign: skills\/ci\)\n.*\nIt is built in: Countersign carries it out itself\.\nTags: /,
    );
  });

  it('reports the errors of a skill, and suggests a name for a misspelt one', async () => {
    const cwd = withNaming();
    writeFileSync(join(cwd, SKILLS, 'naming', 'notes.txt'), 'x');
    expect((await skill(cwd, 'show', 'naming')).err).toMatch(
      /^The skill naming cannot be used: .*notes\.txt:1:1: /,
    );
    for (const name of ['pr-reviw', 'skills/pr-review/'])
      expect((await skill(cwd, 'show', name)).err).toBe(
        `There is no skill ${name}; did you mean pr-review?\n`,
      );
  });
});

describe('match', () => {
  it('ranks the skills for a question and paths, with the reasons', async () => {
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
      /^SKILL +SCORE +BECAUSE OF\nnaming +\d+\.\d\d +phrase check the names; words name; path src\/\*\*; tag names\n$/,
    );
    expect(await json(cwd, 'match', 'nonsense')).toEqual([]);
    expect((await skill(cwd, 'match', 'nonsense')).out).toBe('No skill fits.\n');
    expect(await skill(cwd, 'match')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--path src/a.ts'),
    });
  });
});

it('chain lint knows exactly the skills that are there', async () => {
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
  mkdirSync(join(cwd, SKILLS, 'spelling'));
  expect((await countersign(['chain', 'lint'], { cwd })).stdout).toContain(
    'a.yaml:4:14: the skill "spelling" has errors of its own, which countersign skill lint shows',
  );
});

it('chain lint says what a step with a package must leave behind', async () => {
  const cwd = withNaming();
  mkdirSync(join(cwd, '.github/countersign/chains'));
  const chain = 'name: a\ntrigger: { event: pr.opened }\nsteps:\n  - { skill: naming }\n';
  writeFileSync(join(cwd, '.github/countersign/chains/a.yaml'), chain);
  const ended = await countersign(['chain', 'lint'], { cwd });
  expect(ended.stdout).toContain('a.yaml: artifacts: 1 expected: 1 required, 0 optional');
});
