import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countersign } from '../entrypoints/cli/support.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';

const REPO = 'octo/app';
/** Assembled from parts, so that secret scanners do not report it. */
const SECRET = ['AKIA', 'Z7QX', 'M3PL', 'D5RT', 'W2KV'].join('');
const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
let github: GitHubStandIn;
let env: Record<string, string>;

beforeAll(async () => {
  github = await startGitHub();
  github.onRequest(({ method, path, body }) => {
    const isQuery = path === '/graphql' && !JSON.stringify(body).includes('mutation');
    if (method !== 'GET' && !isQuery) writes.push(`${method} ${path}`);
  });
  github.addOrganization('octo');
  for (const login of ['mia', 'ada', 'otto']) github.addUser(login);
  github.addRepository({
    owner: 'octo',
    name: 'app',
    files: { 'README.md': '# App\n' },
    collaborators: { mia: 'maintain', ada: 'write' },
  });
  env = { GITHUB_TOKEN: github.readToken('octo'), GITHUB_API_URL: github.url };
});
afterAll(async () => {
  await github.stop();
  rmSync(folder, { recursive: true });
});

let count = 0;
/** @returns the number of a new pull request, whose CI has passed if `ci` says so */
async function open(files: Record<string, string>, ci?: 'success' | 'failure'): Promise<number> {
  count += 1;
  const branch = `change-${count}`;
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch,
    title: `Change ${count}`,
    files,
  });
  if (ci) await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: ci });
  return number;
}

const writes: string[] = [];

const dryRun = (...args: string[]) =>
  countersign(['chain', 'run', ...args, '--dry-run'], { cwd: folder, env });

test('a dry run shows the check run and the question that a chain would write, and writes nothing', {
  tags: 'slow',
}, async () => {
  const number = await open({ 'src/greet.ts': "export const greeting = 'hello';\n" }, 'success');
  const { code, stdout, stderr } = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(code).toBe(0);
  expect(stdout).toContain(`Dry run of pr-review for octo/app#${number} "Change ${count}"`);
  expect(stdout).toContain('Nothing was written to GitHub.');
  expect(stdout).toContain('not merging yet: merge waits for a countersign');
  expect(stdout).toContain(`Check "countersign / pr-review" on`);
  expect(stdout).toContain(`Check "countersign: main" on`);
  expect(stdout).toContain(`Comment on #${number}\n  │ ### ✍️ Approve this merge?`);
  expect(stdout).not.toContain('<!--');
  expect(stdout).not.toContain('Merging');
  expect(stderr).toContain(`#${number} review: done: No findings in 1 file.`);
  expect(writes).toEqual([]);
});

test('a dry run in JSON has the steps, the reasons and the effects', { tags: 'slow' }, async () => {
  const number = await open({ 'src/config.ts': `export const accessKeyId = '${SECRET}';\n` }, 'success');
  const { code, stdout } = await dryRun('pr-review', '--pr', `${REPO}#${number}`, '--json');
  expect(code).toBe(0);
  const { pull_requests, ...about } = JSON.parse(stdout);
  expect(about).toEqual({ dry_run: true, repository: REPO, chain: 'pr-review' });
  expect(pull_requests).toMatchObject([
    {
      number,
      result: 'not_passed',
      steps: [
        { id: 'review', status: 'completed', outcome: { verdict: 'REQUEST_CHANGES' } },
        { id: 'ci', status: 'skipped' },
        { id: 'merge', status: 'skipped' },
      ],
      would_write: expect.arrayContaining([expect.objectContaining({ kind: 'comment', issue: number })]),
    },
  ]);
  expect(stdout).not.toContain(SECRET);
  expect(stdout).not.toContain(env.GITHUB_TOKEN);
});

const COMMENTS = (body: string) => `name: greeting
trigger: { event: pr.opened }
steps:
  - { action: gh-comment, with: { pr: "{{ trigger.pr_number }}", body: "${body}" } }
`;

