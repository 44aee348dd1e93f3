// @module-tag security

import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SentDelivery } from '../../support/github/stand-in.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  CI_AND_MERGE,
  countersign,
  MERGE_ONLY,
  open,
  ownChecks,
  pushAgain,
  react,
  reportCi,
  start,
} from '../support.ts';
import { merged, openApproval, post } from './support.ts';

// test/entrypoints/webhook/server.test.ts has the answers to every kind of bad request, and
// test/entrypoints/webhook/hostile-webhook.test.ts the reading of odd payloads.

/** Anybody who once read a delivery can send it again, because the signature covers neither its GUID nor its event's name. */
async function replay(harness: Harness, { event, payload }: SentDelivery): Promise<void> {
  expect(await post(harness, harness.github.signedDelivery(event, payload))).toBe(202);
  await harness.settle();
}

const sentFor = ({ github }: Harness, event: string, action?: string) =>
  github.deliveries.filter((one) => one.event === event && (action === undefined || one.action === action));

function newestComment(harness: Harness, body: string): SentDelivery {
  const found = sentFor(harness, 'issue_comment', 'created').findLast(
    ({ payload }) => (payload as { comment: { body: string } }).comment.body === body,
  );
  if (!found) throw new Error(`nobody commented ${body}`);
  return found;
}

test('a command without a signature, or with somebody else’s, resumes nothing', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await openApproval();
  const { github } = harness;
  const another = await github.comment(REPO, number, 'mia', 'Let me see.');
  await github.comment(REPO, number, 'mia', '/countersign pause');
  await harness.settle();
  await react(harness, number, 'mia');
  const payload = structuredClone(newestComment(harness, '/countersign pause').payload) as {
    comment: object;
  };
  // Newer than the pause, or the order of commands would already exclude it.
  const newer = new Date(harness.clock.now().getTime() + 1_000).toISOString();
  Object.assign(payload.comment, { id: another, body: '/countersign resume', created_at: newer });
  const { headers, body } = github.signedDelivery('issue_comment', payload);
  const { 'x-hub-signature-256': right = '', ...unsigned } = headers;
  const signedWith = (algorithm: string, secret: string) =>
    createHmac(algorithm, secret).update(body).digest('hex');
  const forgeries: Record<string, string>[] = [
    unsigned,
    { ...headers, 'x-hub-signature-256': '' },
    { ...headers, 'x-hub-signature-256': `sha256=${signedWith('sha256', 'guess')}` },
    { ...headers, 'x-hub-signature-256': `sha256=${signedWith('sha256', '')}` },
    { ...unsigned, 'x-hub-signature': `sha1=${signedWith('sha1', github.app.webhookSecret)}` },
    {
      ...headers,
      'x-hub-signature-256': github.signedDelivery('issue_comment', {}).headers['x-hub-signature-256'] ?? '',
    },
  ];
  for (const forged of forgeries) expect(await post(harness, { headers: forged, body })).toBe(401);
  expect(await post(harness, { headers, body: `${body} ` })).toBe(401);
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);

  // Only the signature excluded it.
  expect(right).not.toBe('');
  expect(await post(harness, { headers, body })).toBe(202);
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([number]);
});

test('replayed webhooks of earlier heads bring no older head back', { tags: 'slow' }, async () => {
  const { harness, number, headSha: first } = await openApproval();
  const older = approvalOf(harness, number);
  const second = await pushAgain(harness);
  await pushAgain(harness, 'export {};\n');
  await harness.advance(A_RECHECK);
  await harness.github.react(REPO, older.id, 'mia', 'rocket');
  const before = approvals(harness, number).map(({ id }) => id);
  for (const sent of sentFor(harness, 'pull_request')) {
    await replay(harness, sent);
    await harness.github.redeliver(sent.guid);
  }
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number).map(({ id }) => id)).toEqual(before);
  for (const sha of [first, second]) {
    expect(ownChecks(harness, sha).every(({ conclusion }) => conclusion === 'cancelled')).toBe(true);
  }
  expect(merged(harness)).toEqual([]);
});

