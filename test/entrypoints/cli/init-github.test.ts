import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTools } from '../../../src/cli-tools.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';
import { createRequestValidator } from '../../support/openapi/validator.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered, countersign, parsed } from './support.ts';

const REPO = 'octo/app';
const SETTINGS = '.github/countersign.yml';
const CHAIN = '.github/countersign/chains/pr-review.yaml';
const CI = `
on: [push, pull_request]
jobs: { test: { steps: [] }, lint: { steps: [] } }
`;

const newFolder = temporaryFolders();
const validate = createRequestValidator();
let github: GitHubStandIn;
let folder: string;
let writes: string[];
let faulty: string[];

beforeEach(async () => {
  github = await startGitHub();
  [writes, faulty] = [[], []];
  github.onRequest((request) => {
    faulty.push(...validate(request));
    if (request.method !== 'GET' && request.path !== '/graphql')
      writes.push(`${request.method} ${request.path}`);
  });
  github.addOrganization('octo');
  github.addRepository({
    owner: 'octo',
    name: 'app',
    files: {
      'README.md': '# App\n',
      '.github/workflows/ci.yml': CI,
      '.github/workflows/deploy.yml': 'on: push\njobs: { deploy: { steps: [] } }\n',
      CODEOWNERS: '* @ada @grace\n',
    },
    mergeMethods: ['rebase', 'merge'],
  });
  folder = newFolder();
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git/config'), `[remote "origin"]\n\turl = ${github.url}/octo/app.git\n`);
});
afterEach(async () => {
  await github.stop();
  expect(faulty).toEqual([]);
});

const tip = () => github.branch(REPO, 'main') ?? '';
const pass = (name: string) =>
  github.reportCheck(REPO, tip(), { name, status: 'completed', conclusion: 'success' });
const env = (token?: string) => ({
  GITHUB_API_URL: github.url,
  ...(token === undefined ? {} : { GITHUB_TOKEN: token }),
});
const init = (args: readonly string[], token?: string) =>
  countersign(['init', ...args], { cwd: folder, env: env(token) });
const written = () => parse(readFileSync(join(folder, SETTINGS), 'utf8')) as Record<string, unknown>;

/** With somebody at the terminal who types these lines, and then ends the input. */
async function asked(lines: readonly string[], args: readonly string[] = []) {
  const questions: string[] = [];
  const left = [...lines];
  let hasLeft = false;
  const tools = {
    ...createTools(env(github.writeToken('octo')), folder),
    person: async () => ({
      ask: async (question: string) => {
        questions.push(question);
        return left.shift();
      },
      leave: () => {
        hasLeft = true;
      },
    }),
  };
  const ended = await answered(['init', ...args], { cwd: folder, clock: systemClock, tools });
  expect(hasLeft).toBe(true);
  return { ...ended, questions };
}

