import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, parsed } from './support.ts';

const newFolder = temporaryFolders();

const GOOD = 'name: deploy\ntrigger: { event: manual.fired }\nsteps:\n  - { skill: ci }\n';
const MISSPELT =
  'name: deploy\ntrigger: { event: pr.opened }\nsteps:\n  - { skill: cii }\n  - { acton: gh-merge }\n';

/** A repository's folder with these files. */
function repository(files: Record<string, string>): string {
  const folder = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const chainLint = (cwd: string, ...paths: string[]) => countersign(['chain', 'lint', ...paths], { cwd });

it('lint checks the settings and chains of a repository when no path is given', async () => {
  const cwd = repository({
    '.github/countersign.yml': 'merge:\n  method: squish\n',
    '.github/countersign/chains/deploy.yaml': GOOD,
    '.github/dependabot.yml': 'version: 2\n',
  });
  const { code, stdout, stderr } = await chainLint(cwd);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/^\.github\/countersign\.yml:2:11: .*squash/);
  expect(stdout).toMatch(/\n\nChecked 2 files: 1 error in 1 of them\.\n$/);
});

it('lint knows the data of a kind that a package of the repository registers', async () => {
  const cwd = repository({
    '.github/countersign/skills/cover/SKILL.md': `---
name: cover
description: Counts.
outcome: octo/coverage
outcome_schema: { type: object, properties: { percent: { type: number } } }
---
`,
    '.github/countersign/skills/cover/prompts/ask.md': 'Ask.',
    '.github/countersign/chains/flow.yaml': `name: flow
trigger: { event: pr.opened }
steps:
  - { id: c, skill: cover }
  - { id: t, skill: ci, condition: "{{ steps.c.outcome.data.precent > 80 }}" }
`,
  });
  const { code, stdout } = await chainLint(cwd);
  expect(stdout).toContain('flow.yaml:5:');
  expect(stdout).toContain('"outcome.data" has no "precent": did you mean "percent"?');
  expect(code).toBe(1);
});

it('lint and list say of a hundred-and-first chain file that it is not read', async () => {
  const names = Array.from({ length: 101 }, (_, index) => `c${1000 + index}`);
  const cwd = repository(
    Object.fromEntries(
      names.map((name) => [`.github/countersign/chains/${name}.yaml`, GOOD.replace('deploy', name)]),
    ),
  );
  const { stdout } = await chainLint(cwd);
  expect(stdout).toContain(
    'c1100.yaml:1:1: only the first 100 chain files of a folder are read, by their names',
  );
  expect(stdout).toContain('Checked 101 files: 1 error in 1 of them.');
  const listed = await countersign(['chain', 'list'], { cwd });
  expect(listed.stdout).toMatch(/^c1099 +yes/m);
  expect(listed.stdout).toMatch(/^c1100 +no/m);
});

it('lint reports every error with its place and ends with 1', async () => {
  const cwd = repository({ 'deploy.yaml': MISSPELT });
  const { code, stdout } = await chainLint(cwd, 'deploy.yaml');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^deploy\.yaml:4:\d+: .*cii.*\n/);
  expect(stdout).toMatch(/^deploy\.yaml:5:\d+: .*acton/m);
});

it('lint refuses a step whose skill has no outcome', async () => {
  const cwd = repository({
    '.github/countersign/skills/notes/SKILL.md': '---\nname: notes\ndescription: To read.\n---\n',
    '.github/countersign/chains/read.yaml': GOOD.replace('skill: ci', 'skill: notes'),
  });
  expect((await chainLint(cwd)).stdout).toMatch(
    /^\S+read\.yaml:4:14: the SKILL\.md of "notes" names no outcome, so no step can run it\n/,
  );
});

it('lint ends with 0 when there are no errors, or no files', async () => {
  const cwd = repository({ 'chains/deploy.yaml': GOOD });
  expect(await chainLint(cwd, 'chains')).toEqual({
    code: 0,
    stdout:
      'chains/deploy.yaml: artifacts: 1 expected: 1 required, 0 optional; all paths relative; no id collisions\n\nChecked 1 file: no errors.\n',
    stderr: '',
  });
  expect(await chainLint(cwd)).toMatchObject({
    code: 0,
    stdout:
      'Nothing to check: there is no .github/countersign.yml here, and no YAML file in .github/countersign/chains. Without them, the shipped chain runs.\n',
  });
});

