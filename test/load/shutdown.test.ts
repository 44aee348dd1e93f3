import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ABORT_GRACE_MS } from '../../src/adapters/embedded-queue/embedded.ts';
import { DRAIN_MS } from '../../src/app.ts';
import { LAST_REQUESTS_MS } from '../../src/entrypoints/webhook/listen.ts';
import { databaseIn, type Ended, type ListeningApp, startListening } from '../crash/app-process.ts';
import { notTaken } from '../crash/inbox.ts';
import { MERGE_ONLY } from '../scenario/support.ts';
import { isGateCheck } from '../support/github/read.ts';
import { until } from '../support/until.ts';
import { type AppAndGitHub, startApp } from './app-and-github.ts';
import { burst } from './burst.ts';
import { isAlive, reviewWorkersOf } from './process-facts.ts';
import { createRepositories, sendOtherEvents, signedDeliveries } from './repositories.ts';
import { readRows } from './rows.ts';

/** How long supervisors wait by default before they kill. */
const SUPERVISORS_WAIT_MS = 10_000;
/**
 * What does not end at all is given up. An app that only waited for its own timeouts would still be there: they are longer, or
 * endless.
 */
const STUCK_MS = 80_000;
const CLEAN_EXIT: Ended = { code: 0, signal: null };

describe('an app that gets a signal to stop during a burst', () => {
  test('answers what it accepted, ends, and the next process finishes the work as if undisturbed', {
    tags: 'slow',
  }, async ({ onTestFinished }) => {
    const world = await startApp(onTestFinished);
    const { github, folder } = world;
    const repositories = await createRepositories(github, {
      repositories: 2,
      pullRequests: 4,
      chain: MERGE_ONLY,
    });
    await sendOtherEvents(github, repositories, 150);
    const deliveries = signedDeliveries(github);
    // Pull requests cannot be read, so the stop always finds unfinished work.
    const back = github.fail(({ path }) => /\/pulls\/\d+$/.test(path), { status: 503 });

    let answered = 0;
    const onAnswer = () => void answered++;
    const sending = burst(world.app.webhookUrl, deliveries, { connections: 20, onAnswer });
    await until('answers', () => (answered >= 50 ? true : undefined));
    const stopped = await stop(world.app, 'SIGTERM');
    const { statuses } = await sending;
    expect(stopped).toEqual(CLEAN_EXIT);

    // Answered 2xx or not at all, and what was answered is recorded; some of it is not done yet.
    const { 202: taken = 0, 0: unanswered = 0 } = statuses;
    expect(taken + unanswered).toBe(deliveries.length);
    const left = readRows(databaseIn(folder)).deliveries;
    const inInbox = notTaken(folder).length;
    const recorded = Object.values(left).reduce((sum, count) => sum + count, inInbox);
    expect(recorded).toBeGreaterThanOrEqual(taken);
    expect(left.done ?? 0).toBeLessThan(recorded);

    back();
    await restart(world);
    // The next process requests deliveries without an answer; requesting all of them does no harm.
    await burst(world.app.webhookUrl, deliveries);
    await until('everything to be done', () => isAllDone(folder, deliveries.length), {
      last: () => readRows(databaseIn(folder)),
    });
    await until('every question', () =>
      repositories.pullRequests.every(({ repo, number }) =>
        github.comments(repo, number).some(({ body }) => body.includes('countersign:question')),
      )
        ? true
        : undefined,
    );
    await world.app.stop();
    for (const { repo, number, headSha } of repositories.pullRequests) {
      const questions = github.comments(repo, number).filter(({ body }) => body.includes(':approval'));
      const checks = github
        .checkRuns(repo, headSha)
        .filter((run) => run.app === github.app.slug && !isGateCheck(run));
      expect([questions.length, checks.length]).toEqual([1, 1]);
    }
    expect(readRows(databaseIn(folder)).runs).toEqual({ waiting_approval: 4 });
  });
});

test('the waits of a stop add up to less than supervisors wait', () => {
  expect(Math.max(DRAIN_MS + ABORT_GRACE_MS, LAST_REQUESTS_MS)).toBeLessThan(0.9 * SUPERVISORS_WAIT_MS);
});

