// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import BetterSqlite3 from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { CLEAN, PEOPLE, REPO, seed } from '../../demo/world.ts';
import { databaseIn } from '../crash/app-process.ts';
import { notTaken } from '../crash/inbox.ts';
import { appEnvironment, freePort } from '../support/app-environment.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { temporaryFolders } from '../support/temp.ts';
import { until } from '../support/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = {
  'probot run': ['node_modules/probot/bin/probot.js', 'run', './src/probot.ts'],
  'npm start': ['src/main.ts'],
  'a Probot server that hosts another app': ['test/probot/server-process.ts'],
} as const;
type Program = keyof typeof PROGRAMS;

const newFolder = temporaryFolders();

async function startGitHubForTest(): Promise<GitHubStandIn> {
  const github = await startGitHub();
  onTestFinished(() => github.stop());
  seed(github);
  return github;
}

interface Started {
  url: string;
  child: ChildProcess;
  output: string[];
}

async function start(
  github: GitHubStandIn,
  program: Program,
  folder = newFolder(),
  environment: Record<string, string> = {},
): Promise<Started> {
  const port = await freePort();
  const child = spawn(process.execPath, PROGRAMS[program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...appEnvironment(github, {
        databaseUrl: `sqlite:${join(folder, 'countersign.db')}`,
        artifactsUrl: `file:${join(folder, 'artifacts')}`,
        port,
      }),
      ...(program === 'npm start'
        ? {}
        : { GHE_HOST: new URL(github.url).host, GHE_PROTOCOL: 'http', LOG_FORMAT: 'json' }),
      ...environment,
    },
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => output.push(line));
  }
  const gone = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  return { url: `http://127.0.0.1:${port}`, child, output };
}

async function listens({ url, child, output }: Started): Promise<void> {
  await expect
    .poll(async () => {
      if (child.exitCode !== null) throw new Error(`it ended:\n${output.join('\n')}`);
      return (await fetch(`${url}/readyz`).catch(() => undefined))?.status;
    })
    .toBe(200);
}

/** From opened to merged, with the shipped chain. */
async function mergeOne(github: GitHubStandIn): Promise<void> {
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'discounts',
    title: 'Give discounts',
    files: CLEAN,
  });
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  const asked = await until('the approval comment', () =>
    github.comments(REPO, number).find(({ body }) => body.includes('countersign:question')),
  );
  await github.react(REPO, asked.id, PEOPLE.maintainer, 'rocket');
  await expect.poll(() => github.pullRequest(REPO, number).merged).toBe(true);
}

test.each(Object.keys(PROGRAMS) as Program[])(
  '%s takes a pull request from opened to merged',
  async (program) => {
    const github = await startGitHubForTest();
    const started = await start(github, program);
    await listens(started);
    github.setWebhookUrl(`${started.url}/api/github/webhooks`);
    await mergeOne(github);
    expect(github.merges).toHaveLength(1);
  },
);

test('a Probot server serves its other apps, and Countersign uses the server’s own fetch', async () => {
  const github = await startGitHubForTest();
  const { started } = await hosted(github);
  await github.openPullRequest({
    repo: REPO,
    author: PEOPLE.author,
    branch: 'discounts',
    title: 'Give discounts',
    files: CLEAN,
  });
  await github.settle();
  const other = async () =>
    (await (await fetch(`${started.url}/other`)).json()) as { seen: string[]; requests: number };
  expect((await other()).seen).toEqual(['Give discounts']);
  await expect.poll(async () => (await other()).requests).toBeGreaterThan(3);
  expect((await fetch(`${started.url}/nowhere`)).status).toBe(404);
  expect((await fetch(`${started.url}/healthz`)).status).toBe(200);
});

test('the log of a Probot server names its Octokit plugins that do not apply to Countersign', async () => {
  const github = await startGitHubForTest();
  const { started } = await hosted(github);
  expect(started.output.join('\n')).toMatch(/do not apply to Countersign[^\n]*: pluginOfTheServer/);
});

test('the engine writes to the Probot server’s log', async () => {
  const github = await startGitHubForTest();
  const started = await start(github, 'probot run', newFolder(), { COUNTERSIGN_MERGING: 'off' });
  await listens(started);
  const line = started.output.find((one) => one.includes('COUNTERSIGN_MERGING')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ name: 'probot', level: 40 });
});

