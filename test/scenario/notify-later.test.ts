// @module-tag slow
import { expect, it } from 'vitest';
import { startChat } from '../support/chat.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { approvalOf, countersign, MERGE_ONLY, open, type Setting, start } from './support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A question at 09:00 UTC on Monday, 2 March 2026, and a chat that its settings can name as `team`. */
async function ask(notify: string, rest: Setting & { title?: string } = {}) {
  const receiver = await startChat();
  const { title, ...setting } = rest;
  const harness = await start({
    chain: MERGE_ONLY,
    settings: `notify: { ${notify} }\n`,
    chat: { webhooks: new Map([['team', receiver.url]]), allowsPrivate: true },
    ...setting,
  });
  await open(harness, title === undefined ? {} : { title });
  return { harness, receiver, texts: () => receiver.received.map(({ text }) => text) };
}

const mentions = ({ github }: Harness) =>
  github.comments(REPO, 1).filter(({ body }) => body.includes('<!-- countersign:mention'));

/** The hour and minute that the app's clock shows, in UTC. */
const time = ({ clock }: Harness) => clock.now().toISOString().slice(0, 16);

it('a reminder mentions people once after the time in the settings', async () => {
  const { harness } = await ask('mention: reminder, remind: 24h');
  await harness.sleep(23 * HOUR_MS);
  expect(mentions(harness)).toHaveLength(0);
  await harness.sleep(HOUR_MS);
  expect(mentions(harness)).toHaveLength(1);
  await harness.sleep(30 * DAY_MS);
  expect(mentions(harness)).toHaveLength(1);
});

it('a reminder comes after a restart, and once', async () => {
  const { harness } = await ask('mention: reminder, remind: 24h');
  await harness.restart();
  await harness.sleep(DAY_MS);
  await harness.restart();
  await harness.sleep(DAY_MS);
  expect(mentions(harness)).toHaveLength(1);
});

it('an answered question is not reminded of', async () => {
  const { harness } = await ask('mention: reminder, remind: 1h');
  await countersign(harness, 1);
  await harness.sleep(DAY_MS);
  expect(mentions(harness)).toEqual([]);
});

it('a reminder waits while a review that requests changes blocks the merge', async () => {
  const { harness } = await ask('mention: reminder, remind: 1h');
  await harness.github.review(REPO, 1, 'max', 'CHANGES_REQUESTED', 'Not yet');
  await harness.settle();
  await harness.sleep(HOUR_MS);
  expect(mentions(harness)).toHaveLength(0);
  await harness.github.review(REPO, 1, 'max', 'APPROVED', 'Now');
  await harness.settle();
  await harness.sleep(10 * 60_000);
  expect(mentions(harness)).toHaveLength(1);
});

it('a message to a chat and its reminder become one after quiet hours', async () => {
  const { harness, texts } = await ask(
    'webhooks: [team], remind: 2h, quiet_hours: { from: "08:00", to: "20:00", time_zone: UTC }',
  );
  await harness.sleep(11 * HOUR_MS);
  await harness.sleep(DAY_MS);
  expect(texts().map((text) => text.split('> ')[1])).toEqual([
    'has waited 11 h for a countersign: Greet people by name',
  ]);
});

it('the settings at the time of the reminder decide, and not those of the question', async () => {
  const { harness } = await ask('mention: reminder, remind: 1h');
  await harness.github.push({
    repo: REPO,
    branch: 'main',
    author: 'max',
    files: { '.github/countersign.yml': 'notify: { mention: never }\n' },
  });
  await harness.sleep(DAY_MS);
  expect(mentions(harness)).toEqual([]);
});

it('a question and its reminder are each posted once to the chat, with an id', async () => {
  const { harness, receiver, texts } = await ask('webhooks: [team], remind: 24h');
  await harness.sleep(DAY_MS);
  await harness.sleep(DAY_MS);
  const { url } = harness.github;
  expect(texts().map((text) => text.replaceAll(url, 'https://github.test'))).toEqual([
    '<https://github.test/octo/app/pull/1#issuecomment-3100000001|octo/app#1> needs a countersign: Greet people by name',
    '<https://github.test/octo/app/pull/1#issuecomment-3100000001|octo/app#1> has waited 1 d for a countersign: Greet people by name',
  ]);
  const ids = receiver.received.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(ids).size).toBe(2);
  expect(approvalOf(harness, 1).body).toContain('**Notified:** the webhook `team`.');
});

it('a title cannot mention a channel or add a link in the chat', async () => {
  const { texts } = await ask('webhooks: [team]', {
    title: '<!channel> @here [sign in](https://evil.test) & <https://evil.test|click>\nsecond line',
  });
  expect(texts()[0]?.split('countersign: ')[1]).toBe(
    '&lt;!channel&gt; @\u200Bhere [sign in]\u200B(https:\u200B//evil.test) &amp; &lt;https:\u200B//evil.test|click&gt; second line',
  );
});