describe('countersign init with GitHub', () => {
  it('proposes what fits checks, code owners and merge methods, and says what it saw', async () => {
    writeFileSync(join(folder, 'CODEOWNERS'), '* @ada @grace\n');
    mkdirSync(join(folder, '.github/workflows'), { recursive: true });
    writeFileSync(join(folder, '.github/workflows/ci.yml'), CI);
    writeFileSync(
      join(folder, '.github/workflows/deploy.yml'),
      'on: push\njobs: { deploy: { steps: [] } }\n',
    );
    for (const name of ['test', 'lint', 'deploy', 'countersign / pr-review']) await pass(name);
    await github.setStatus(REPO, tip(), { context: 'ci/external', state: 'success' });
    const { code, stdout } = await init(['--yes'], github.writeToken('octo'));

    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
    expect(written()).toEqual({
      countersign: { permission: 'none', users: ['ada', 'grace'], count: 1 },
      merge: { method: 'merge', by: 'app' },
      ci: { required: ['ci/external', 'lint', 'test'] },
    });
    expect(writes).toEqual([]);
  });

  it('proposes the checks that the branch requires, but not the gate check', async () => {
    await pass('lint');
    github.requireChecks(REPO, 'main', [{ context: 'test' }, { context: 'countersign: main' }]);
    await init(['--yes']);
    expect(written()).toMatchObject({ ci: { required: ['test'] } });
  });

  it('merges by the merge queue of the branch', async () => {
    github.addRuleset(REPO, { branches: ['main'], checks: [{ context: 'test' }], mergeQueue: {} });
    await init(['--yes']);
    expect(written()).toMatchObject({ merge: { by: 'queue' } });
  });

  it('reads a public repository without a token, which shows no merge methods', async () => {
    const { stdout } = await init(['--yes']);
    expect(stdout).toMatch(/default branch +main/);
    expect(stdout).toMatch(/merge methods +not known/);
  });

  it('refuses a merge method that the repository does not allow', async () => {
    const { code, stderr } = await init(['--yes', '--method', 'squash'], github.writeToken('octo'));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('merge or rebase, which this repository allows'),
    ]);
  });

  it.each([
    [
      'a private repository without a token',
      undefined,
      'GitHub shows no repository octo/app without a token',
    ],
    ['a token that GitHub refuses', 'ghp_wrong', 'GitHub does not accept the token in GITHUB_TOKEN'],
  ])('goes by the files here with %s, and says so', async (_what, token, words) => {
    github.setPrivate(REPO, true);
    const { code, stderr } = await init(['--yes'], token);
    expect([code, stderr]).toEqual([0, expect.stringContaining(words)]);
    expect(stderr).toContain('Only the files of this checkout count');
    expect(existsSync(join(folder, SETTINGS))).toBe(true);
  });

  it('asks no other server about a remote that is not on GitHub', async () => {
    writeFileSync(
      join(folder, '.git/config'),
      '[remote "origin"]\nurl = https://x:secret@git.example/a/b.git\n',
    );
    const { code, stderr } = await init(['--yes']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('"origin" is on git.example')]);
    expect(stderr).not.toContain('secret');
    expect(github.requests).toEqual([]);
  });
});

