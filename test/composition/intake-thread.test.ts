import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../src/app.ts';
import type { AppConfig } from '../../src/config/config.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { silentLog } from '../../src/core/log.ts';
import { bareEnvironment } from '../support/app-environment.ts';
import { openBrowser, WITH_SIGN_IN } from '../support/browser.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';
import { temporaryFolders } from '../support/temp.ts';
import type { ClientOrder } from './intake-client.ts';

const newFolder = temporaryFolders();
const CLIENT = new URL('intake-client.ts', import.meta.url);

async function startGitHubForTest(): Promise<GitHubStandIn> {
  const github = await startGitHub();
  onTestFinished(() => github.stop());
  return github;
}

function configFor(github: GitHubStandIn, port = 0): AppConfig {
  const folder = newFolder();
  return {
    kind: 'app',
    appId: github.app.id,
    privateKey: github.app.privateKey,
    webhookSecret: github.app.webhookSecret,
    githubApiUrl: github.url,
    host: '127.0.0.1',
    port,
    metricsAccess: { token: 'scraper' },
    publicUrl: undefined,
    databaseUrl: `sqlite:${join(folder, 'countersign.db')}`,
    artifactsUrl: `file:${join(folder, 'artifacts')}`,
    logLevel: 'silent',
    settings: [],
  };
}

const askMetrics = (url: string) => fetch(`${url}/metrics`, { headers: { authorization: 'Bearer scraper' } });

it('Studio, in a thread of its own, shows an operator how the engine’s thread is', {
  tags: 'slow',
}, async () => {
  const github = await startGitHubForTest();
  github.addUser('max');
  github.signInAs('max');
  const studio = { ...WITH_SIGN_IN, operators: ['max'] };
  const app = await startApp({ ...configFor(github), studio }, silentLog);
  onTestFinished(() => app.stop());
  const browser = openBrowser({ app });
  await browser.open('/sign-in?to=/');
  const { status, text } = await browser.open('/operations');
  expect([status, text.includes('The engine responds.')]).toEqual([200, true]);
  expect(text).toContain('Webhooks are accepted: all checks of /readyz pass.');
  expect(text).toMatch(/The App itself<\/td><td>\d+ of \d+, until/);
});

it('the app accepts a delivery and answers probes while its engine’s thread is blocked, and works on the delivery afterwards', {
  tags: 'slow',
}, async () => {
  const github = await startGitHubForTest();
  const app = await startApp(configFor(github), silentLog);
  onTestFinished(() => app.stop());
  // While the engine does not answer, its previous reports have to do, so there must be some.
  expect((await askMetrics(app.url)).status).toBe(200);
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200);

  const done = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const state = new Int32Array(done);
  const delivery = github.signedDelivery('ping', { zen: 'Keep it logically awesome.' }, 'a-delivery');
  const order: ClientOrder = { url: `${app.url}${WEBHOOK_PATH}`, ...delivery, done };
  const client = new Worker(CLIENT, { workerData: order });
  const ended = once(client, 'exit');
  await once(client, 'online');
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
  // From here until the client is done, nothing runs in this thread, which is the engine's.
  Atomics.wait(state, 0, 1, 60_000);
  expect(Atomics.load(state, 0)).toBe(2);

  await ended;
  await expect
    .poll(async () => (await app.storage.read.deliveries.byGuid('a-delivery'))?.status)
    .toBe('done');
});

it('a delivery is accepted during a transaction of the engine, and taken over after it', async () => {
  const github = await startGitHubForTest();
  const app = await startApp(configFor(github), silentLog);
  onTestFinished(() => app.stop());
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const transaction = app.storage.transaction(async () => {
    begun.resolve();
    await gate.promise;
  });
  await begun.promise;
  const { headers, body } = github.signedDelivery('ping', { zen: 'Design for failure.' }, 'a-waiting-one');
  const answer = await fetch(`${app.url}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  expect(answer.status).toBe(202);
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
  expect(await app.storage.read.deliveries.byGuid('a-waiting-one')).toBeUndefined();
  gate.resolve();
  await transaction;
  await expect
    .poll(async () => (await app.storage.read.deliveries.byGuid('a-waiting-one'))?.status)
    .toBe('done');
});

it('a process whose intake thread fails ends, so that a supervisor starts it again', {
  tags: 'slow',
}, async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('broken-intake-app.ts', import.meta.url))], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: bareEnvironment(),
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
});

it.runIf(process.platform === 'linux').each([
  [15, 17],
  [18, 18],
])(
  'an engine whose process was started with a niceness of %s runs with %s, as V8’s helpers do, and the intake as before',
  { tags: 'slow' },
  async (started, least) => {
    const program = fileURLToPath(new URL('niced-app.ts', import.meta.url));
    // `nice` adds to the niceness of the suite itself. Only root may lower one, so another user's app would not start if it tried.
    const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : [];
    const child = spawn(
      'nice',
      ['-n', String(started - getPriority()), ...asUser, process.execPath, program],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...bareEnvironment(), PATH: process.env.PATH },
      },
    );
    expect(JSON.parse(await text(child.stdout))).toEqual({
      engine: least,
      helpers: [least],
      intake: started,
    });
  },
);

it('the intake thread has a young generation of its own size, however small that of the engine is', {
  tags: 'slow',
}, async () => {
  const program = fileURLToPath(new URL('young-heap-app.ts', import.meta.url));
  const child = spawn(process.execPath, ['--max-semi-space-size=1', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: bareEnvironment(),
  });
  // Two semi-spaces of 4 MB, where V8 has two of 1 MB for the engine. It exceeds them by a few pages.
  expect(Number(await text(child.stdout))).toBeGreaterThanOrEqual(8);
});

it('the metrics are those of the engine and of the intake', { tags: 'slow' }, async () => {
  const github = await startGitHubForTest();
  const app = await startApp(configFor(github), silentLog);
  onTestFinished(() => app.stop());
  const { headers, body } = github.signedDelivery('ping', { zen: 'Speak like a human.' });
  await fetch(`${app.url}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  const page = await (await askMetrics(app.url)).text();
  expect(page).toMatch(/^countersign_webhook_answers_total\{status="202"\} 1$/m);
  expect(page).toMatch(/^countersign_merging 1$/m);
});

it('an app whose port is taken does not start, says why, and leaves its database closed', {
  tags: 'slow',
}, async () => {
  const github = await startGitHubForTest();
  const first = await startApp(configFor(github), silentLog);
  onTestFinished(() => first.stop());
  const port = Number(new URL(first.url).port);
  await expect(startApp(configFor(github, port), silentLog)).rejects.toThrow(
    `it cannot listen on 127.0.0.1:${port}: something else listens there already.`,
  );
});

it('a stopped app closes its port and can start again on the same database', { tags: 'slow' }, async () => {
  const github = await startGitHubForTest();
  const config = configFor(github);
  const first = await startApp(config, silentLog);
  await first.stop();
  await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();
  const second = await startApp(config, silentLog);
  onTestFinished(() => second.stop());
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
});
