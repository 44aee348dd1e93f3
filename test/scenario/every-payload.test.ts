// @module-tag slow

import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** GitHub's own examples of every webhook, from a package. */
const catalogue: { name: string; examples: object[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
);
const payloads = catalogue.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

test('every example webhook of GitHub is accepted and processed, and leaves the app healthy', async () => {
  const { github, app } = harness;
  for (const { name, payload } of payloads) {
    const { headers, body } = github.signedDelivery(name, payload);
    const answer = await fetch(`${app.url}${WEBHOOK_PATH}`, { method: 'POST', headers, body });
    expect(answer.status, name).toBe(202);
  }
  // The app is not installed on the repositories of the examples: each is given up with a reason, or needs no answer. One
  // whose installation GitHub does not know waits for a day at most, because a suspended installation may return.
  await harness.advance(30 * 60_000);
  const counts = await app.storage.read.deliveries.countByStatus();
  expect(payloads).toHaveLength(329);
  expect(counts.done + counts.failed + counts.processing).toBe(329);
  expect(counts.processing).toBeLessThan(30);
  const failed = await app.storage.read.deliveries.list({ status: 'failed', limit: 329 });
  expect(failed.filter(({ error }) => !error)).toEqual([]);
  for (const probe of ['/healthz', '/readyz']) {
    expect((await fetch(`${app.url}${probe}`)).status).toBe(200);
  }
  expect(github.merges).toEqual([]);
  expect(harness.faultyRequests).toEqual([]);
});