it('lint ends with 1 when a folder that is named has nothing to check, and says where it searched', async () => {
  const cwd = repository({ 'src/a.ts': '' });
  expect(await chainLint(cwd, 'src')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      'Nothing to check: there are no chain files and no settings in src. Searched were',
    ),
  });
});

const ODD = GOOD.replace('skill: ci', 'skill: ci, condition: "{{ false }}"');

it('lint ends with 0 for warnings, and with 1 if it is strict', async () => {
  const cwd = repository({ 'chains/deploy.yaml': ODD });
  const { code, stdout } = await chainLint(cwd, 'chains');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^chains\/deploy\.yaml:4:\d+: warning: this step can never run: its condition is never true\n/,
  );
  expect(stdout).toMatch(/Checked 1 file: no errors, 1 warning\.\n$/);
  expect((await chainLint(cwd, 'chains', '--strict')).code).toBe(1);
  const { files } = JSON.parse((await chainLint(cwd, 'chains', '--json')).stdout);
  expect(files).toEqual([
    expect.objectContaining({
      ok: true,
      faults: [],
      warnings: [expect.objectContaining({ line: 4, severity: 'warning' })],
    }),
  ]);
});

it('lint prints one JSON document with all files', async () => {
  const cwd = repository({ 'chains/a.yaml': MISSPELT, 'chains/b.yaml': GOOD.replace('deploy', 'other') });
  const { code, stdout } = await chainLint(cwd, 'chains', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    files: [
      {
        file: 'chains/a.yaml',
        ok: false,
        chain: 'deploy',
        faults: expect.arrayContaining([
          { file: 'chains/a.yaml', line: 4, column: expect.any(Number), message: expect.any(String) },
        ]),
        warnings: [],
        expected_artifacts: [],
      },
      {
        file: 'chains/b.yaml',
        ok: true,
        chain: 'other',
        faults: [],
        warnings: [],
        expected_artifacts: [
          { kind: 'outcome', id: 'ci-result', outcome: 'ci_result', required: true, source: 'skill' },
        ],
      },
    ],
  });
});

it('lint finds errors across files: a repeated name, and settings in a file that the app does not read', async () => {
  const cwd = repository({
    '.github/countersign.yaml': 'noise: quiet\n',
    '.github/countersign/chains/a.yaml': GOOD,
    '.github/countersign/chains/b.yaml': GOOD,
  });
  const { stdout } = await chainLint(cwd, '.');
  expect(stdout).toMatchInlineSnapshot(`
    ".github/countersign.yaml:1:1: settings are read from countersign.yml only: rename this file
    .github/countersign/chains/a.yaml:1:1: the chain name "deploy" is also used by .github/countersign/chains/b.yaml
    .github/countersign/chains/b.yaml:1:1: the chain name "deploy" is also used by .github/countersign/chains/a.yaml

    Checked 3 files: 3 errors in 3 of them.
    "
  `);
});

it('lint finds chains in folders that the app does not read, whatever their files are called', async () => {
  const cwd = repository({
    '.github/countersign.yml': 'chains: [deploy]\n',
    '.github/countersign/chains/sub/a.yaml': GOOD,
  });
  const { stdout } = await chainLint(cwd);
  expect(stdout).toMatchInlineSnapshot(`
    ".github/countersign.yml:1:10: there is no chain "deploy"; allowed: backport, dependabot, migrations, nightly-health, pr-review, release-notes
    .github/countersign/chains/sub/a.yaml:1:1: chains are not read from folders in .github/countersign/chains: move this file to .github/countersign/chains/a.yaml

    Checked 2 files: 2 errors in 2 of them.
    "
  `);
  const alone = await chainLint(join(cwd, '.github/countersign/chains'), 'sub/a.yaml');
  expect(alone.stdout).toContain('sub/a.yaml:1:1: chains are not read from folders in');
});

it('lint finds names in the settings that no chain has', async () => {
  const cwd = repository({
    '.github/countersign.yml': 'chains: [pr-review, deploy, broken, pr-reveiw, PR]\nnoise: loud\n',
    '.github/countersign/chains/a.yaml': GOOD,
    '.github/countersign/chains/broken.yaml': 'steps: nothing\n',
  });
  for (const path of ['.', '.github/countersign.yml']) {
    const { code, stdout } = await chainLint(cwd, path);
    expect(code).toBe(1);
    expect(stdout.split('\n').filter((line) => line.startsWith('.github/countersign.yml'))).toEqual([
      expect.stringMatching(/1:37: there is no chain "pr-reveiw": did you mean "pr-review"\? Allowed: /),
      '.github/countersign.yml:1:48: this is not a chain name',
      '.github/countersign.yml:2:8: "noise" cannot be "loud"; allowed: normal, quiet',
    ]);
  }
});