it('a chat that does not answer gets the message again with the same id', async () => {
  const receiver = await startChat();
  receiver.answers.push('reset', { status: 503 });
  const harness = await start({
    chain: MERGE_ONLY,
    settings: 'notify: { webhooks: [team] }\n',
    chat: { webhooks: new Map([['team', receiver.url]]), allowsPrivate: true },
  });
  await open(harness);
  await harness.sleep(60_000);
  await harness.sleep(60_000);
  const ids = receiver.received.map(({ headers }) => headers['idempotency-key']);
  expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
});

it.each([
  [{ status: 404 }, 1],
  [{ status: 302, headers: { location: '/services/elsewhere' } }, 1],
])('a chat that answers %o is not asked again', async (answer, times) => {
  const receiver = await startChat();
  receiver.answers.push(answer);
  const harness = await start({
    chain: MERGE_ONLY,
    settings: 'notify: { webhooks: [team], remind: never }\n',
    chat: { webhooks: new Map([['team', receiver.url]]), allowsPrivate: true },
  });
  await open(harness);
  await harness.sleep(HOUR_MS);
  expect(receiver.received).toHaveLength(times);
  const { body } = approvalOf(harness, 1);
  expect(body).toContain(`**Not notified:** The webhook team answered ${answer.status}.`);
  expect(body).not.toContain('**Notified:**');
});

it('a question that is answered before a chat is back is not posted', async () => {
  const receiver = await startChat();
  receiver.answers.push({ status: 429, headers: { 'retry-after': '1800' } });
  const harness = await start({
    chain: MERGE_ONLY,
    settings: 'notify: { webhooks: [team] }\n',
    chat: { webhooks: new Map([['team', receiver.url]]), allowsPrivate: true },
  });
  await open(harness);
  await countersign(harness, 1);
  await harness.sleep(DAY_MS);
  expect(receiver.received).toHaveLength(1);
});

it('a private address gets no message unless the operator allows that', async () => {
  const receiver = await startChat();
  const harness = await start({
    chain: MERGE_ONLY,
    settings: 'notify: { webhooks: [team] }\n',
    chat: {
      webhooks: new Map([['team', receiver.url.replace('127.0.0.1', 'localhost')]]),
      allowsPrivate: false,
    },
  });
  await open(harness);
  await harness.sleep(HOUR_MS);
  expect(receiver.received).toEqual([]);
});

it('a webhook that the operator has not set is named in the approval comment', async () => {
  const { harness } = await ask('webhooks: [elsewhere]');
  expect(approvalOf(harness, 1).body).toContain(
    '> **Not notified:** The webhook elsewhere cannot be notified: the operator of this server has not set it.',
  );
});

it('the address of a webhook is nowhere in the log, the comments or the database', async () => {
  const lines: string[] = [];
  const write = (fields: object, message: string) => void lines.push(JSON.stringify([fields, message]));
  const log = { debug: write, info: write, warn: write, error: write };
  const receiver = await startChat();
  receiver.answers.push({ status: 400 });
  const harness = await start({
    chain: MERGE_ONLY,
    settings: 'notify: { webhooks: [team] }\n',
    chat: { webhooks: new Map([['team', receiver.url]]), allowsPrivate: true },
    log,
  });
  await open(harness, { title: `Post to ${receiver.url}` });
  const rows = await harness.app.storage.read.effects.ofRun('run_1');
  const shown = [lines, harness.github.comments(REPO, 1), rows, receiver.received.map(({ text }) => text)]
    .map((part) => JSON.stringify(part))
    .join();
  expect(shown).toContain('webhook team answered 400');
  expect(shown).not.toContain('s3cr3t');
});

it('quiet hours delay the message to the chat and the reminder, and not the question', async () => {
  const { harness, texts } = await ask(
    'webhooks: [team], mention: reminder, remind: 1h, quiet_hours: { from: "08:00", to: "13:30", time_zone: Europe/Berlin }',
  );
  // 13:30 in Berlin is 12:30 UTC in winter.
  await harness.sleep(3 * HOUR_MS);
  expect([time(harness), approvalOf(harness, 1).author, texts(), mentions(harness)]).toEqual([
    '2026-03-02T12:00',
    harness.github.app.botLogin,
    [],
    [],
  ]);
  await harness.sleep(HOUR_MS / 2);
  expect([texts().length, mentions(harness).length]).toEqual([1, 1]);
  expect(texts()[0]).toContain('has waited 3 h 30 min for a countersign');
});
