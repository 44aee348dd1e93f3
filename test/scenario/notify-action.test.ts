import { createHmac } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type ReceivedMessage, startChat } from '../support/chat.ts';
import { REPO } from '../support/harness.ts';
import { open, ownCheck, type Setting, start } from './support.ts';

const SECRET = `whsec_${Buffer.from('a key of thirty-two bytes, at last').toString('base64')}`;

const chain = (to: string, text: string) => `name: pr-review
trigger: { event: pr.opened }
steps: [{ id: tell, action: notify, with: { to: ${to}, text: ${JSON.stringify(text)} } }]
`;

/** An app whose operator has named a chat, `team`, and a signed webhook, `deploys`. */
async function withWebhooks(definition: string, setting: Setting = {}) {
  const receiver = await startChat();
  const webhooks = new Map([
    ['team', receiver.url],
    ['deploys', `${receiver.url}/deploys`],
  ]);
  const secrets = new Map([['deploys', SECRET]]);
  const harness = await start({
    chain: definition,
    chat: { webhooks, secrets, allowsPrivate: true },
    ...setting,
  });
  return { harness, receiver };
}

/** As the specification of Standard Webhooks says. */
function isSigned({ headers, body }: ReceivedMessage): boolean {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  const expected = createHmac('sha256', key).update(content).digest('base64');
  return headers['webhook-signature'] === `v1,${expected}`;
}

test('a step posts a message to a chat, in which a title mentions nobody and shows no link', {
  tags: 'slow',
}, async () => {
  const { harness, receiver } = await withWebhooks(
    chain('team', '*Opened* by {{ trigger.author }}: {{ trigger.title }}'),
  );
  const { headSha } = await open(harness, { title: '<!channel> @here <https://evil.test|click>\n*all*' });
  expect(receiver.received.map(({ text }) => text)).toEqual([
    '*Opened* by ada: &lt;!channel&gt; @\u200Bhere &lt;https:\u200B//evil.test|click&gt; *\u200Ball*',
  ]);
  expect(ownCheck(harness, headSha).summary).toContain('sent a message to team');
});

test('a signed webhook gets the plain text and the facts of the run, signed again at each attempt with the same id', {
  tags: 'slow',
}, async () => {
  const { harness, receiver } = await withWebhooks(chain('deploys', '{{ trigger.title }}'));
  receiver.answers.push('reset');
  const { number, headSha } = await open(harness, { title: 'Say <hi>' });
  await harness.restart();
  await harness.sleep(60_000);
  const [first, second, ...more] = receiver.received;
  expect(more).toEqual([]);
  expect(first && isSigned(first)).toBe(true);
  expect(second && isSigned(second)).toBe(true);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  expect(JSON.parse(second?.body ?? '')).toMatchObject({
    type: 'countersign.message',
    data: {
      text: 'Say <hi>',
      repository: 'octo/app',
      pull_request: number,
      commit: headSha,
      chain: 'pr-review',
      step: 'tell',
    },
  });
});

test('a step that names a webhook which the operator has not set fails, and nothing is posted', {
  tags: 'slow',
}, async () => {
  const { harness, receiver } = await withWebhooks(chain('[team, nowhere]', 'Hello'));
  const { headSha } = await open(harness);
  expect(ownCheck(harness, headSha).summary).toContain(
    'notify cannot run with its inputs: the operator of this server has set no webhook nowhere',
  );
  expect(receiver.received).toEqual([]);
});

test('a webhook that redirects is not followed', async () => {
  const { harness, receiver } = await withWebhooks(chain('team', 'Hello'));
  receiver.answers.push({ status: 307, headers: { location: 'http://127.0.0.1:1/elsewhere' } });
  await open(harness);
  await harness.sleep(60_000);
  expect(receiver.received).toHaveLength(1);
});

test('a webhook that answers slowly gets two messages at a time, and in the end each once', {
  tags: 'slow',
}, async () => {
  const waiting: ServerResponse[] = [];
  const ids: unknown[] = [];
  let most = 0;
  const server = createServer((request, response) => {
    ids.push(request.headers['idempotency-key']);
    most = Math.max(most, waiting.push(response));
    request.resume();
    // Everything else that could be sent at the same time is under way by then.
    setTimeout(() => waiting.splice(waiting.indexOf(response), 1)[0]?.end(), 50);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const harness = await start({
    chain: chain('slow', '{{ trigger.title }}'),
    chat: { webhooks: new Map([['slow', url]]), secrets: new Map(), allowsPrivate: true },
  });
  harness.github.holdDeliveries();
  for (let nth = 0; nth < 10; nth += 1)
    await harness.github.openPullRequest({
      repo: REPO,
      author: 'otto',
      fork: 'otto/app',
      branch: `b${nth}`,
      title: `${nth}`,
      files: { [`${nth}.txt`]: 'x\n' },
    });
  await harness.github.releaseDeliveries();
  await harness.advance(60_000);
  expect(most).toBeLessThanOrEqual(2);
  expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
});