test('a dry run plays a chain file that is not in the repository', async () => {
  writeFileSync(join(folder, 'greeting.yaml'), COMMENTS('Welcome, {{ trigger.author }}.'));
  const number = await open({ 'a.md': 'a\n' });
  const { code, stdout } = await dryRun('greeting.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain(`Comment on #${number}\n  │ Welcome, ada.`);
  expect(code).toBe(0);
});

test('a chain file replaces the chain of the repository that has its name', { tags: 'slow' }, async () => {
  await github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: {
      '.github/countersign.yml': 'chains: [pr-review]\nmerge: { method: rebase }\n',
      '.github/countersign/chains/other-name.yaml': COMMENTS('The old one.'),
    },
  });
  writeFileSync(join(folder, 'new.yaml'), COMMENTS('The new one.'));
  const number = await open({ 'b.md': 'b\n' });
  const old = await dryRun('greeting', '--pr', `${REPO}#${number}`);
  expect(old.stdout).toContain('The old one.');
  const { stdout } = await dryRun('new.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('The new one.');
  expect(stdout).not.toContain('The old one.');
});

test('a dry run says with its line what is wrong in a chain file', async () => {
  writeFileSync(join(folder, 'faulty.yaml'), 'name: faulty\ntrigger: { event: pr.opned }\nsteps: []\n');
  const number = await open({ 'c.md': 'c\n' });
  const { stdout } = await dryRun('faulty.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('.github/countersign/chains/faulty.yaml:2:');
  expect(stdout).toContain('"pr.opened"');
});

test('a dry run says why a chain would not run, and runs it with --actor', { tags: 'slow' }, async () => {
  const chain = COMMENTS('Fired for {{ trigger.input_place }}.').replace(
    'event: pr.opened',
    'event: pr.opened, filter: { base: release }',
  );
  writeFileSync(join(folder, 'fired.yaml'), chain);
  const number = await open({ 'd.md': 'd\n' });
  const asIs = await dryRun('fired.yaml', '--pr', `${REPO}#${number}`);
  expect(asIs.stdout).toContain('greeting is not for it');
  const fired = await dryRun(
    'fired.yaml',
    '--pr',
    `${REPO}#${number}`,
    '--actor',
    'mia',
    '--input',
    'place=staging',
  );
  expect(fired.stdout).toContain('  │ Fired for staging.');
  const without = await dryRun('fired.yaml', '--pr', `${REPO}#${number}`, '--actor', 'mia');
  expect(without).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(
      'Not fired: the chain "greeting" cannot run with these inputs: it needs place=…',
    ),
  });
});

test('a dry run plays a composite as if its parts had happened, where the pull request fits', {
  tags: 'slow',
}, async () => {
  const chain = (base: string) => `name: ship
trigger:
  sequence:
    - { event: pr.opened, filter: { base: ${base} } }
    - { event: pr.labeled, filter: { label: "ship-{it,this}" } }
    - { event: ci.changed, filter: { check: "build*" } }
  within: 1h
  key: commit
steps:
  - { action: gh-comment, with: { body: "Ships {{ trigger.check }} for {{ trigger.title }}." } }
`;
  writeFileSync(join(folder, 'ship.yaml'), chain('main'));
  const number = await open({ 'ship.md': 'd\n' });
  const { stdout } = await dryRun('ship.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain(
    'It is judged as if somebody had added the label "ship-it" and the check "buildx" had ended (success).',
  );
  expect(stdout).toContain(`  │ Ships buildx for Change ${count}.`);
  writeFileSync(join(folder, 'ship.yaml'), chain('release'));
  const other = await dryRun('ship.yaml', '--pr', `${REPO}#${number}`);
  expect(other.stdout).toContain(
    'it is no part of sequence (pr.opened, pr.labeled, ci.changed) within 1 h: the base branch is main, and the filter wants release',
  );
  expect(other.stdout).not.toContain('Ships');
  expect(writes).toEqual([]);
});

