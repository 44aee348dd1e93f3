import { describe, expect, test } from 'vitest';
import {
  judgeAttempt,
  judgeClock,
  judgeDisk,
  judgeWebhook,
  lackingIn,
} from '../../../src/domain/self-check/judge.ts';

const AT = new Date('2026-03-02T09:00:00Z');
const URL = 'https://bot.example/api/github/webhooks';
const REGISTERED = { url: URL, contentType: 'json', hasSecret: true, checksTls: true };
const ANSWERED = { deliveredAt: AT, statusCode: 202 };

describe('the clock', () => {
  test.each([
    [0, 'right'],
    [30_000, 'right'],
    [-30_000, 'right'],
    [30_001, 'off'],
    [-30_001, 'off'],
  ])('that is %i ms ahead of GitHub’s is %s', (aheadMs, kind) => {
    expect(judgeClock(aheadMs)).toEqual({ check: 'clock', kind, aheadMs });
  });
});

describe('a disk', () => {
  test.each([
    [1024 ** 3, 'enough'],
    [1024 ** 3 - 1, 'low'],
  ])('with %i free bytes has %s', (freeBytes, kind) => {
    expect(judgeDisk('/data', freeBytes)).toEqual({ check: 'disk', kind, folder: '/data', freeBytes });
  });
});

describe('what was granted', () => {
  const asked = { permissions: { checks: 'write', members: 'read' }, events: ['push', 'status'] };

  test('lacks nothing if it is as asked, or more', () => {
    const granted = {
      permissions: { checks: 'write', members: 'write', pages: 'read' },
      events: ['status', 'push', 'fork'],
    };
    expect(lackingIn(granted, asked)).toBeUndefined();
  });

  test('lacks a permission that is there at a lower level, one that is not there, and an event', () => {
    expect(lackingIn({ permissions: { checks: 'read' }, events: ['push'] }, asked)).toEqual({
      permissions: ['checks: write', 'members: read'],
      events: ['status'],
    });
  });

  test('lacks a permission whose level nobody knows', () => {
    expect(
      lackingIn({ permissions: { checks: 'some', members: 'read' }, events: asked.events }, asked),
    ).toEqual({
      permissions: ['checks: write'],
      events: [],
    });
  });
});

describe('the webhook', () => {
  const kinds = (...args: Parameters<typeof judgeWebhook>) => judgeWebhook(...args).map(({ kind }) => kind);

  test.each([
    ['that GitHub’s last attempt reached is right', REGISTERED, URL, ANSWERED, ['answered']],
    ['is right if the settings name no address', REGISTERED, undefined, ANSWERED, ['answered']],
    ['without an address is wrong', { ...REGISTERED, url: undefined }, URL, ANSWERED, ['no_address']],
    [
      'without a secret is wrong',
      { ...REGISTERED, hasSecret: false },
      URL,
      ANSWERED,
      ['no_secret', 'answered'],
    ],
    [
      'as a form is wrong',
      { ...REGISTERED, contentType: 'form' },
      URL,
      undefined,
      ['not_json', 'never_sent'],
    ],
    ['at another address is wrong', REGISTERED, `${URL}2`, ANSWERED, ['other_address', 'answered']],
    [
      'whose certificate is not checked is doubtful',
      { ...REGISTERED, checksTls: false },
      URL,
      ANSWERED,
      ['tls_unchecked', 'answered'],
    ],
  ])('%s', (_, registered, expected, newest, findings) => {
    expect(kinds(registered, expected, newest)).toEqual(findings);
  });

  test.each([
    [200, 'answered'],
    [202, 'answered'],
    [299, 'answered'],
    [401, 'secret_differs'],
    [0, 'unreached'],
    [301, 'refused'],
    [404, 'refused'],
    [503, 'refused'],
  ])('whose newest attempt was answered with %i is %s', (statusCode, kind) => {
    expect(judgeAttempt({ deliveredAt: AT, statusCode }, URL).kind).toBe(kind);
  });
});