describe('the four questions of countersign init', () => {
  it('are answered by Enter', async () => {
    await pass('test');
    const { code, questions, out, err } = await asked(['', '', '', '']);
    expect(code).toBe(0);
    expect([err, ...questions, out]).toMatchSnapshot();
    expect(written()).toEqual({
      countersign: { permission: 'maintain', count: 1 },
      merge: { method: 'merge', by: 'app' },
      ci: { required: ['test'] },
    });
  });

  it('take other answers', async () => {
    await pass('test');
    await pass('test (a, b)');
    expect((await asked(['octo/core, @ada', '2', 'rebase', '2'])).code).toBe(0);
    expect(written()).toEqual({
      countersign: { permission: 'none', teams: ['octo/core'], users: ['ada'], count: 2 },
      merge: { method: 'rebase', by: 'app' },
      ci: { required: ['test (a, b)'] },
    });
  });

  it('are asked again with what is allowed', async () => {
    const { code, questions } = await asked(['a/b/c', 'ada', '2', '1', 'squash', 'merge', '7', 'none']);
    expect(code).toBe(0);
    expect(questions).toMatchSnapshot();
  });

  it('end after three answers that nobody understands, and nothing is written', async () => {
    const { code, err } = await asked(['', 'many', 'more', 'most']);
    expect([code, err]).toEqual([2, expect.stringContaining('no answer three times')]);
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('write nothing if the input ends', async () => {
    const { code, err } = await asked(['', '']);
    expect([code, err]).toEqual([1, expect.stringContaining('The input ended')]);
    expect(existsSync(join(folder, '.github'))).toBe(false);
  });

  it('are only those that no option answers', async () => {
    const { questions } = await asked([''], ['--who', 'maintainers', '--method', 'merge', '--no-checks']);
    expect(questions).toEqual([expect.stringContaining('How many')]);
  });

  it('need a terminal, or --yes', async () => {
    const tools = { ...createTools(env(), folder), person: async () => undefined };
    const { code, err } = await answered(['init'], { cwd: folder, clock: systemClock, tools });
    expect([code, err]).toEqual([2, expect.stringContaining('--yes')]);
  });

  it('show names from GitHub without what controls a terminal', async () => {
    await pass('\u001b[2Jtest\n\u202ex');
    const { questions } = await asked(['', '', '', '']);
    for (const character of ['\u001b', '\u202e']) expect(questions.join('')).not.toContain(character);
    expect(written()).toMatchObject({ ci: { required: ['\u001b[2Jtest\n\u202ex'] } });
  });
});

describe('countersign init --pr', () => {
  it('opens a pull request with one commit of both files, and writes nothing here', async () => {
    const before = tip();
    const { code, stdout } = await init(['--pr', '--yes'], github.writeToken('octo'));

    expect(code).toBe(0);
    expect(stdout.replaceAll(github.url, 'https://github.example')).toMatchSnapshot('output');
    const [opened] = github.pullRequests(REPO);
    expect(opened).toMatchObject({ number: 1, baseRef: 'main', headRef: 'countersign-init' });
    expect(github.commit(REPO, 'countersign-init')).toMatchObject({ parents: [before] });
    expect(parse(github.fileAt(REPO, 'countersign-init', SETTINGS) ?? '')).toMatchObject({
      countersign: { permission: 'none', users: ['ada', 'grace'] },
      ci: { required: ['lint', 'test'] },
    });
    expect(github.fileAt(REPO, 'countersign-init', CHAIN)).toContain('name: pr-review');
    expect(github.fileAt(REPO, 'countersign-init', 'README.md')).toBe('# App\n');
    expect([tip(), existsSync(join(folder, '.github'))]).toEqual([before, false]);
  });

  it('works for a repository that is not checked out here', async () => {
    const args = ['init', '--pr', '--yes', '--repo', REPO, '--json'];
    const ended = await countersign(args, { cwd: newFolder(), env: env(github.writeToken('octo')) });
    expect(parsed(ended)).toMatchObject({ repository: REPO, pull_request: { number: 1 } });
  });

  it('says that the branch exists, and leaves it alone', async () => {
    const token = github.writeToken('octo');
    await init(['--pr', '--yes'], token);
    const head = github.branch(REPO, 'countersign-init');
    writes.length = 0;
    const { code, stderr } = await init(['--pr', '--yes'], token);
    expect([code, stderr]).toEqual([1, expect.stringContaining('has a branch countersign-init already')]);
    expect([writes, github.branch(REPO, 'countersign-init')]).toEqual([[], head]);
  });

  it('never forces a branch that somebody makes meanwhile', async () => {
    github.fail(({ method, path }) => method === 'POST' && path.endsWith('/git/refs'), {
      status: 422,
      body: { message: 'Reference already exists' },
    });
    const { code, stderr } = await init(['--pr', '--yes'], github.writeToken('octo'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('has a branch countersign-init already')]);
  });

  it('removes its branch again if GitHub refuses the pull request', async () => {
    github.fail(({ method, path }) => method === 'POST' && path.endsWith('/pulls'), {
      status: 403,
      body: { message: 'Resource not accessible by personal access token' },
    });
    const { code, stderr } = await init(['--pr', '--yes'], github.writeToken('octo'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('"Contents" and "Pull requests"')]);
    expect(github.branches(REPO)).toEqual(['main']);
  });

  it('says which permissions a token lacks that only reads', async () => {
    const { code, stderr } = await init(['--pr', '--yes'], github.readToken('octo'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('"Contents" and "Pull requests"')]);
    expect(github.branches(REPO)).toEqual(['main']);
  });

  it('needs a token', async () => {
    const { code, stderr } = await init(['--pr', '--yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('set GITHUB_TOKEN')]);
  });

  it('needs a repository', async () => {
    const ended = await countersign(['init', '--pr', '--yes'], { cwd: newFolder(), env: env('t') });
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('--repo owner/name')]);
  });

  it('stops at a repository that is configured already', async () => {
    github.addRepository({ owner: 'octo', name: 'set', files: { [SETTINGS]: 'noise: quiet\n' } });
    const { code, stderr } = await init(['--pr', '--yes', '--repo', 'octo/set'], github.writeToken('octo'));
    expect([code, stderr, writes]).toEqual([1, expect.stringContaining(`there is ${SETTINGS}`), []]);
  });

  it('says that the repository is hidden from the token', async () => {
    const { code, stderr } = await init(['--pr', '--yes', '--repo', 'octo/none'], github.writeToken('octo'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('GitHub shows no repository octo/none for the token'),
    ]);
  });
});