test('a dry run does not wait for CI that is still running', { tags: 'slow' }, async () => {
  const number = await open({ 'e.ts': 'export const e = 1;\n' });
  const { headSha } = github.pullRequest(REPO, number);
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  const { stdout } = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(stdout).toMatch(/^ci +waiting for CI/m);
});

test('a dry run plays a merged pull request as if it were open', { tags: 'slow' }, async () => {
  const number = await open({ 'f.ts': 'export const f = 1;\n' }, 'success');
  await github.mergePullRequest(REPO, number, 'mia');
  const { stdout } = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('It is merged, and is judged as if it were open');
  expect(stdout).toContain('Approve this merge?');
});

test('a dry run of a chain that waits for merges plays it for a merged pull request', {
  tags: 'slow',
}, async () => {
  writeFileSync(
    join(folder, 'thanks.yaml'),
    COMMENTS('Thank you.').replace('greeting', 'thanks').replace('pr.opened', 'pr.merged'),
  );
  const number = await open({ 'k.md': 'k\n' });
  const before = await dryRun('thanks.yaml', '--pr', `${REPO}#${number}`);
  expect(before.stdout).toContain('thanks waits for pr.merged');
  await github.mergePullRequest(REPO, number, 'mia');
  const { stdout } = await dryRun('thanks.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain(`Comment on #${number}\n  │ Thank you.`);
  expect(stdout).not.toContain('as if it were open');
});

test('a dry run without a pull request plays the schedule of a chain', { tags: 'slow' }, async () => {
  const chain = `name: nightly
trigger: { schedule: "30 2 * * *" }
steps:
  - { skill: ci }
`;
  writeFileSync(join(folder, 'nightly.yaml'), chain);
  const { code, stdout, stderr } = await dryRun('nightly.yaml', '--repo', REPO);
  expect(code).toBe(0);
  expect(stdout).toContain('Dry run of nightly for octo/app, without a pull request.');
  expect(stdout).toContain('Check "countersign / nightly" on');
  expect(stderr).toContain('ci: ');
  const opened = await dryRun('pr-review', '--repo', REPO);
  expect(opened.stdout).toContain('pull request');
  expect(opened.stdout).not.toContain('It would write');
});

test('a dry run against the last pull requests counts what would have become of them', {
  tags: 'slow',
}, async () => {
  await open({ 'f.ts': `export const f = '${SECRET}';\n` }, 'success');
  await open({ 'g.ts': 'export const g = 1;\n' }, 'failure');
  await open({ 'h.ts': 'export const h = 1;\n' }, 'success');
  const { code, stdout } = await dryRun('pr-review', '--against', 'last:3', '--repo', REPO);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^#${count} +Change ${count} +asked +not merging yet`, 'm'));
  expect(stdout).toContain(`#${count - 1}  `);
  expect(stdout).toMatch(/ not passed +not merged: ci: 1 of 1 check failed: test$/m);
  expect(stdout).toMatch(/^1 asked \(merge\), 2 not passed \(1 ci, 1 review\)$/m);
  expect(writes).toEqual([]);
});

test.each([
  ['--dry-run', ['chain', 'run', 'pr-review', '--pr', 'octo/app#1'], 2, "'--dry-run' not specified"],
  ['a pull request', ['chain', 'run', 'pr-review', '--dry-run'], 2, 'Name a pull request with --pr'],
  [
    'a repository',
    ['chain', 'run', 'pr-review', '--dry-run', '--against', 'last:2'],
    2,
    '--against needs a repository',
  ],
  [
    'a number of pull requests within bounds',
    ['chain', 'run', 'pr-review', '--dry-run', '--against', 'last:500', '--repo', 'octo/app'],
    2,
    'from 1 to 200',
  ],
  [
    'a file that exists',
    ['chain', 'run', './none.yaml', '--dry-run', '--pr', 'octo/app#1'],
    1,
    './none.yaml',
  ],
  [
    'a pull request that the token can read',
    ['chain', 'run', 'pr-review', '--dry-run', '--pr', 'octo/app#999'],
    1,
    'GitHub shows no pull request octo/app#999 for this token.',
  ],
  [
    'a repository that the token can read',
    ['chain', 'run', 'pr-review', '--dry-run', '--against', 'last:2', '--repo', 'octo/none'],
    1,
    'GitHub shows no repository octo/none for this token.',
  ],
])('a dry run needs %s', async (_, args, code, message) => {
  const ended = await countersign(args, { cwd: folder, env });
  expect(ended.stderr).toContain(message);
  expect(ended.code).toBe(code);
});

test('a dry run without a token, or with a wrong one, says so', async () => {
  const args = ['chain', 'run', 'pr-review', '--dry-run', '--pr', 'octo/app#1'];
  const none = await countersign(args, { env: { GITHUB_API_URL: github.url } });
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('set GITHUB_TOKEN') });
  const wrong = await countersign(args, { env: { GITHUB_API_URL: github.url, GITHUB_TOKEN: 'ghp_wrong' } });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('does not accept the token') });
});

