// @module-tag slow

import { expect, test } from 'vitest';
import { databaseIn } from '../crash/app-process.ts';
import { MERGE_ONLY } from '../scenario/support.ts';
import { until } from '../support/until.ts';
import { startApp } from './app-and-github.ts';
import { burst } from './burst.ts';
import { peakMemoryMb } from './process-facts.ts';
import { createRepositories, sendOtherEvents, signedDeliveries } from './repositories.ts';
import { readRows } from './rows.ts';

/**
 * Against the real process, over real HTTP, with the database on a disk. The short form has minimal deliveries and few pull
 * requests; `COUNTERSIGN_LONG=1` sends bodies of GitHub's usual 24 KB, and 200 pull requests go through the complete shipped
 * chain.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const DELIVERIES = LONG ? 2_000 : 300;
const PULL_REQUESTS = LONG ? 200 : 5;
const BODY_BYTES = LONG ? 24 * 1_024 : 0;
const LARGE_BODIES = LONG ? 20 : 2;
/** They only end what hangs, the second for a whole test. */
const LONG_WAIT = { timeoutMs: LONG ? 1_200_000 : 120_000 };
const TIMEOUT_MS = 2 * LONG_WAIT.timeoutMs;

/** The maximum memory of the process, in MB. The test prints the measured figures; docs/reliability.md has them. */
const MOST_MEMORY_MB = 500;
const MOST_MEMORY_WITH_LARGE_BODIES_MB = 1_500;

test(
  `${DELIVERIES} deliveries at once are all answered while GitHub answers nothing, and all processed once it does`,
  async () => {
    const { github, app, folder } = await startApp();
    const repositories = await createRepositories(github, {
      repositories: LONG ? 20 : 5,
      pullRequests: PULL_REQUESTS,
      ...(LONG ? {} : { chain: MERGE_ONLY }),
    });
    await sendOtherEvents(github, repositories, DELIVERIES - github.deliveries.length);
    const deliveries = signedDeliveries(github, BODY_BYTES).slice(0, DELIVERIES);

    // A sender waits for the record only; `bench:load` compares that wait with GitHub's ten seconds.
    const answers = Promise.withResolvers<void>();
    const released = github.fail(() => true, { until: answers.promise });
    const sent = await burst(app.webhookUrl, deliveries);
    expect(sent.statuses).toEqual({ 202: DELIVERIES });
    const doneByThen = readRows(databaseIn(folder)).deliveries.done ?? 0;
    expect(doneByThen).toBeLessThanOrEqual(DELIVERIES - PULL_REQUESTS);
    released();
    answers.resolve();

    const begun = performance.now();
    await allDone(folder, DELIVERIES);
    const processedMs = Math.round(performance.now() - begun);

    for (const { repo, number } of repositories.pullRequests) {
      const asked = await until(
        `the question of ${repo}#${number}`,
        () => github.comments(repo, number).find(({ body }) => body.includes('countersign:question')),
        LONG_WAIT,
      );
      if (LONG) await github.react(repo, asked.id, 'mia', 'rocket');
    }
    if (LONG) {
      await until(
        'every pull request to be merged',
        () => (github.merges.length === PULL_REQUESTS ? true : undefined),
        LONG_WAIT,
      );
    }
    const peakMb = peakMemoryMb(app.pid);
    print({ deliveries: DELIVERIES, ...sent, doneByThen, processedMs, merges: github.merges.length, peakMb });
    expect(peakMb).toBeLessThan(MOST_MEMORY_MB);
  },
  TIMEOUT_MS,
);

test(
  `${LARGE_BODIES} bodies of 20 MB at once are accepted or refused, and the accepted ones are processed, within a limit of memory`,
  async () => {
    const { github, app, folder } = await startApp();
    const repositories = await createRepositories(github, { repositories: 1, pullRequests: 0 });
    await sendOtherEvents(github, repositories, LARGE_BODIES);
    const deliveries = signedDeliveries(github, 20_000_000).slice(-LARGE_BODIES);

    const sent = await burst(app.webhookUrl, deliveries);
    const { 202: taken = 0, 429: ofOneSender = 0, 503: ofAll = 0 } = sent.statuses;
    const putOff = ofOneSender + ofAll;
    expect(taken + putOff).toBe(LARGE_BODIES);
    expect(taken).toBeGreaterThan(0);
    // 400 MB are more than are held at a time, from one sender or from all; the app can request refused deliveries later.
    if (LONG) expect(putOff).toBeGreaterThan(0);
    await allDone(folder, taken);
    const peakMb = peakMemoryMb(app.pid);
    print({ bodies: LARGE_BODIES, bytes: 20_000_000, ...sent, peakMb });
    expect(peakMb).toBeLessThan(MOST_MEMORY_WITH_LARGE_BODIES_MB);
  },
  TIMEOUT_MS,
);

/** At least so many, and every one that came: the app also asks for those that it refused. */
async function allDone(folder: string, count: number): Promise<void> {
  const database = databaseIn(folder);
  const isDone = () => {
    const { done = 0, ...others } = readRows(database).deliveries;
    return (done >= count && Object.keys(others).length === 0) || undefined;
  };
  await until('all deliveries to be done', isDone, {
    ...LONG_WAIT,
    last: () => readRows(database).deliveries,
  });
}

function print(figures: object): void {
  process.stdout.write(`load: ${JSON.stringify(figures)}\n`);
}
