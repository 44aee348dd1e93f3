// @module-tag slow
import { expect, onTestFinished, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { startStubModel } from '../support/model/stub.ts';
import { approvalOf, countersign, headline, statusOf } from './support.ts';
import { type Scene, SETTINGS, scenes } from './support-scene.ts';
import { modelAt } from './support-skills.ts';

/** The shipped chains beside `pr-review`, each from what happens on GitHub to what people find there. The files are those shipped. */
const start = scenes();
const DAY = 86_400_000;

const shipped = (name: string, settings = '') => ({ [SETTINGS]: `chains: [${name}]\n${settings}` });

/** The first firing after the app has slept, which is at 2:30. */
async function nextNight(scene: Scene): Promise<void> {
  // The app reads the schedules of a repository within its first seconds.
  await scene.advance(5_000);
  const night = new Date(scene.clock.now());
  night.setUTCHours(26, 30, 30);
  await scene.sleep(night.getTime() - scene.clock.now().getTime());
  await scene.advance(120_000);
}

test('nightly-health opens an issue for stale pull requests, and closes it', async () => {
  const scene = await start(shipped('nightly-health'));
  const { github } = scene;
  const hostile = await scene.open({ title: 'Ask @octo/everybody' });
  const other = await scene.open({ title: 'Use the new parser', branch: 'parser', draft: true });
  const held = await scene.open({ title: 'Held', branch: 'held' });
  await github.addLabel(REPO, held.number, 'will', 'on-hold');
  await scene.sleep(14 * DAY);
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'Pull requests without activity', state: 'open' }]);
  const body = () => github.issues(REPO)[0]?.body ?? '';
  expect(body()).toContain('2 open pull requests had no activity for 14 days\n');
  expect(body()).toContain(
    `- ${hostile.number}: Ask @&#8203;octo/everybody, by ada, no activity since 2026-03-02\n`,
  );
  expect(body()).toContain(
    `- ${other.number}: Use the new parser, by ada, a draft, no activity since 2026-03-02\n`,
  );
  expect(body()).not.toContain('Held');
  await scene.say(other.number, 'will', 'I am on it.');
  await nextNight(scene);
  expect(body()).not.toContain('parser');
  await scene.say(hostile.number, 'will', 'I am on this one, too.');
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ state: 'closed', reason: 'completed' }]);
});

test('nightly-health keeps an issue open while CI of the default branch fails', async () => {
  const scene = await start(shipped('nightly-health'));
  const { github } = scene;
  const failing = await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { 'a.txt': 'a\n' } });
  await github.setStatus(REPO, failing, { context: 'test', state: 'failure' });
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'CI of main fails', state: 'open' }]);
  await nextNight(scene);
  expect(github.issues(REPO)).toHaveLength(1);
  const passing = await github.push({ repo: REPO, branch: 'main', author: 'mia', files: { 'a.txt': 'b\n' } });
  await github.setStatus(REPO, passing, { context: 'test', state: 'success' });
  await nextNight(scene);
  expect(github.issues(REPO)).toMatchObject([{ title: 'CI of main fails', state: 'closed' }]);
});

/** A pull request whose CI has passed, once its chain has nothing more to do. */
async function green(scene: Scene, more: Parameters<Scene['open']>[0]): Promise<number> {
  const { number, headSha } = await scene.open(more);
  await scene.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
  await scene.advance(60_000);
  return number;
}

test('dependabot asks one person for a small version, and merges', async () => {
  const scene = await start(shipped('dependabot'));
  scene.github.addUser('dependabot[bot]', { type: 'Bot' });
  const number = await green(scene, {
    author: 'dependabot[bot]',
    title: 'Bump lodash from 4.17.20 to 4.17.21',
  });
  await countersign(scene, number, 'mia');
  expect(scene.github.merges).toMatchObject([{ number }]);
  expect(scene.github.labels(REPO, number)).toEqual([]);
});

test('dependabot labels a major version, and merges it once two people agree', async () => {
  const scene = await start(shipped('dependabot'));
  scene.github.addUser('dependabot[bot]', { type: 'Bot' });
  const number = await green(scene, {
    author: 'dependabot[bot]',
    title: 'Bump express from 4.21.2 to 5.0.1',
  });
  expect(scene.github.labels(REPO, number)).toEqual(['major-update']);
  expect(approvalOf(scene, number).body).toContain('Approve this major version?');
  await countersign(scene, number, 'mia');
  expect(scene.github.merges).toEqual([]);
  await countersign(scene, number, 'max');
  expect(scene.github.merges).toMatchObject([{ number }]);
});

test('migrations merges a migration once two members of the team countersign it', async () => {
  const scene = await start(shipped('migrations', 'countersign: { permission: write }\n'));
  scene.github.addTeam('octo', 'dbas', ['max', 'will']);
  const number = await green(scene, {
    files: { 'db/migrations/2.sql': 'CREATE TABLE a (id int);\n-- migrate:down\nDROP TABLE a;\n' },
  });
  expect(approvalOf(scene, number).body).toContain('counts only from a member of `octo/dbas`');
  for (const login of ['mia', 'max']) {
    await countersign(scene, number, login);
    expect(scene.github.merges).toEqual([]);
  }
  await countersign(scene, number, 'will');
  expect(scene.github.merges).toMatchObject([{ number }]);
});

test('migrations refuses a migration that drops a table, and says why', async () => {
  const scene = await start(shipped('migrations'));
  const number = await green(scene, { files: { 'db/migrations/2.sql': 'DROP TABLE customers;\n' } });
  expect(scene.github.comments(REPO, number).map(headline)).toEqual(['🔧 Changes requested: 1 high']);
  expect(statusOf(scene, number).body).toMatch(/Must be fixed\n\n.*db\/migrations\/2\.sql:1/);
});

test('backport opens a pull request into the branch that a label names', async () => {
  const scene = await start(shipped('backport'));
  const { github } = scene;
  await github.push({ repo: REPO, branch: 'release-1.x', author: 'mia', files: { VERSION: '1\n' } });
  const { number } = await scene.open();
  await github.addLabel(REPO, number, 'will', 'backport release-1.x');
  await github.mergePullRequest(REPO, number, 'mia');
  await scene.advance(10_000);
  expect(github.pullRequests(REPO).slice(1)).toMatchObject([
    { title: '[release-1.x] Change something', author: github.app.botLogin, baseRef: 'release-1.x' },
  ]);
});

test('release-notes drafts a release with the notes of the model', async () => {
  const stub = await startStubModel();
  onTestFinished(() => stub.stop());
  const entries = [
    { kind: 'added', text: 'The app greets @octo/everybody.' },
    { kind: 'fixed', text: 'Prices are rounded.' },
  ];
  const answer = {
    summary: 'Two entries.',
    passed: true,
    data: { breaking: false, entries },
    file: '# Notes\n',
  };
  stub.answers({ text: JSON.stringify(answer) });
  const scene = await start(shipped('release-notes'), { model: modelAt(stub) });
  const { number } = await scene.open({ title: 'Release v1.2.0' });
  const target = await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.advance(30_000);
  expect(scene.github.releases(REPO)).toMatchObject([
    {
      tag: 'v1.2.0',
      target,
      draft: true,
      body: expect.stringContaining('- The app greets @&#8203;octo/everybody.\n- Prices are rounded.'),
    },
  ]);
});
