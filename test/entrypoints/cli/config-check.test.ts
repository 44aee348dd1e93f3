import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { type GitHubStandIn, startGitHub } from '../../support/github/stand-in.ts';
import { createRequestValidator } from '../../support/openapi/validator.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered, countersign, type Ended, parsed } from './support.ts';

const SETTINGS = '.github/countersign.yml';
const CHAIN = '.github/countersign/chains/deploy.yaml';
const BROKEN_CHAIN = `name: deploy
trigger: { event: pr.opened }
steps:
  - { id: hello, action: gh-coment, with: { body: Hello } }
`;

const newFolder = temporaryFolders();
const validate = createRequestValidator();
let github: GitHubStandIn;
let settings: Record<string, string>;
let writes: string[];

beforeEach(async () => {
  github = await startGitHub();
  writes = [];
  const faulty: string[] = [];
  github.onRequest((request) => {
    faulty.push(...validate(request));
    if (request.method !== 'GET' && !request.path.endsWith('/access_tokens')) writes.push(request.path);
    expect(faulty).toEqual([]);
  });
  github.addOrganization('octo');
  github.installApp('octo');
  add('app');
  settings = {
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.url,
    DATABASE_URL: `sqlite:${join(newFolder(), 'countersign.db')}`,
  };
});
afterEach(async () => {
  await github.stop();
  expect(writes).toEqual([]);
});

function add(name: string, files: Record<string, string> = {}, owner = 'octo'): void {
  github.addRepository({ owner, name, files: { 'README.md': '# Hello\n', ...files } });
}

const check = (...args: string[]): Promise<Ended> =>
  countersign(['config', 'check', ...args], { env: settings });

it('counts the repositories of an organisation whose configuration has no errors, and succeeds', async () => {
  add('shop', { [SETTINGS]: 'merge: { by: people }\n' });
  expect(await check('--organisation', 'Octo')).toEqual({
    code: 0,
    stdout: '2 repositories checked: no errors.\n',
    stderr: '',
  });
});

it('lists each error with its repository, file and line, and fails', async () => {
  add('shop', { [SETTINGS]: 'merge:\n  bye: people\n', [CHAIN]: BROKEN_CHAIN });
  const { code, stdout } = await check('--organisation', 'octo');
  expect(code).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "REPOSITORY  FILE                                    LINE  ERROR
    octo/shop   .github/countersign.yml                 2     unknown key "bye": did you mean "by"? Allowed: method, changes_requested, by
    octo/shop   .github/countersign/chains/deploy.yaml  4     there is no action "gh-coment": did you mean "gh-comment"? Allowed: chain, gh-assign, gh-backport, gh-close, gh-comment, gh-dispatch, gh-issue, gh-label, gh-merge, gh-milestone, gh-release, gh-request-reviewers, gh-review, gh-status, gh-update-branch, notify, shell, wait

    2 repositories checked: 2 errors in 1 repository.
    "
  `);
});

it('says the same as JSON', async () => {
  add('shop', { [SETTINGS]: 'merge:\n  bye: people\n' });
  const ended = await check('--organisation', 'octo', '--json');
  expect(ended.code).toBe(1);
  expect(parsed(ended)).toMatchInlineSnapshot(`
    {
      "archived": 0,
      "checked": 2,
      "empty": 0,
      "errors": [
        {
          "column": 3,
          "file": ".github/countersign.yml",
          "line": 2,
          "message": "unknown key "bye": did you mean "by"? Allowed: method, changes_requested, by",
          "repository": "octo/shop",
        },
      ],
      "unreadable": [],
    }
  `);
});

it('lists an error in the files of the organisation once, and not for each repository', async () => {
  add('shop');
  add('.github', { [SETTINGS]: 'rollout: all\n' });
  const { code, stdout } = await check('--organisation', 'octo');
  expect(code).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "REPOSITORY    FILE                     LINE  ERROR
    octo/.github  .github/countersign.yml  1     "rollout" cannot be "all"; allowed: off, observe, comment, enforce

    3 repositories checked: 1 error in 1 repository.
    "
  `);
});

it('skips archived repositories, and counts them', async () => {
  add('old', { [SETTINGS]: 'nonsense: 1\n' });
  await github.archiveRepository('octo/old');
  expect(await check('--organisation', 'octo')).toMatchObject({
    code: 0,
    stdout: '1 repository checked: no errors. 1 repository is archived and skipped.\n',
  });
});

it('lists a repository that cannot be read, goes on with the others, and fails', async () => {
  add('shop');
  github.fail(({ path }) => path.startsWith('/repos/octo/app/'), { status: 403 });
  const { code, stdout } = await check('--organisation', 'octo');
  expect(code).toBe(1);
  expect(stdout).toContain('octo/app');
  expect(stdout).toContain('cannot be read');
  expect(stdout).toContain('1 repository checked: no errors. 1 repository could not be read.');
});

it('reads a repository again that GitHub could not show at first', async () => {
  github.fail(({ path }) => path.startsWith('/repos/octo/app/'), { status: 502 }, 1);
  const tools = { ...createTools(settings), pause: async () => {} };
  const args = ['config', 'check', '--organisation', 'octo'];
  const { code, out } = await answered(args, { cwd: '/', clock: systemClock, tools });
  expect([code, out]).toEqual([0, '1 repository checked: no errors.\n']);
});

it('waits while GitHub limits requests, says until when, and goes on', async () => {
  github.fail(
    ({ path }) => path.startsWith('/repos/octo/app/'),
    { status: 429, headers: { 'retry-after': '1' } },
    1,
  );
  const shown: string[] = [];
  const { code } = await answered(['config', 'check', '--repo', 'octo/app'], {
    cwd: '/',
    clock: systemClock,
    tools: createTools(settings),
    statusLine: { show: (text) => shown.push(text), hide: () => {} },
  });
  expect(code).toBe(0);
  expect(shown[0]).toContain("for GitHub's rate limit");
});

it('checks one repository alone', async () => {
  add('shop', { [SETTINGS]: 'nonsense: 1\n' });
  expect(await check('--repo', 'octo/app')).toMatchObject({
    code: 0,
    stdout: '1 repository checked: no errors.\n',
  });
});

it('without an organisation checks wherever the App is installed', async () => {
  github.addOrganization('acme');
  github.installApp('acme');
  add('rocket', {}, 'acme');
  expect((await check()).stdout).toBe('2 repositories checked: no errors.\n');
});

it('says where the App is installed if it is not for that organisation', async () => {
  expect(await check('--organisation', 'acme')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The App is not installed for acme; it is for octo.\n',
  });
});

it('shows how many repositories it has read', async () => {
  add('shop');
  const shown: string[] = [];
  await answered(['config', 'check', '--organisation', 'octo'], {
    cwd: '/',
    clock: systemClock,
    tools: createTools(settings),
    statusLine: { show: (text) => shown.push(text), hide: () => {} },
  });
  expect(shown).toEqual(['1 of 2 repositories are read …', '2 of 2 repositories are read …']);
});
