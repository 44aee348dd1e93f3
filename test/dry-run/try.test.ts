import { afterAll, beforeAll, expect, test } from 'vitest';
import { countersign } from '../entrypoints/cli/support.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';

const REPO = 'octo/app';
let github: GitHubStandIn;
let number: number;
const sent: { method: string; path: string }[] = [];

beforeAll(async () => {
  github = await startGitHub();
  github.onRequest(({ method, path }) => sent.push({ method, path }));
  github.addOrganization('octo');
  for (const login of ['mia', 'ada']) github.addUser(login);
  github.addRepository({
    owner: 'octo',
    name: 'app',
    files: { 'README.md': '# App\n' },
    collaborators: { mia: 'maintain', ada: 'write' },
  });
  const opened = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'change',
    title: 'Run what people send',
    files: { 'src/run.ts': 'export const run = (text: string) => eval(text);\n' },
  });
  number = opened.number;
  await github.reportCheck(REPO, opened.headSha, {
    name: 'test',
    status: 'completed',
    conclusion: 'success',
  });
});
afterAll(() => github.stop());

const tried = (subject: string, env: Record<string, string> = {}, ...options: string[]) =>
  countersign(['try', subject, ...options], { env: { GITHUB_API_URL: github.url, ...env } });

test('a public pull request is tried without a token: its review and the decision are shown, and nothing is written', async () => {
  sent.length = 0;
  const { code, stdout, stderr } = await tried(`${REPO}#${number}`);
  expect(code).toBe(0);
  expect(stderr).toContain('Without a token, GitHub shows only what is public');
  expect(stdout).toContain(`Dry run of pr-review for octo/app#${number} "Run what people send"`);
  expect(stdout).toContain('eval(');
  expect(stdout).toContain('Changes requested: 1 high');
  expect(sent.filter(({ method }) => method !== 'GET')).toEqual([]);
  // GitHub answers 60 requests an hour without a token.
  expect(sent.length).toBeLessThan(25);
});

test('a pull request can be named by its address, whatever page of it that is', {
  tags: 'slow',
}, async () => {
  const { code, stdout } = await tried(`${github.url}/${REPO}/pull/${number}/files#diff-1`);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`octo/app#${number}`)]);
});

test('a token is used if there is one', { tags: 'slow' }, async () => {
  const { code, stderr } = await tried(`${REPO}#${number}`, { GITHUB_TOKEN: github.readToken('octo') });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('Without a token')]);
});

test('a chain can be named', { tags: 'slow' }, async () => {
  const { code, stderr } = await tried(`${REPO}#${number}`, {}, '--chain', 'nothing-like-it');
  expect([code, stderr]).toEqual([1, expect.stringContaining('nothing-like-it')]);
});

test('a pull request that is not public or does not exist is said to need a token', async () => {
  const { code, stderr } = await tried(`${REPO}#4711`);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`GitHub shows no pull request octo/app#4711 without a token.`),
  ]);
});

test('a private repository reads as one that does not exist', async () => {
  github.setPrivate(REPO, true);
  const { code, stderr } = await tried(`${REPO}#${number}`);
  github.setPrivate(REPO, false);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`GitHub shows no pull request octo/app#${number} without a token.`),
  ]);
});

test('an address on another server names the setting that reads it', async () => {
  const { code, stderr } = await tried('https://github.acme.example/octo/app/pull/1');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('set GITHUB_API_URL to https://github.acme.example/api/v3'),
  ]);
});

test.each(['octo/app', 'octo/app#0', '12', 'https://github.com/octo/app/issues/1', 'x/../y#1', ''])(
  'what names no pull request is refused with an example: %j',
  async (subject) => {
    const { code, stderr } = await countersign(['try', subject]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('owner/name#12')]);
  },
);

test('a limit that is spent says that a token allows more', { tags: 'slow' }, async () => {
  for (let asked = 0; asked < 60; asked++) await fetch(`${github.url}/repos/${REPO}`);
  const { code, stderr } = await tried(`${REPO}#${number}`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('no more requests without a token')]);
});
