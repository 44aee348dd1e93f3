// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { playRound } from '../../bench/pull-request/round.ts';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { systemTimers } from '../../src/core/clock.ts';
import { type Harness, REPO, startHarness } from '../support/harness.ts';
import { watchDatabases } from '../support/statements.ts';

/**
 * What a pull request asks of the database from opened to merged, with GitHub's deliveries about it (opened and
 * closed) and CI that is green already. Each of GitHub's other deliveries, such as those about the app's own
 * check runs, costs `AN_ECHO`. Both leave room for transactions that miss a commit that they could have shared: it is 120 statements and 13
 * commits, and on a busy machine up to two more.
 */
const A_PULL_REQUEST = { statements: 122, commits: 14 };
const AN_ECHO = { statements: 8, commits: 1 };
/**
 * What a pull request with 17 deliveries leaves in the database once it is archived, in bytes of whole pages: what
 * becomes smaller must also make its page free for others. A longer run shows less than 8 KB, because with few pull
 * requests each of 42 tables and indexes has a page that is half empty. A page more or less changes the figure by 273 bytes.
 */
const BYTES_LEFT = 9_600;

let database: ReturnType<typeof watchDatabases>;
let harness: Harness;
/** Read with `get`, which is not counted: waiting for the app must not change what it does. */
let outside: BetterSqlite3.Database;

beforeEach(async () => {
  database = watchDatabases();
  // What the queue asks for once a second would depend on the machine's speed, and so would the log of a review that takes longer than
  // 1.5 s.
  harness = await startHarness({ pollMs: 3_600_000, timers: { ...systemTimers, after: () => () => {} } });
  outside = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  await harness.settle();
});
afterEach(async () => {
  outside.close();
  await harness.stop();
  database.stop();
});

/** Lets everything happen that is due within `ms`. Unlike the harness, it asks nothing of the app. */
async function pass(ms: number): Promise<void> {
  const { github, clock, app } = harness;
  const end = clock.now().getTime() + ms;
  const due = outside
    .prepare<[string], number>(
      `SELECT (SELECT count(*) FROM jobs WHERE lease_token IS NOT NULL OR run_at <= ?)
        + (SELECT count(*) FROM deliveries WHERE queue_key IS NOT NULL)`,
    )
    .pluck();
  const next = outside.prepare<[], string | null>('SELECT min(run_at) FROM jobs').pluck();
  for (;;) {
    await github.settle();
    await sleep(5);
    if (due.get(clock.now().toISOString()) !== 0) continue;
    const at = new Date(next.get() ?? Number.NaN);
    if (!(at.getTime() <= end)) return;
    clock.moveTo(at);
    app.queue.wake();
  }
}

/** Only the newest delivery of this kind arrives. */
async function deliver(event: string, action: string): Promise<void> {
  const { github } = harness;
  const sent = github.deliveries.findLast((one) => one.event === event && one.action === action);
  await github.redeliver(sent?.guid ?? '');
  await pass(0);
}

/** From opened to asked. @returns the number of the pull request */
async function open(branch: string): Promise<number> {
  const { github } = harness;
  github.holdDeliveries();
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch,
    title: `Add ${branch}`,
    files: { [`src/${branch}.ts`]: `export const name = '${branch}';\n` },
  });
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await deliver('pull_request', 'opened');
  await pass(2_000);
  return number;
}

async function countersign(number: number): Promise<void> {
  const { github } = harness;
  const asked = github.comments(REPO, number).find(({ body }) => body.includes('countersign:question'));
  await github.react(REPO, asked?.id ?? 0, 'mia', 'rocket');
  await pass(5_000);
  await deliver('pull_request', 'closed');
  await pass(5_000);
}

test(`a pull request costs at most ${A_PULL_REQUEST.statements} statements and ${A_PULL_REQUEST.commits} commits from opened to merged`, async () => {
  // The first one also reads the configuration and fills caches.
  await countersign(await open('first'));
  database.reset();
  const number = await open('second');
  await countersign(number);
  const { statements, commits, histogram } = database.work();
  expect(harness.github.pullRequest(REPO, number).merged).toBe(true);
  expect(commits, `${commits} commits, ${statements} statements:\n${histogram}`).toBeLessThanOrEqual(
    A_PULL_REQUEST.commits,
  );
  expect(statements, `${commits} commits, ${statements} statements:\n${histogram}`).toBeLessThanOrEqual(
    A_PULL_REQUEST.statements,
  );
});

test(`a delivery about the app’s own check run costs at most ${AN_ECHO.statements} statements and one commit`, async () => {
  await open('feature');
  database.reset();
  await deliver('check_run', 'created');
  const { statements, commits, histogram } = database.work();
  expect({ statements, commits }, histogram).toSatisfy(
    (cost: typeof AN_ECHO) => cost.statements <= AN_ECHO.statements && cost.commits <= AN_ECHO.commits,
  );
});

test('a delivery that changes nothing for people writes no effect', async () => {
  const { github, app } = harness;
  await open('feature');
  const opened = github.deliveries.findLast(({ action }) => action === 'opened');
  database.reset();
  const { body, headers } = github.signedDelivery('pull_request', opened?.payload);
  await fetch(`${app.url}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
  await pass(0);
  const { writesTo, histogram } = database.work();
  expect(writesTo('deliveries'), histogram).toBeGreaterThan(0);
  expect(writesTo('effects'), histogram).toBe(0);
});

test(`a pull request that is over leaves at most ${BYTES_LEFT} bytes in the database`, async () => {
  await harness.stop();
  outside.close();
  // Ids as long as the app's own: counting ones would take less.
  harness = await startHarness({ ids: 'real' });
  outside = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length), { readonly: true });
  const stored = outside.prepare<[], number>('SELECT sum(pgsize) FROM dbstat').pluck();
  // As many deliveries as two archives of them hold.
  const rounds = 15;
  const play = async (name: string) => {
    for (let round = 0; round < rounds; round++) await playRound(harness, `${name}-${round}`);
    // GitHub's answers of the first hour may touch some runs, which are archived again in the next.
    for (let hour = 0; hour < 2; hour++) {
      await harness.sleep(7_200_000);
      await harness.settle();
    }
  };
  await play('before');
  const before = stored.get() ?? 0;
  await play('counted');
  expect(((stored.get() ?? 0) - before) / rounds).toBeLessThanOrEqual(BYTES_LEFT);
});
