import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { keepingLog } from '../disk/log-lines.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, countersign, MERGE_ONLY, open, start } from './support.ts';

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