test('a dry run that GitHub does not answer, or no longer, says why', async () => {
  const args = ['chain', 'run', 'pr-review', '--dry-run', '--pr', 'octo/app#1'];
  const nobody = await countersign(args, { env: { ...env, GITHUB_API_URL: 'http://127.0.0.1:1' } });
  expect(nobody).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^[^.]*[^.]\. For GitHub Enterprise Server, set GITHUB_API_URL to https:/m),
  });
  const reset = String(Math.floor(Date.now() / 1_000) + 1_800);
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
  github.fail(
    ({ path }) => path.includes('/octo/app'),
    { status: 403, headers, body: { message: 'API rate limit exceeded.' } },
    1,
  );
  const limited = await countersign(args, { env });
  expect(limited).toMatchObject({ code: 1, stderr: expect.stringContaining('has no requests left until ') });
});

test('a dry run of a chain that nobody has says which there are', { tags: 'slow' }, async () => {
  const places = [
    ['--pr', `${REPO}#1`],
    ['--repo', REPO],
    ['--against', 'last:5', '--repo', REPO],
  ];
  for (const place of places) {
    const { code, stdout, stderr } = await dryRun('pr-reviews', ...place);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('There is no chain "pr-reviews": did you mean "pr-review"?');
  }
});

test('a dry run takes the checks of an installed Countersign for no CI', { tags: 'slow' }, async () => {
  const number = await open({ 'i.ts': 'export const i = 1;\n' }, 'success');
  const { headSha } = github.pullRequest(REPO, number);
  for (const name of ['countersign / pr-review', 'countersign: main'])
    await github.reportCheck(REPO, headSha, { name, app: 'countersign', status: 'in_progress' });
  const { stdout } = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('Approve this merge?');
});

test('a dry run says that a role of somebody can only be read with push access', {
  tags: 'slow',
}, async () => {
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'otto',
    fork: 'otto/app',
    branch: 'from-outside',
    title: 'From outside',
    files: { 'j.ts': 'export const j = 1;\n' },
  });
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  const asked = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(asked.stdout).toContain('Approve this merge?');
  await github.review(REPO, number, 'mia', 'CHANGES_REQUESTED');
  const refused = await dryRun('pr-review', '--pr', `${REPO}#${number}`);
  expect(refused.stdout).toContain('it is not known whether a maintainer requests changes');
});

test('a dry run shows the messages that a chain would post to webhooks, whose names it cannot check', {
  tags: 'slow',
}, async () => {
  const number = await open({ 'src/d.ts': 'export const d = 1;\n' });
  const file = join(folder, 'tell.yaml');
  writeFileSync(
    file,
    'name: tell\ntrigger: { event: pr.opened }\nsteps: [{ action: notify, with: { to: team-chat, text: "New: {{ trigger.title }}" } }]\n',
  );
  const { stdout } = await dryRun(file, '--pr', `${REPO}#${number}`);
  expect(stdout).toMatch(/Message to the chat "team-chat"\n {2}│ New: Change \d+/);
});

