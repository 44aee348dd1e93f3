import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { answered } from '../entrypoints/cli/support.ts';
import { REPO } from '../support/harness.ts';
import { temporaryFolders } from '../support/temp.ts';
import { flowChain } from './support-chains.ts';
import { CHAINS, type Scene, scenes } from './support-scene.ts';

const start = scenes();
const newFolder = temporaryFolders();
const HOUR = 3_600_000;

const firings = (scene: Scene) => scene.app.storage.read.firings.list({ chain: 'flow', limit: 50 });

/** The app reads the schedules of a repository within its first seconds. */
const known = (scene: Scene) => scene.advance(5_000);

test('a schedule fires at its times, and its run shows on the newest commit of the default branch', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: "30 10 * * *", timezone: Europe/Berlin }'));
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'a.txt': 'a\n' },
  });
  await known(scene);
  await scene.advance(0.4 * HOUR);
  expect(await scene.runs('flow')).toEqual([]);
  await scene.advance(0.2 * HOUR);
  expect(await scene.runs('flow')).toMatchObject([
    {
      headSha: sha,
      pullRequest: null,
      facts: { trigger: { kind: 'schedule', due_at: '2026-03-02T09:30:00.000Z', late: false } },
    },
  ]);
  expect(scene.check(sha, 'flow')).toBeDefined();
  await scene.advance(24 * HOUR);
  expect((await scene.runs('flow')).map(({ facts }) => facts.trigger.due_at)).toEqual([
    '2026-03-03T09:30:00.000Z',
    '2026-03-02T09:30:00.000Z',
  ]);
});

test('a push that adds a schedule makes it fire, and one that removes it ends it', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci', '{ event: manual.fired }'));
  const push = (trigger: string) =>
    scene.github.push({
      repo: REPO,
      branch: 'main',
      author: 'mia',
      files: { [`${CHAINS}/flow.yaml`]: `name: flow\ntrigger: ${trigger}\nsteps: [{ skill: ci }]\n` },
    });
  await push('[{ event: manual.fired }, { schedule: every 1h }]');
  await scene.advance(1.1 * HOUR);
  expect(await scene.runs('flow')).toHaveLength(1);
  await push('{ event: manual.fired }');
  await scene.advance(3 * HOUR);
  expect(await scene.runs('flow')).toHaveLength(1);
});

/** A commit on the default branch whose CI does not end, so that a run of `ci` does not end either. */
async function pendingHead(scene: Scene): Promise<string> {
  const files = { 'a.txt': 'a\n' };
  const sha = await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.github.setStatus(REPO, sha, { context: 'test', state: 'pending' });
  return sha;
}

test('a firing while the earlier run is under way is skipped, with the reason', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h }'));
  await pendingHead(scene);
  await scene.advance(2.1 * HOUR);
  const [run] = await scene.runs('flow');
  expect(await firings(scene)).toMatchObject([
    { status: 'skipped', reason: 'overlap', summary: `the run ${run?.id} of flow is still under way` },
    { status: 'fired', reason: null, runId: run?.id },
  ]);
});

test('a firing whose chain file has errors by then is skipped, with the first error', {
  tags: 'slow',
}, async () => {
  const scene = await start({
    [`${CHAINS}/nightly.yaml`]: 'name: flow\ntrigger: { schedule: every 1h }\nsteps: [{ skill: ci }]\n',
  });
  await known(scene);
  const files = {
    [`${CHAINS}/nightly.yaml`]: 'name: flow\ntrigger: { schedule: every 1h }\nsteps: [{ skill: cii }]\n',
  };
  await scene.github.push({ repo: REPO, branch: 'main', author: 'mia', files });
  await scene.advance(1.1 * HOUR);
  expect(await scene.runs('flow')).toEqual([]);
  const [firing] = await firings(scene);
  expect(firing).toMatchObject({ status: 'skipped', reason: 'broken' });
  expect(firing?.summary).toContain(
    `the chain "flow" cannot run: ${CHAINS}/nightly.yaml:3:18: there is no skill "cii"`,
  );
});

test('with overlap: queue, at most ten firings wait', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1m, overlap: queue }'));
  await pendingHead(scene);
  await scene.advance(13 * 60_000);
  const [newest, ...others] = await firings(scene);
  expect(newest).toMatchObject({
    status: 'skipped',
    reason: 'queue_full',
    summary: '10 firings of flow wait already',
  });
  expect(others.filter(({ status }) => status === 'queued')).toHaveLength(10);
});

test('with overlap: queue, a firing waits for the end of the earlier run', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h, overlap: queue }'));
  const sha = await pendingHead(scene);
  await scene.advance(2.1 * HOUR);
  expect((await firings(scene)).map(({ status }) => status)).toEqual(['queued', 'fired']);
  await scene.github.setStatus(REPO, sha, { context: 'test', state: 'success' });
  await scene.advance(60_000);
  expect((await firings(scene)).map(({ status }) => status)).toEqual(['fired', 'fired']);
  expect((await scene.runs('flow')).map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test('with overlap: cancel_running, a firing ends the earlier run', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h, overlap: cancel_running }'));
  await pendingHead(scene);
  await scene.advance(2.1 * HOUR);
  const [newer, older] = await scene.runs('flow');
  expect(newer?.status).toBe('waiting_ci');
  expect(older).toMatchObject({
    status: 'cancelled',
    reason: { summary: 'replaced by the next scheduled run of flow' },
  });
});

test('firings while the app was down happen as catchup says', async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h, catchup: last }'));
  await known(scene);
  await scene.sleep(3.5 * HOUR);
  await scene.advance(5_000);
  expect((await scene.runs('flow')).map(({ facts }) => facts.trigger.due_at)).toEqual([
    '2026-03-02T12:00:00.000Z',
  ]);
  expect((await firings(scene)).map(({ status, reason }) => [status, reason])).toEqual([
    ['fired', null],
    ['skipped', 'replaced'],
    ['skipped', 'replaced'],
  ]);
});

test('a schedule that the operator defines is known at once', async () => {
  const scene = await start();
  await known(scene);
  const cwd = newFolder();
  const text = 'name: stored\ntrigger: { schedule: every 10m }\nsteps: [{ skill: ci }]\n';
  writeFileSync(join(cwd, 'stored.yaml'), text);
  const tools = createTools({ DATABASE_URL: scene.config.databaseUrl }, cwd);
  const line = ['chain', 'define', 'stored.yaml', '--repo', REPO];
  const { code, err } = await answered(line, { cwd, clock: scene.clock, tools });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  await scene.advance(5_000);
  expect(await scene.app.storage.read.schedules.upcoming(9)).toMatchObject([
    { chain: 'stored', trigger: 'every 10m' },
  ]);
});

test('with overlap: allow, a firing begins a run beside the earlier one', { tags: 'slow' }, async () => {
  const scene = await start(flowChain('skill: ci', '{ schedule: every 1h, overlap: allow }'));
  await pendingHead(scene);
  await scene.advance(2.1 * HOUR);
  expect((await scene.runs('flow')).map(({ status }) => status)).toEqual(['waiting_ci', 'waiting_ci']);
});
