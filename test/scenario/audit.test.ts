// @module-tag slow
import { expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { runCli } from '../../src/entrypoints/cli/command-line.ts';
import { REPO } from '../support/harness.ts';
import { openWaitingForCi } from './support-commands.ts';
import { CHAINS, CI_AND_MERGE, only, type Scene, scenes } from './support-scene.ts';

const start = scenes();
const SHIP = only({ ship: CI_AND_MERGE });
const A_RECHECK = 6_000;

/** The output of `countersign audit export`. */
async function exported(scene: Scene, ...options: string[]): Promise<Record<string, unknown>[]> {
  let out = '';
  const code = await runCli(['audit', 'export', ...options], {
    cwd: '/',
    clock: scene.clock,
    tools: createTools({ DATABASE_URL: scene.config.databaseUrl }),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      out += text;
    },
  });
  expect(code).toBe(0);
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const kinds = (lines: readonly Record<string, unknown>[]) => lines.map(({ kind }) => kind);

/** A pull request with green CI whose approval comment mia answers. */
async function answered(scene: Scene, content: 'rocket' | '-1') {
  const { github } = scene;
  const opened = await scene.open();
  await github.reportCheck(REPO, opened.headSha, {
    name: 'test',
    status: 'completed',
    conclusion: 'success',
  });
  await scene.advance(A_RECHECK);
  const question = github
    .comments(REPO, opened.number)
    .find(({ body }) => body.includes('countersign:question'));
  await github.react(REPO, question?.id ?? 0, 'mia', content);
  await scene.advance(A_RECHECK);
  return opened;
}

test('a countersigned merge is exported with its people, method, head, base and governing commit', async () => {
  const scene = await start(SHIP);
  const { number, headSha } = await answered(scene, 'rocket');
  const lines = await exported(scene);
  expect(kinds(lines)).toEqual([
    'configuration.changed',
    'run.begun',
    'gate.opened',
    'merge.made',
    'question.countersigned',
    'run.ended',
  ]);
  const about = {
    repository: { id: expect.any(Number), name: REPO },
    pull_request: number,
    head_sha: headSha,
    base_ref: 'main',
    configuration_sha: lines[1]?.configuration_sha,
  };
  expect(lines[3]).toMatchObject({
    ...about,
    by: { kind: 'app' },
    people: ['mia'],
    method: 'squash',
    merge_sha: scene.github.merges[0]?.sha,
  });
  expect(lines[4]).toMatchObject({ ...about, people: ['mia'], step: 'merge', merges: true });
  expect(lines[5]).toMatchObject({ ...about, status: 'completed', reason: 'run.completed' });
});

test('a rejection is exported with the person and the head', async () => {
  const scene = await start(SHIP);
  const { headSha } = await answered(scene, '-1');
  const lines = await exported(scene);
  expect(lines.find(({ kind }) => kind === 'question.rejected')).toMatchObject({
    head_sha: headSha,
    people: ['mia'],
    merges: true,
  });
});

test('commands that change something are exported with their authors, and refused ones are not', async () => {
  const { scene, number } = await openWaitingForCi(start);
  await scene.say(number, 'otto', '/countersign cancel');
  await scene.say(number, 'mia', '/countersign status');
  await scene.say(number, 'mia', '/countersign pause');
  await scene.say(number, 'mia', '/countersign fire deploy environment=staging');
  const commands = (await exported(scene)).filter(({ kind }) => kind === 'command.carried_out');
  expect(commands).toMatchObject([
    { verb: 'pause', by: { kind: 'person', login: 'mia' } },
    { verb: 'fire', chain: 'deploy', inputs: { environment: 'staging' } },
  ]);
});

test('a merge that the app did not make is exported once, even if no run was under way', async () => {
  const scene = await start(only({ note: NOTE }));
  const { number, headSha } = await scene.open();
  await scene.github.mergePullRequest(REPO, number, 'max');
  await scene.settle();
  await scene.advance(3_600_000);
  const merges = (await exported(scene)).filter(({ kind }) => String(kind).startsWith('merge.'));
  expect(merges).toMatchObject([{ kind: 'merge.made_elsewhere', pull_request: number, head_sha: headSha }]);
});

test('a push that changes a chain is exported with its author, and the next run under it as a change', async () => {
  const scene = await start(SHIP);
  await scene.open();
  const pushed = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'max',
    files: { [`${CHAINS}/ship.yaml`]: CI_AND_MERGE.replace('skill: ci', 'skill: ci\n    timeout: 1h') },
  });
  await scene.settle();
  await scene.open({ branch: 'other', files: { 'docs/other.txt': 'Another.\n' } });
  const lines = await exported(scene);
  expect(lines.filter(({ kind }) => String(kind).startsWith('configuration.'))).toMatchObject([
    { kind: 'configuration.changed' },
    { kind: 'configuration.pushed', by: { login: 'max' }, base_ref: 'main', paths: [`${CHAINS}/ship.yaml`] },
    { kind: 'configuration.changed', configuration_sha: pushed },
  ]);
});

test('an export omits other repositories and everything before the given time', async () => {
  const scene = await start(SHIP);
  await scene.open();
  await scene.sleep(2 * 3_600_000);
  expect(await exported(scene, '--since', '1h')).toEqual([]);
  expect(await exported(scene, '--repo', 'octo/other')).toEqual([]);
  expect(kinds(await exported(scene, '--since', '1d', '--repo', REPO))).toEqual([
    'configuration.changed',
    'run.begun',
  ]);
});

const NOTE = `
name: note
trigger: { event: pr.opened }
steps:
  - { action: gh-comment, with: { body: "Hello." } }
`;