test('a dry run shows a release, a status, an updated branch and a workflow that it does not start', {
  tags: 'slow',
}, async () => {
  const number = await open({ 'src/r.ts': 'export const r = 1;\n' });
  const file = join(folder, 'ship.yaml');
  writeFileSync(
    file,
    `name: ship
trigger: { event: pr.opened }
steps:
  - { action: gh-status, with: { context: team/docs, state: success, description: Fine } }
  - { action: gh-release, with: { tag: v1.0.0, body: New } }
  - { action: gh-update-branch }
  - { action: gh-dispatch, with: { workflow: deploy.yml, inputs: { pr: "{{ trigger.pr_number }}" } } }
`,
  );
  const { stdout } = await dryRun(file, '--pr', `${REPO}#${number}`);
  expect(stdout).toMatch(/Status "team\/docs" on [0-9a-f]{7}, success: Fine/);
  expect(stdout).toMatch(/Draft of a release v1\.0\.0 at [0-9a-f]{7}: v1\.0\.0\n {2}│ New/);
  expect(stdout).toContain(`Merge of main into the branch of #${number}`);
  expect(stdout).toContain(`Start of the workflow deploy.yml on main\n    pr: ${number}`);
  expect(stdout).toContain('waits for deploy.yml: it was not started');
});

test('a dry run shows what a step would wait for, and what the facts are now', { tags: 'slow' }, async () => {
  const number = await open({ 'src/e.ts': 'export const e = 1;\n' });
  const file = join(folder, 'hold.yaml');
  writeFileSync(
    file,
    `name: hold\ntrigger: { event: pr.opened }\nsteps: [{ action: wait, with: { until: "{{ 'ready' in pr.labels }}" } }]\n`,
  );
  const { stdout } = await dryRun(file, '--pr', `${REPO}#${number}`);
  expect(stdout).toContain("wait  waiting  until 'ready' in pr.labels (pr.labels is [])");
});

test('a dry run executes no command', async () => {
  const number = await open({ 'src/f.ts': 'export const f = 1;\n' });
  const file = join(folder, 'commands.yaml');
  const mark = join(folder, 'executed');
  writeFileSync(
    file,
    `name: commands\ntrigger: { event: pr.opened }\nsteps: [{ action: shell, with: { run: "touch ${mark}" } }]\n`,
  );
  const { stdout } = await dryRun(file, '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('shell');
  expect(existsSync(mark)).toBe(false);
});

const CALLS = (name: string, called: string, more = '') => `name: ${name}
trigger: { event: pr.opened }
steps:
  - { id: sub, action: chain, with: { chain: ${called} } }
${more}`;
const SAYS = (name: string, body: string) => COMMENTS(body).replace('greeting', name);

test('a dry run plays the chains that steps run, of the file, the repository and the organisation', {
  tags: 'slow',
}, async () => {
  github.addRepository({
    owner: 'octo',
    name: '.github',
    files: { 'countersign/chains/of-all.yaml': SAYS('of-all', 'From the organisation.') },
  });
  const chains = '.github/countersign/chains';
  await github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: {
      '.github/countersign.yml': 'chains: [of-repository, of-all, beside]\n',
      [`${chains}/of-repository.yaml`]: CALLS('of-repository', 'of-all'),
      [`${chains}/beside.yaml`]: SAYS('beside', 'The old one.'),
    },
  });
  const own = mkdtempSync(join(folder, 'own-'));
  const second = '  - { id: second, action: chain, with: { chain: of-repository } }\n';
  writeFileSync(join(own, 'outer.yaml'), CALLS('outer', 'beside', second));
  writeFileSync(join(own, 'beside.yml'), SAYS('beside', 'The new one.'));
  const number = await open({ 'l.md': 'l\n' });
  const { code, stdout, stderr } = await dryRun(join(own, 'outer.yaml'), '--pr', `${REPO}#${number}`);
  expect(code).toBe(0);
  const rows = stdout.match(/^STEP.*?\n\n/ms)?.[0];
  expect(rows?.split('\n').map((line) => line.replace(/(?<=\S) {2}.*/, ''))).toEqual([
    'STEP',
    'sub',
    '  gh-comment',
    'second',
    '  sub',
    '    gh-comment',
    '',
    '',
  ]);
  expect(stdout).toMatch(/The step sub runs beside:.*│ The new one\..*The step second runs of-repository:/s);
  expect(stdout).toMatch(/The step second > sub runs of-all:.*│ From the organisation\./s);
  // Though all of them wait for pull requests.
  expect(stdout, 'none begins by itself').toContain('Check "countersign / outer" on');
  expect(stdout).not.toContain('The old one.');
  expect(stdout).toContain('Check "countersign / outer / sub" on');
  expect(stderr).toContain(`#${number} sub > gh-comment: done`);
  expect(stderr).toContain('With beside from the files beside it.');
  expect(writes).toEqual([]);
});

