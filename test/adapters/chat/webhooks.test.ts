// @module-tag security
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { createChat } from '../../../src/adapters/chat/webhooks.ts';
import { startChat } from '../../support/chat.ts';

/** What the name resolves to: the first answer, then the second, and so on. */
let answers: LookupAddress[][] = [];
let asked = 0;
beforeEach(() => {
  answers = [];
  asked = 0;
});
const resolve: LookupFunction = (_name, options, callback) => {
  asked += 1;
  const found = answers.shift() ?? [];
  if (options.all) callback(null, found);
  else callback(null, found[0]?.address ?? '', found[0]?.family);
};

const v4 = (address: string): LookupAddress => ({ address, family: 4 });

function post(url: string, allowsPrivate = false): Promise<void> {
  const clock = { now: () => new Date(0) };
  const chat = createChat({ webhooks: new Map([['team', url]]), allowsPrivate, clock, resolve });
  return chat.post('team', { text: 'Hello', id: 'eff_1', at: new Date(0) });
}

test.each([
  ['resolves to a private address', [[v4('10.0.0.1')]]],
  ['resolves to the metadata service of a cloud', [[v4('169.254.169.254')]]],
  ['resolves to a public and a private address', [[v4('8.8.8.8'), v4('127.0.0.1')]]],
  ['resolves to an IPv4 address inside IPv6', [[{ address: '::ffff:127.0.0.1', family: 6 }]]],
])('nothing is posted to a name that %s', async (_, found) => {
  answers = found;
  await expect(post('http://hooks.example.test/x')).rejects.toThrow(
    'has a private address, which this server refuses',
  );
});

test('a name is resolved once, for the connection itself, so that a second answer leads nowhere', async () => {
  const receiver = await startChat();
  const { port } = new URL(receiver.url);
  answers = [[v4('127.0.0.1')], [v4('10.0.0.1')]];
  await post(`http://hooks.example.test:${port}/x`, true);
  expect(receiver.received.map(({ text }) => text)).toEqual(['Hello']);
  expect(asked).toBe(1);
});

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::1]/',
  'http://[::ffff:7f00:1]/',
])('nothing is posted to %s', async (url) => {
  await expect(post(url)).rejects.toThrow('has a private address, which this server refuses');
  expect(asked).toBe(0);
});