test('a Probot server accepts deliveries while its engine waits for the database, which takes them afterwards', async () => {
  const github = await startGitHubForTest();
  const { started, folder } = await hosted(github);
  const database = new BetterSqlite3(databaseIn(folder), { timeout: 120_000 });
  database.exec('BEGIN IMMEDIATE');
  expect(await deliver(github, started, 'while-locked')).toBe(200);
  expect(notTaken(folder)).toMatchObject([{ guid: 'while-locked' }]);
  database.exec('COMMIT');
  await expect.poll(() => statusOf(folder, 'while-locked')).toBe('done');
  database.close();
});

test('a Probot server that is killed during a burst loses no delivery that it accepted', async () => {
  const github = await startGitHubForTest();
  const { started, folder } = await hosted(github);
  const accepted: string[] = [];
  let sent = 0;
  const sendInTurn = async () => {
    for (let status = 200; status === 200; ) {
      const guid = `delivery-${++sent}`;
      status = await deliver(github, started, guid);
      if (status === 200) accepted.push(guid);
      if (accepted.length === 300) started.child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: 16 }, sendInTurn));
  const next = await start(github, 'probot run', folder);
  await listens(next);
  expect(accepted.length).toBeGreaterThanOrEqual(300);
  for (const guid of accepted) await expect.poll(() => statusOf(folder, guid)).toBe('done');
});

test('a process whose Probot server is closed ends the work under way, and then itself', async () => {
  const github = await startGitHubForTest();
  const { started, folder } = await hosted(github);
  // Only a process that stops by itself removes it.
  const holder = `${databaseIn(folder)}.lock.json`;
  expect(existsSync(holder)).toBe(true);
  await fetch(`${started.url}/close`);
  await once(started.child, 'close');
  expect([started.child.exitCode, existsSync(holder)]).toEqual([0, false]);
});

test('a hosted app that is asked to stop ends its work, and leaves the database to the next one', async () => {
  const github = await startGitHubForTest();
  const { started, folder } = await hosted(github);
  started.child.kill('SIGTERM');
  await once(started.child, 'close');
  expect(started.child.signalCode).toBe('SIGTERM');
  await listens(await start(github, 'probot run', folder));
});

test('a Probot server does not start beside an app that serves the same database', async () => {
  const github = await startGitHubForTest();
  const { folder } = await hosted(github);
  const { child, output } = await start(github, 'probot run', folder);
  await once(child, 'close');
  expect(child.exitCode).toBe(1);
  expect(output.join('\n')).toContain('only one process may serve a database');
});

test.each([
  ['Probot’s default webhook secret', { WEBHOOK_SECRET: '' }, 'default secret, which everybody knows'],
  ['a wrong setting', { DATABASE_URL: 'oracle:x' }, 'DATABASE_URL must be sqlite:<path'],
  ['a database that is thrown away', { DATABASE_URL: 'sqlite::memory:' }, 'the database must be a file'],
  ['no App', { APP_ID: '', PRIVATE_KEY: '', NODE_ENV: 'production' }, 'App ID is missing'],
])('a Probot server with %s does not start, and says why', async (_what, environment, message) => {
  const github = await startGitHubForTest();
  const { child, output } = await start(github, 'probot run', newFolder(), environment);
  await once(child, 'close');
  expect(child.exitCode).toBe(1);
  expect(output.join('\n')).toContain(message);
});

async function hosted(github: GitHubStandIn): Promise<{ started: Started; folder: string }> {
  const folder = newFolder();
  const started = await start(github, 'a Probot server that hosts another app', folder);
  await listens(started);
  github.setWebhookUrl(`${started.url}/api/github/webhooks`);
  return { started, folder };
}

/** The status of the answer, 0 without one. */
async function deliver(github: GitHubStandIn, { url }: Started, guid: string): Promise<number> {
  const { headers, body } = github.signedDelivery('ping', { zen: 'Keep it logically awesome.' }, guid);
  try {
    return (await fetch(`${url}/api/github/webhooks`, { method: 'POST', headers, body })).status;
  } catch {
    return 0;
  }
}

function statusOf(folder: string, guid: string): unknown {
  const database = new BetterSqlite3(databaseIn(folder), { readonly: true });
  try {
    return database.prepare('SELECT status FROM deliveries WHERE guid = ?').pluck().get(guid);
  } finally {
    database.close();
  }
}
