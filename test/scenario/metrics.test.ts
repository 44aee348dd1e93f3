import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { keepingLog } from '../disk/log-lines.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, countersign, GREETING, MERGE_ONLY, open, reportCi, start } from './support.ts';

const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

test('docs/metrics.md names every metric of this app, and no other', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const text = await (await fetch(`${harness.app.metricsUrl}/metrics`)).text();
  const shown = [...text.matchAll(/^# TYPE (countersign_\w+)/gm)].map(([, name]) => name).sort();
  const named = [...page.matchAll(/^\| `(countersign_\w+)/gm)].map(([, name]) => name).sort();
  expect(named).toEqual(shown);
});

test('the metrics count what was done, without names of people and repositories', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { number, headSha } = await open(harness);
  await countersign(harness, number);
  await harness.advance(A_RECHECK);
  const { text, value } = await scrape(harness);

  expect(value('countersign_runs{status="completed"}')).toBe(1);
  expect(value('countersign_effects{status="pending"}')).toBe(0);
  expect(value('countersign_effects{status="done"}')).toBe(5);
  expect(value('countersign_deliveries{status="done"}')).toBe(harness.github.deliveries.length);
  expect(value('countersign_database_up')).toBe(1);
  expect(value('countersign_oldest_due_job_age_seconds')).toBe(0);
  const merge = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
  expect(value(`countersign_github_requests_total{route="${merge}",status="200"}`)).toBe(1);
  const notModified = harness.github.requests.filter(({ status }) => status === 304);
  expect(value('countersign_github_unchanged_total')).toBe(notModified.length);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(0);
  for (const name of ['octo', 'mia', 'ada', headSha, 'ghs_']) expect(text).not.toContain(name);
});

test('a recorded delivery that nobody works on is due, and counts from its arrival', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  await harness.settle();
  await harness.app.queue.stop(1_000);
  await harness.github.createIssue(REPO, 'otto', 'Hello');
  await harness.github.settle();
  harness.clock.advance(600_000);
  const { value } = await scrape(harness);
  expect(value('countersign_oldest_due_job_age_seconds')).toBe(600);
});

test('the metrics show that all slots are busy, and how long other jobs wait for one', {
  tags: 'slow',
}, async () => {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held: StepHandler = {
    name: 'held',
    capability: { name: 'held', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    async run() {
      begun.resolve();
      await end.promise;
      return { kind: 'failed', reason: reason('step.failed.error', 'it was held'), retryable: false };
    },
  };
  const chain = `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: a, skill: held }
  - { id: b, skill: held, depends_on: [] }
`;
  const harness = await start({ chain, skills: [held], workers: { others: 1, reviews: 5 } });
  const files = { 'src/greet.ts': GREETING };
  await harness.github.openPullRequest({ repo: REPO, author: 'ada', branch: 'greet', title: 'Greet', files });
  await begun.promise;
  const waiting = async () =>
    (await scrape(harness)).value('countersign_jobs_waiting_for_slot{pool="others"}');
  await expect.poll(waiting).toBeGreaterThan(0);
  harness.clock.advance(90_000);
  const { value } = await scrape(harness);
  expect(value('countersign_worker_slots{pool="others"}')).toBe(1);
  expect(value('countersign_worker_slots_busy{pool="others"}')).toBe(1);
  expect(value('countersign_longest_wait_for_slot_seconds{pool="others"}')).toBeGreaterThanOrEqual(90);
  expect(value('countersign_worker_slots{pool="reviews"}')).toBe(5);
  expect(value('countersign_worker_slots_busy{pool="reviews"}')).toBe(0);
  expect(value('countersign_longest_wait_for_slot_seconds{pool="reviews"}')).toBe(0);
  end.resolve();
  await harness.settle();
  const after = await scrape(harness);
  expect(after.value('countersign_worker_slots_busy{pool="others"}')).toBe(0);
  expect(after.value('countersign_jobs_waiting_for_slot{pool="others"}')).toBe(0);
});

test('one slot of each kind is enough to review a pull request and merge it', { tags: 'slow' }, async () => {
  const harness = await start({ workers: { others: 1, reviews: 1 } });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  await harness.advance(A_RECHECK);
  expect((await harness.github.pullRequest(REPO, number)).merged).toBe(true);
});

/** The values of a metric, labels included, on the app's own page. */
async function scrape({ app }: Harness) {
  const text = await (await fetch(`${app.metricsUrl}/metrics`)).text();
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1),
    );
  return { text, value };
}

test('the other metrics are available while the database does not answer', async () => {
  const harness = await start();
  await harness.app.storage.close();
  const answer = await fetch(`${harness.app.metricsUrl}/metrics`);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/^countersign_database_up 0$/m);
});

/** A second app beside the first, whose metrics should be on the port that the first already uses. */
async function startBeside({ app, config }: Harness, isGiven: boolean) {
  const { log, lines } = keepingLog();
  const own = { host: '127.0.0.1', port: Number(new URL(app.metricsUrl ?? '').port), isGiven };
  const beside = { ...config, databaseUrl: 'sqlite::memory:', metricsAccess: { own } };
  const second = await startApp(beside, log, { intake: 'here' });
  onTestFinished(() => second.stop());
  return { second, lines };
}

test('an app whose default metrics port is taken runs without metrics, and says so', async () => {
  const harness = await start();
  const { second, lines } = await startBeside(harness, false);
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
  expect(second.metricsUrl).toBeUndefined();
  expect(lines.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(
      /^there are no metrics: it cannot listen on 127\.0\.0\.1:\d+: something else listens there already\. Set METRICS_PORT to another port, or to "off"\.$/,
    ),
  );
});

test('an app whose configured metrics port is taken does not start', async () => {
  const harness = await start();
  await expect(startBeside(harness, true)).rejects.toMatchObject({ code: 'http.cannot_listen' });
});

test('the port of the webhooks does not show the metrics', async () => {
  const harness = await start();
  expect((await fetch(`${harness.app.url}/metrics`)).status).toBe(404);
});