test('a dry run in JSON has the run of a step at that step, and a question there counts as asked', {
  tags: 'slow',
}, async () => {
  const own = mkdtempSync(join(folder, 'own-'));
  writeFileSync(join(own, 'outer.yaml'), CALLS('outer', 'merging'));
  const merge = 'steps: [{ id: merge, action: gh-merge, requires_approval: true }]\n';
  writeFileSync(join(own, 'merging.yaml'), `name: merging\ntrigger: { event: manual.fired }\n${merge}`);
  await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { '.github/countersign.yml': '' } });
  const number = await open({ 'm.md': 'm\n' }, 'success');
  const { stdout } = await dryRun(join(own, 'outer.yaml'), '--pr', `${REPO}#${number}`, '--json');
  const [played] = JSON.parse(stdout).pull_requests;
  expect(played).toMatchObject({
    result: 'asked',
    because: expect.stringContaining('merge waits for a countersign'),
    steps: [
      {
        id: 'sub',
        status: 'waiting_until',
        runs: {
          chain: 'merging',
          result: 'asked',
          steps: [{ id: 'merge', status: 'waiting_approval' }],
          would_write: expect.arrayContaining([expect.objectContaining({ kind: 'comment', issue: number })]),
        },
      },
    ],
  });
  expect(writes).toEqual([]);
});

test('a dry run says that a step cannot run a chain that the settings leave out, as the app would', {
  tags: 'slow',
}, async () => {
  await github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: {
      '.github/countersign.yml': 'chains: [pr-review]\n',
      '.github/countersign/chains/left-out.yaml': SAYS('left-out', 'Hello.'),
    },
  });
  writeFileSync(join(folder, 'calling.yaml'), CALLS('calling', 'left-out'));
  const number = await open({ 'n.md': 'n\n' });
  const { stdout } = await dryRun('calling.yaml', '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('the chain "left-out" does not run here: name it under "chains"');
  expect(stdout).not.toContain('Hello.');
});

test('a dry run follows chains that run one another up to the limit', { tags: 'slow' }, async () => {
  const own = mkdtempSync(join(folder, 'own-'));
  for (let nth = 0; nth < 7; nth++)
    writeFileSync(join(own, `level-${nth}.yaml`), CALLS(`level-${nth}`, `level-${nth + 1}`));
  await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { '.github/countersign.yml': '' } });
  const number = await open({ 'o.md': 'o\n' });
  const { stdout } = await dryRun(join(own, 'level-0.yaml'), '--pr', `${REPO}#${number}`);
  expect(stdout).toContain('The step sub > sub > sub > sub > sub runs level-5:');
  expect(stdout).not.toContain('runs level-6:');
  expect(stdout).toContain('level-6 does not begin: 5 runs have started one another already');
});
