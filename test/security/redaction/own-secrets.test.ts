// @module-tag security

import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { learningCredentials } from '../../../src/adapters/octokit/learn-credentials.ts';
import {
  neverShow,
  neverShowForNow,
  neverShowSecretsOf,
  redact,
  redactMarkdown,
} from '../../../src/core/redact/redact.ts';
import { withinEffort } from '../../support/effort.ts';

/** Matches no known pattern of a secret. */
const SECRET = 'correct+horse/battery staple';
neverShow('session secret', SECRET);

const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each([
  ['as it is', `x ${SECRET} y`],
  ['in JSON', JSON.stringify({ a: SECRET })],
  ['encoded for a URL', `https://x.test/?s=${encodeURIComponent(SECRET)}`],
  ['in hex', Buffer.from(SECRET).toString('hex')],
  ['in base64', base64(SECRET)],
  ['in base64 for URLs', Buffer.from(SECRET).toString('base64url')],
  ['in base64 after one byte', base64(`u${SECRET}`)],
  ['in base64 after two bytes', base64(`u:${SECRET}`)],
  ['in base64 inside a longer text', base64(`user:${SECRET}@host and more`)],
])('an own secret is hidden %s', (_, text) => {
  const hidden = redact(text);
  expect(hidden).toContain('[redacted');
  const around = Buffer.from(hidden.replaceAll(/\[redacted[^\]]*\]/g, ''), 'base64').toString('latin1');
  for (const part of ['correct', 'battery', 'staple']) {
    expect(hidden).not.toContain(part);
    expect(around).not.toContain(part);
  }
});

test('the private key is hidden line by line, in its given encoding and in the other one', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const given = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const other = createPrivateKey(given).export({ type: 'pkcs8', format: 'pem' }).toString();
  neverShow('private key', given.replaceAll('\n', '\\n'));
  for (const line of [...given.split('\n'), ...other.split('\n')]) {
    if (line.length < 16 || line.startsWith('-----')) continue;
    // The last line of some keys is too short for a mark of what it was.
    expect(redact(`at ${line} in the stack`)).toMatch(/^at \[redacted(: private key)?\] in the stack$/);
  }
});

test('variables with a secret’s name, or a password inside an address, are never shown', () => {
  neverShowSecretsOf({
    SESSION_SECRET: 'a session secret of our own',
    MISTRAL_API_KEY: 'mistral key of our own',
    HTTPS_PROXY: 'http://proxy:pr%2Fxy-pass@10.0.0.1:3128',
    DATABASE_URL: 'postgres://app:data-base-pass@db.internal/countersign',
    PRIVATE_KEY_PATH: '/etc/countersign/private-key.pem',
    PATH: '/usr/local/bin:/usr/bin',
  });
  const said =
    'a session secret of our own, mistral key of our own, pr/xy-pass, pr%2Fxy-pass, data-base-pass, /etc/countersign/private-key.pem, /usr/local/bin';
  expect(redact(said)).toBe(
    '[redacted: SESSION_SECRET], [redacted], [redacted], [redacted], [redacted], /etc/countersign/private-key.pem, /usr/local/bin',
  );
});

test('a database password that is an everyday word is hidden in addresses only', () => {
  neverShowSecretsOf({ DATABASE_URL: 'postgres://app:countersign@db.internal/x' });
  expect(redact('countersign connects to postgres://app:countersign@db.internal/x')).toBe(
    'countersign connects to postgres://app:[redacted]@db.internal/x',
  );
});

test('a credential is known from the moment it is sent, whatever it looks like', async () => {
  const credential = 'opaque token of some later year'.replaceAll(' ', '.');
  const seen: string[] = [];
  const fetch = learningCredentials(async () => {
    seen.push(redact(`sent with ${credential}`));
    return new Response();
  });
  expect(redact(credential)).toBe(credential);
  await fetch('https://api.github.test/', { headers: { authorization: `token ${credential}` } });
  expect(seen).toEqual(['sent with [redacted: GitHub token]']);
});

test('the newest temporary credentials are remembered', () => {
  const nth = (number: number) => `opaque.credential.number.${number}.end`;
  for (let number = 0; number < 1_000; number++) neverShowForNow('GitHub token', nth(number));
  expect(redact(nth(0))).toBe(nth(0));
  for (const number of [800, 998, 999]) expect(redact(nth(number))).toBe('[redacted: GitHub token]');
});

test('a text that only repeats the beginning of our tokens takes little work', { tags: 'slow' }, () => {
  const beginning = 'eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.';
  for (let number = 0; number < 400; number++)
    neverShowForNow('GitHub token', `${beginning}${number}.the-rest-of-it`);
  const text = beginning.slice(0, 8).repeat(125_000);
  expect(withinEffort(300, () => redact(text))).toBe(text);
  expect(redact(`sent with ${beginning}7.the-rest-of-it`)).toBe('sent with [redacted: GitHub token]');
});

test('a temporary credential that must later never be shown is not forgotten', () => {
  neverShowForNow('GitHub token', 'a.token.that-became.a-setting');
  neverShow('setting', 'a.token.that-became.a-setting');
  for (let number = 0; number < 1_000; number++)
    neverShowForNow('GitHub token', `more.of.them.${number}.end`);
  expect(redact('it is a.token.that-became.a-setting')).toBe('it is [redacted: GitHub token]');
});

test('a value that becomes a secret is hidden in a text that was shown before', () => {
  const text = 'The deployment uses late-but-secret-4711 now.';
  expect([redact(text), redactMarkdown(text)]).toEqual([text, text]);
  neverShow('late', 'late-but-secret-4711');
  const hidden = 'The deployment uses [redacted: late] now.';
  expect([redact(text), redactMarkdown(text)]).toEqual([hidden, hidden]);
});