test('a replayed green of CI hides neither that CI is red now, nor that the head is another', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await github.reportCheck(REPO, headSha, { name: 'unit', status: 'completed', conclusion: 'success' });
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  const greens = ['status', 'check_run', 'check_suite'].flatMap((event) => sentFor(harness, event));
  expect(new Set(greens.map(({ event }) => event)).size).toBe(3);

  await reportCi(harness, headSha, 'failure');
  await react(harness, number, 'mia');
  for (const green of greens) await replay(harness, green);
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);

  const next = await pushAgain(harness);
  await reportCi(harness, next, 'pending');
  for (const green of greens) await replay(harness, green);
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
  expect(ownChecks(harness, next).map(({ status }) => status)).toEqual(['in_progress']);
  expect(merged(harness)).toEqual([]);
});

test('a maintainer’s old resume, sent again under a new GUID, does not end a later pause', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await openApproval();
  const { github } = harness;
  const say = async (body: string) => {
    await github.comment(REPO, number, 'mia', body);
    await harness.advance(A_RECHECK);
  };
  await say('/countersign pause');
  await say('/countersign resume');
  const resume = newestComment(harness, '/countersign resume');
  await say('/countersign pause');
  await react(harness, number, 'mia');
  await replay(harness, resume);
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
  await say('/countersign resume');
  expect(merged(harness)).toEqual([number]);
});

test('a payload that GitHub signed for one event has no effect as another event', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await openApproval(
    {},
    { title: '/countersign resume', body: '/countersign resume' },
  );
  const { github } = harness;
  await github.comment(REPO, number, 'mia', '/countersign pause');
  await harness.settle();
  await react(harness, number, 'mia');
  await github.review(REPO, number, 'mia', 'COMMENTED', '/countersign resume');
  await github.comment(REPO, number, 'otto', '/countersign resume');
  await github.createIssue(REPO, 'mia', '/countersign resume', '/countersign resume');
  await harness.settle();
  const sent = [...new Map(github.deliveries.map((one) => [`${one.event} ${one.action}`, one])).values()];
  const events = [...new Set(sent.map(({ event }) => event))];
  expect(events.length).toBeGreaterThan(5);
  for (const one of sent) {
    for (const event of events) {
      expect(await post(harness, github.signedDelivery(event, one.payload))).toBe(202);
    }
  }
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('a webhook that claims a merge, another head or another base is not believed', async () => {
  const { harness, number, headSha } = await openApproval();
  const { github } = harness;
  const [opened] = sentFor(harness, 'pull_request', 'opened');
  const lies = [
    { action: 'closed', merged: true, state: 'closed' },
    { action: 'synchronize', head: { sha: 'f'.repeat(40), ref: 'greet' } },
    { action: 'edited', base: { ref: 'release' } },
    { action: 'converted_to_draft', draft: true },
  ];
  for (const { action, ...lie } of lies) {
    const payload = structuredClone(opened?.payload) as {
      action: string;
      pull_request: object;
      changes?: object;
    };
    Object.assign(payload, { action, changes: { base: { ref: { from: 'main' } } } });
    Object.assign(payload.pull_request, lie);
    expect(await post(harness, github.signedDelivery('pull_request', payload))).toBe(202);
    await harness.settle();
  }
  expect(ownChecks(harness, headSha).map(({ status }) => status)).toEqual(['in_progress']);
  expect(approvals(harness, number)).toHaveLength(1);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ number, headSha }]);
});

test('an invented installation and repository in a payload have no effect', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.addRepository({ owner: 'eve', name: 'app', files: { 'a.txt': 'a\n' } });
  const { number } = await open(harness);
  await react(harness, number, 'otto');
  const [opened] = sentFor(harness, 'pull_request', 'opened');
  const text = JSON.stringify(opened?.payload);
  for (const payload of [
    text.replaceAll(/"installation":\{"id":\d+/g, '"installation":{"id":1'),
    text.replaceAll('octo', 'eve'),
  ]) {
    expect(await post(harness, github.signedDelivery('pull_request', JSON.parse(payload)))).toBe(202);
  }
  await harness.advance(A_RECHECK);
  expect(github.merges).toEqual([]);
  await countersign(harness, number);
  expect(merged(harness)).toEqual([number]);
});
