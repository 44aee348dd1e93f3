import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolders } from '../../support/temp.ts';
import { countersign, parsed } from './support.ts';

const newFolder = temporaryFolders();
const SETTINGS = '.github/countersign.yml';
const CHAIN = '.github/countersign/chains/pr-review.yaml';

let folder: string;
beforeEach(() => {
  folder = newFolder();
  put('.git/config', '[core]\n\tbare = false\n[remote "origin"]\n\turl = http://127.0.0.1:9/octo/app.git\n');
});

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const read = (path: string) => readFileSync(join(folder, path), 'utf8');
const settings = () => parse(read(SETTINGS)) as Record<string, Record<string, unknown>>;

/** Without GitHub: nothing listens on the discard port. */
const init = (...args: string[]) =>
  countersign(['init', ...args], { cwd: folder, env: { GITHUB_API_URL: 'http://127.0.0.1:9' } });

const CI = `
on: { pull_request: {}, push: { branches: [main] } }
jobs:
  test: { runs-on: ubuntu-latest, steps: [] }
  lint: { name: "Lint: all", runs-on: ubuntu-latest, steps: [] }
  build: { strategy: { matrix: { os: [a, b] } }, runs-on: ubuntu-latest, steps: [] }
`;

describe('countersign init in a checkout', () => {
  it('writes settings that fit the workflows and code owners, and a chain that explains itself', async () => {
    put('.github/workflows/ci.yml', CI);
    put('.github/workflows/deploy.yml', 'on: push\njobs: { deploy: { steps: [] } }\n');
    put('.github/CODEOWNERS', '# all\n* @octo/core # by default\n/docs/ @ada\n');
    const { code } = await init('--yes');

    expect(code).toBe(0);
    expect(read(SETTINGS)).toMatchSnapshot('settings');
    expect(read(CHAIN)).toMatchSnapshot('chain');
    expect((await init('--yes')).code).toBe(1);
    expect((await countersign(['chain', 'lint', '--strict'], { cwd: folder })).code).toBe(0);
  });

  it('writes a chain that does what the shipped one does', async () => {
    await init('--yes');
    expect(parse(read(CHAIN))).toEqual(parse(readFileSync('chains/pr-review.yaml', 'utf8')));
  });

  it('goes by the first CODEOWNERS that GitHub looks for, and by its last rule for all files', async () => {
    put('docs/CODEOWNERS', '* @octo/docs\n');
    put('CODEOWNERS', '* @octo/old\n* @octo/new @octo/newer ada@example.com\n*.md @octo/docs\n');
    await init('--yes');
    expect(settings()).toMatchObject({
      countersign: { permission: 'none', teams: ['octo/new', 'octo/newer'] },
    });
  });

  it('proposes maintainers where CODEOWNERS names one person, who could not countersign their own changes', async () => {
    put('CODEOWNERS', '* @ada\n');
    await init('--yes');
    expect(settings()).toMatchObject({ countersign: { permission: 'maintain', count: 1 } });
  });

  it('writes nothing that chain lint would refuse', async () => {
    const checks = Array.from({ length: 101 }, (_, index) => ['--check', `check ${index}`]).flat();
    const { code, stderr } = await init('--yes', ...checks);
    expect([code, stderr]).toEqual([1, expect.stringContaining('must have at most 100 entries')]);
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('refuses checks beside the answer that none must pass', async () => {
    expect((await init('--yes', '--no-checks', '--check', 'test')).code).toBe(2);
  });

  it('writes into the root of the checkout from any of its folders', async () => {
    put('src/deep/a.ts', '');
    const { code } = await countersign(['init', '--yes'], {
      cwd: join(folder, 'src/deep'),
      env: { GITHUB_API_URL: 'http://127.0.0.1:9' },
    });
    expect([code, existsSync(join(folder, SETTINGS))]).toEqual([0, true]);
  });

  it('finds the remote of a linked worktree', async () => {
    const main = newFolder();
    mkdirSync(join(main, '.git/worktrees/two'), { recursive: true });
    writeFileSync(join(main, '.git/config'), '[remote "origin"]\n\turl = http://127.0.0.1:9/octo/other\n');
    writeFileSync(join(main, '.git/worktrees/two/commondir'), '../..\n');
    rmSync(join(folder, '.git'), { recursive: true });
    put('.git', `gitdir: ${join(main, '.git/worktrees/two')}\n`);
    expect(parsed(await init('--yes', '--json'))).toMatchObject({ repository: 'octo/other' });
  });

  it('takes each answer from an option', async () => {
    put('.github/workflows/ci.yml', CI);
    const { code } = await init(
      '--yes',
      ...['--who', '@Ada,grace', '--count', '2', '--method', 'rebase'],
      ...['--check', 'e2e (a, b)', '--check', 'x: y'],
    );
    expect(code).toBe(0);
    expect(settings()).toEqual({
      countersign: { permission: 'none', users: ['Ada', 'grace'], count: 2 },
      merge: { method: 'rebase', by: 'app' },
      ci: { required: ['e2e (a, b)', 'x: y'] },
    });
  });

  it('requires no checks if that is the answer', async () => {
    put('.github/workflows/ci.yml', CI);
    await init('--yes', '--no-checks');
    expect(settings()).not.toHaveProperty('ci');
  });

  it.each([
    ['--count', '0'],
    ['--count', '11'],
    ['--who', 'octo/core/more'],
    ['--who', ''],
    ['--method', 'fast-forward'],
    ['--check', ''],
  ])('refuses %s %j as misuse', async (...option) => {
    expect([(await init('--yes', ...option)).code, existsSync(join(folder, '.github'))]).toEqual([2, false]);
  });

  it('refuses fewer people than must countersign, because nothing could be merged', async () => {
    const { code, stderr } = await init('--yes', '--who', 'ada', '--count', '2');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Fewer people are named')]);
  });

  it('never writes over a file, and writes nothing beside it', async () => {
    put(CHAIN, 'name: mine\n');
    const { code, stderr } = await init('--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`there is ${CHAIN}`)]);
    expect([read(CHAIN), existsSync(join(folder, SETTINGS))]).toEqual(['name: mine\n', false]);
  });

  it.each(['.github', '.github/countersign', '.github/countersign/chains'])(
    'follows no link at %s out of the checkout, and leaves nothing half done',
    async (path) => {
      const elsewhere = newFolder();
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      symlinkSync(elsewhere, join(folder, path));
      const { code, stderr } = await init('--yes');
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${path} is no folder of this checkout`)]);
      expect([existsSync(join(elsewhere, 'countersign.yml')), existsSync(join(folder, SETTINGS))]).toEqual([
        false,
        false,
      ]);
    },
  );

  it('says that there is nowhere to write outside of a checkout', async () => {
    rmSync(join(folder, '.git'), { recursive: true });
    const { code, stderr } = await init('--yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('in no git checkout')]);
  });

  it('keeps hostile names of jobs and owners as values of the YAML', async () => {
    const name = 'x\\n  method: "merge"\\u001b[31m # y';
    put(
      '.github/workflows/ci.yml',
      `on: pull_request\njobs: { a: { name: "${name.replaceAll('"', '\\"')}" } }\n`,
    );
    put('CODEOWNERS', '* @octo/core}\\n @octo/../x @a:b #\n');
    const { code, stdout } = await init('--yes');
    expect(code).toBe(0);
    expect(settings()).toMatchObject({
      countersign: { permission: 'maintain' },
      merge: { method: 'squash' },
      ci: { required: ['x\n  method: "merge"\u001b[31m # y'] },
    });
    expect(stdout).not.toContain('\u001b');
  });

  it('goes without workflows that are too large, no YAML or no files', async () => {
    put('.github/workflows/large.yml', `on: pull_request\njobs: { a: {} }\n#${'x'.repeat(70_000)}`);
    put('.github/workflows/broken.yml', 'on: [pull_request\n');
    mkdirSync(join(folder, '.github/workflows/folder.yml'));
    expect(parsed(await init('--yes', '--json'))).toMatchObject({
      seen: { workflows: [] },
      answers: { checks: [] },
    });
  });
});
