// @module-tag slow
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { runCli } from '../../src/entrypoints/cli/command-line.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import { type HarnessOptions, REPO } from '../support/harness.ts';
import { only, type Scene, scenes } from './support-scene.ts';

const start = scenes();
const DAY = 86_400_000;
const RETENTION = { bodies: 14 * DAY, runs: 90 * DAY, artifacts: 60 * DAY, traces: 30 * DAY };
const REVIEW = `
name: look
trigger: { event: pr.opened }
steps:
  - { id: review, skill: pr-review }
`;

function scene(chains: Record<string, string>, options: HarnessOptions = {}): Promise<Scene> {
  return start(only(chains), { retention: RETENTION, ...options });
}

async function cli(scene: Scene, ...args: string[]): Promise<string> {
  let out = '';
  const { databaseUrl, artifactsUrl } = scene.config;
  await runCli(args, {
    cwd: '/',
    clock: scene.clock,
    tools: createTools({ DATABASE_URL: databaseUrl, ARTIFACTS_URL: artifactsUrl }),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      out += text;
    },
  });
  return out;
}

/** Lets days pass without polls, and has the app carry out a pass. */
async function daysLater(scene: Scene, days: number): Promise<void> {
  await scene.down();
  scene.clock.moveTo(new Date(scene.clock.now().getTime() + days * DAY));
  await scene.up();
  await scene.advance(20 * 60_000);
}

function filesOf({ config }: Scene): string[] {
  const folder = fileURLToPath(new URL(config.artifactsUrl, 'file:///'));
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.countersign'))
    .map(({ name }) => name);
}

async function bodies({ app }: Scene): Promise<number> {
  const all = await app.storage.read.deliveries.list({ limit: 1_000 });
  const whole = await Promise.all(all.map(({ id }) => app.storage.read.deliveries.get(id)));
  return whole.filter((delivery) => delivery !== undefined).length;
}

test('a finished run older than the retention is deleted with its files and bodies, and its audit lines are still exported', async () => {
  const here = await scene({ look: REVIEW });
  const { number } = await here.open();
  await here.github.mergePullRequest(REPO, number, 'max');
  await here.settle();
  await here.advance(60_000);
  expect(filesOf(here)).not.toEqual([]);
  const audited = await cli(here, 'audit', 'export');
  expect(audited).toContain('"kind":"run.ended"');

  await daysLater(here, 91);

  expect(await cli(here, 'run', 'list')).toBe('No runs yet.\n');
  expect(filesOf(here)).toEqual([]);
  expect(await cli(here, 'audit', 'export')).toMatch(
    new RegExp(`^${audited.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
  );
  expect(await cli(here, 'audit', 'export')).toContain('"kind":"retention.pass"');
});

test('bodies are deleted before the runs that they started, and a delivery without a body cannot be replayed', async () => {
  const here = await scene({ note: NOTE });
  await here.open();
  const [first] = await here.app.storage.read.deliveries.list({ limit: 1 });
  expect(await bodies(here)).toBeGreaterThan(0);
  await daysLater(here, 15);
  expect(await here.runs('note')).toHaveLength(1);
  expect(await here.app.storage.read.deliveries.get(first?.id ?? 0)).toBeUndefined();
  expect(await cli(here, 'delivery', 'replay', first?.guid ?? '')).toContain('older than RETENTION');
});

test('a run with an open approval survives at any age, and is merged when it is countersigned', async () => {
  const here = await scene({ ship: MERGE });
  const { number } = await here.open();
  await daysLater(here, 400);
  const question = here.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await here.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await here.advance(20 * 60_000);
  expect(here.github.merges).toHaveLength(1);
});

test('a rejection still applies to its head after the retention, when the pull request is reopened', async () => {
  const here = await scene({ ship: MERGE });
  const { number } = await here.open();
  const question = () =>
    here.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
  await here.github.react(REPO, question()[0]?.id ?? 0, 'mia', '-1');
  await here.advance(6_000);
  await here.github.closePullRequest(REPO, number, 'ada');
  await here.settle();
  await daysLater(here, 200);
  await here.github.reopenPullRequest(REPO, number, 'ada');
  await here.advance(60_000);
  expect(question()).toHaveLength(1);
});

test('a chain that a merge fired is not fired again when reconciliation finds the merge after its run was deleted', async () => {
  const here = await scene({ after: AFTER });
  const { number } = await here.open();
  await here.github.mergePullRequest(REPO, number, 'max');
  await here.settle();
  expect(await here.runs('after')).toHaveLength(1);
  await daysLater(here, 100);
  expect(await here.runs('after')).toEqual([]);
  await here.github.comment(REPO, number, 'ada', 'Thank you!');
  await here.advance(2 * 3_600_000);
  expect(await here.runs('after')).toEqual([]);
});

test('blobs whose deletion failed have no rows, and are deleted when the store answers again', async () => {
  let isDown = false;
  const failing = (real: Blobs): Blobs => ({
    ...bound(real),
    async delete(path) {
      if (isDown) throw new Error('the store does not answer');
      return real.delete(path);
    },
  });
  const here = await scene({ look: REVIEW }, { blobs: failing });
  const { number } = await here.open();
  await here.github.mergePullRequest(REPO, number, 'max');
  await here.advance(60_000);
  const files = filesOf(here);
  expect(files).not.toEqual([]);
  isDown = true;
  await daysLater(here, 91);
  expect(filesOf(here)).toEqual(files);
  expect(await cli(here, 'artifact', 'check')).not.toContain('a row without a blob');

  isDown = false;
  await here.restart();
  await here.advance(3_600_000);
  expect(filesOf(here)).toEqual([]);
});

function bound(real: Blobs): Blobs {
  return {
    put: (path, data) => real.put(path, data),
    get: (path) => real.get(path),
    open: (path) => real.open(path),
    has: (path) => real.has(path),
    stat: (path) => real.stat(path),
    list: () => real.list(),
    delete: (path) => real.delete(path),
  };
}

const MERGE = `
name: ship
trigger: { event: pr.opened }
steps:
  - { id: merge, action: gh-merge, requires_approval: true }
`;

const AFTER = `
name: after
trigger: { event: pr.merged }
steps:
  - { action: gh-comment, with: { pr: "{{ trigger.pr_number }}", body: "Deployed." } }
`;

const NOTE = `
name: note
trigger: { event: pr.opened }
steps:
  - { action: gh-comment, with: { pr: "{{ trigger.pr_number }}", body: "Hello." } }
`;
