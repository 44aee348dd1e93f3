// @module-tag slow
import { expect, test } from 'vitest';
import { keepingLog } from '../disk/log-lines.ts';
import { MERGE_ONLY, open, start } from './support.ts';

const MINUTE = 60_000;
const SINCE = /^countersign_webhooks_not_accepted_since_timestamp_seconds\{reason="secret_differs"\} \d+$/m;
const SENTENCE =
  /^GitHub’s last webhook, of 2026-03-02T09:\d\d:\d\dZ, was answered with 401: it is not signed with this WEBHOOK_SECRET\.$/;

test('a webhook secret that is not the App’s is named in the log, in the metrics and by the readiness probe until it is corrected', async () => {
  const { log, lines } = keepingLog();
  const harness = await start({ chain: MERGE_ONLY, log });
  const { github, app } = harness;
  const right = github.app.webhookSecret;
  await harness.advance(MINUTE);
  github.setWebhookSecret('another secret of the App');
  const { number } = await open(harness);
  expect(lines.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('a webhook is not signed with WEBHOOK_SECRET'),
  );
  const ready = async () => (await fetch(`${app.url}/readyz`)).json();
  expect(await ready()).toEqual({ status: 'ready' });

  await harness.advance(10 * MINUTE);
  expect(await ready()).toEqual({ status: 'ready', warnings: [expect.stringMatching(SENTENCE)] });
  expect(await (await fetch(`${app.metricsUrl}/metrics`)).text()).toMatch(SINCE);
  expect(lines.filter(({ message }) => SENTENCE.test(message))).toHaveLength(1);

  github.setWebhookSecret(right);
  // What was missed is asked for again, and arrives.
  await harness.advance(30 * MINUTE);
  expect(await ready()).toEqual({ status: 'ready' });
  expect(await (await fetch(`${app.metricsUrl}/metrics`)).text()).not.toMatch(SINCE);
  expect(github.comments('octo/app', number).length).toBeGreaterThan(0);
});