/** Most of these wait for time to pass, so they wait side by side. */
describe.concurrent('an app that gets a signal to stop', () => {
  test('ends at once while idle, also when told by a terminal', { tags: 'slow' }, async ({
    onTestFinished,
  }) => {
    const { app } = await startApp(onTestFinished);
    const stopped = await stop(app, 'SIGINT');
    expect(stopped).toEqual(CLEAN_EXIT);
  });

  test('does not wait for a GitHub that never answers, and asks again after the next start', {
    tags: 'slow',
  }, async ({ onTestFinished }) => {
    const world = await startApp(onTestFinished, { endlessPatience: true });
    const { github } = world;
    const repositories = await createRepositories(github, {
      repositories: 1,
      pullRequests: 1,
      chain: MERGE_ONLY,
    });
    const back = github.fail(({ path }) => /\/pulls\/\d+$/.test(path), 'hang');
    await github.releaseDeliveries();
    await until('the call that hangs', () => github.requests.find(({ status }) => status === 0));
    const stopped = await stop(world.app, 'SIGTERM');
    expect(stopped).toEqual(CLEAN_EXIT);

    back();
    await restart(world);
    const [{ repo, number } = { repo: '', number: 0 }] = repositories.pullRequests;
    await until('the question', () =>
      github.comments(repo, number).find(({ body }) => body.includes('countersign:question')),
    );
  });

  test('does not wait for a merge call that hangs, and the next process merges once', {
    tags: 'slow',
  }, async ({ onTestFinished }) => {
    const world = await startApp(onTestFinished, { endlessPatience: true });
    const { github } = world;
    const repositories = await createRepositories(github, {
      repositories: 1,
      pullRequests: 1,
      chain: MERGE_ONLY,
    });
    await github.releaseDeliveries();
    const [{ repo, number } = { repo: '', number: 0 }] = repositories.pullRequests;
    const asked = await until('the question', () =>
      github.comments(repo, number).find(({ body }) => body.includes('countersign:question')),
    );
    const back = github.fail(({ path }) => path.endsWith('/merge'), 'hang');
    await github.react(repo, asked.id, 'mia', 'rocket');
    await until('the merge call', () =>
      github.requests.find(({ path, status }) => path.endsWith('/merge') && status === 0),
    );
    const stopped = await stop(world.app, 'SIGTERM');
    expect(stopped).toEqual(CLEAN_EXIT);

    back();
    await restart(world);
    await until('the merge', () => github.merges[0]);
    await sleep(500);
    expect(github.merges).toHaveLength(1);
  });

  test('leaves no process of a review behind, and the next process reviews again', { tags: 'slow' }, async ({
    onTestFinished,
  }) => {
    const world = await startApp(onTestFinished);
    const { github } = world;
    const repositories = await createRepositories(github, { repositories: 1, pullRequests: 1 });
    await github.releaseDeliveries();
    const worker = await until('the review', () => reviewWorkersOf(world.app.pid)[0]);
    // Stopped, so that the review cannot end by itself while the app waits for it.
    process.kill(worker, 'SIGSTOP');
    const stopped = await stop(world.app, 'SIGTERM');
    expect(stopped).toEqual(CLEAN_EXIT);
    await until('the worker to be gone', () => (isAlive(worker) ? undefined : true));

    await restart(world);
    const [{ repo, headSha } = { repo: '', headSha: '' }] = repositories.pullRequests;
    await until('the review', () =>
      github
        .checkRuns(repo, headSha)
        .find(({ app, summary }) => app === github.app.slug && summary?.includes('No findings')),
    );
  });

  test.for(['SIGTERM', 'SIGKILL'] as const)(
    'with %s leaves no process behind that waits for the next review',
    { tags: 'slow' },
    async (signal, { onTestFinished }) => {
      const world = await startApp(onTestFinished);
      const { github } = world;
      const repositories = await createRepositories(github, { repositories: 1, pullRequests: 1 });
      await github.releaseDeliveries();
      const [{ repo, headSha } = { repo: '', headSha: '' }] = repositories.pullRequests;
      await until('the review', () =>
        github
          .checkRuns(repo, headSha)
          .find(({ app, summary }) => app === github.app.slug && summary?.includes('No findings')),
      );
      const waiting = await until('a process that waits', () => {
        const found = reviewWorkersOf(world.app.pid);
        return found.length > 0 ? found : undefined;
      });
      await stop(world.app, signal);
      await until('their end', () => (waiting.some(isAlive) ? undefined : true));
    },
  );

  test('repeatedly still finishes what is under way', { tags: 'slow' }, async ({ onTestFinished }) => {
    const world = await startApp(onTestFinished);
    const { github } = world;
    await createRepositories(github, { repositories: 1, pullRequests: 1, chain: MERGE_ONLY });
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const isAsked = ({ path }: { path: string }) => {
      if (!/\/pulls\/\d+$/.test(path)) return false;
      asked.resolve();
      return true;
    };
    github.fail(isAsked, { until: answer.promise }, 1);
    await github.releaseDeliveries();
    await asked.promise;
    const stopping = stop(world.app, 'SIGTERM');
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
      await sleep(100);
      process.kill(world.app.pid, signal);
    }
    answer.resolve();
    const stopped = await stopping;
    expect(stopped).toEqual(CLEAN_EXIT);
    expect(Object.keys(readRows(databaseIn(world.folder)).deliveries)).not.toContain('processing');
  });

  test('does not wait for the rest of a request of which a sender has sent half', { tags: 'slow' }, async ({
    onTestFinished,
  }) => {
    const { app } = await startApp(onTestFinished);
    const { hostname, port } = new URL(app.webhookUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    let answered = '';
    socket.on('data', (bytes) => {
      answered += bytes;
    });
    socket.write(
      `POST /api/github/webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\nContent-Length: 1000\r\n\r\n{`,
    );
    await sleep(200);
    const stopped = await stop(app, 'SIGTERM');
    socket.destroy();
    expect(stopped).toEqual(CLEAN_EXIT);
    // Had it waited, the sender would eventually have got 408.
    expect(answered).toBe('');
  });
});

/** The app's own comments and check runs return as deliveries, so there may be more than were sent. */
function isAllDone(folder: string, sent: number): true | undefined {
  const { done = 0, ...others } = readRows(databaseIn(folder)).deliveries;
  return done >= sent && Object.keys(others).length === 0 ? true : undefined;
}

/** How the process ended. @throws Error if it does not end. */
async function stop(app: ListeningApp, signal: NodeJS.Signals): Promise<Ended> {
  process.kill(app.pid, signal);
  const ended = await Promise.race([app.gone, sleep(STUCK_MS)]);
  if (ended === undefined) throw new Error(`the app did not end within ${STUCK_MS} ms`);
  return ended;
}

async function restart(world: AppAndGitHub): Promise<void> {
  world.app = await startListening(world.github, world.folder);
  world.github.setWebhookUrl(world.app.webhookUrl);
  await world.github.releaseDeliveries();
}