it('lint refuses a path that does not exist', async () => {
  expect(await chainLint(newFolder(), 'nothing.yaml')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no file or folder nothing.yaml.\n',
  });
});

it('list shows shipped chains and those of the working folder, also those with errors', async () => {
  const cwd = repository({
    '.github/countersign/chains/deploy.yaml': GOOD,
    '.github/countersign/chains/pr-review.yaml': MISSPELT.replace('deploy', 'pr-review'),
  });
  const { code, stdout } = await countersign(['chain', 'list'], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "CHAIN           RUNS  FROM        FILE                                       FIRES ON                               STEPS
    backport        no    shipped     chains/backport.yaml                       pr.merged                              1
    dependabot      no    shipped     chains/dependabot.yaml                     pr.opened                              7
    deploy          yes   repository  .github/countersign/chains/deploy.yaml     manual.fired                           1
    migrations      no    shipped     chains/migrations.yaml                     pr.opened                              5
    nightly-health  no    shipped     chains/nightly-health.yaml                 the schedule 30 2 * * *, manual.fired  4
    pr-review       no    repository  .github/countersign/chains/pr-review.yaml                                         3 errors
    release-notes   no    shipped     chains/release-notes.yaml                  pr.merged                              2
    "
  `);
  const listed = await countersign(['chain', 'list', '--json'], { cwd });
  const ofRepository = (parsed(listed) as { scope: string }[]).filter(({ scope }) => scope === 'repository');
  expect(ofRepository).toMatchObject([
    { name: 'deploy', ok: true, runs: true, event: 'manual.fired', steps: ['ci'] },
    { name: 'pr-review', ok: false, runs: false, event: null, steps: null },
  ]);
});

it('list says that a shipped chain runs where the settings name it', async () => {
  const runs = async (settings: string) => {
    const cwd = repository({ '.github/countersign.yml': settings });
    const listed = parsed(await countersign(['chain', 'list', '--json'], { cwd }));
    return (listed as { name: string; runs: boolean }[]).filter((one) => one.runs).map(({ name }) => name);
  };
  expect(await runs('')).toEqual(['pr-review']);
  expect(await runs('chains: [migrations]')).toEqual(['migrations']);
});

it('show --source prints the chain as it is written', async () => {
  const { stdout } = await countersign(['chain', 'show', 'migrations', '--source'], { cwd: newFolder() });
  expect(stdout).toBe(readFileSync(new URL('../../../chains/migrations.yaml', import.meta.url), 'utf8'));
});

it('show draws the shipped chain and prints it as JSON', async () => {
  const cwd = newFolder();
  const drawn = await countersign(['chain', 'show', 'pr-review'], { cwd });
  expect(drawn.stdout).toMatch(/^pr-review \(ships with Countersign: chains\/pr-review\.yaml\)\n/);
  expect(drawn.stdout).toMatch(/└─ merge +action gh-merge, after a countersign, if /);
  const { stdout } = await countersign(['chain', 'show', 'pr-review', '--json'], { cwd });
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'pr-review',
    scope: 'shipped',
    steps: [{ id: 'review', uses: { kind: 'skill', name: 'pr-review' }, depends_on: [] }, {}, {}],
  });
});

it('show reports the errors of a chain that does not run, and suggests a name for a misspelt one', async () => {
  const cwd = repository({ '.github/countersign/chains/deploy.yaml': MISSPELT });
  const broken = await countersign(['chain', 'show', 'deploy'], { cwd });
  expect(broken).toMatchObject({ code: 1, stdout: '' });
  expect(broken.stderr.split('\n')).toEqual([
    expect.stringMatching(/^The chain deploy does not run because of .*deploy\.yaml:$/),
    expect.stringMatching(/deploy\.yaml:4:\d+: there is no skill "cii"/),
    expect.stringMatching(/deploy\.yaml:5:/),
    expect.stringMatching(/deploy\.yaml:5:\d+: unknown key "acton"/),
    '',
  ]);
  expect(await countersign(['chain', 'show', 'pr-reviw'], { cwd })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no chain pr-reviw; did you mean pr-review?\n',
  });
});
