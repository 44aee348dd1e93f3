import { expect, test } from 'vitest';
import { CHECK_NAMES, type Finding } from '../../../src/domain/self-check/finding.ts';
import { doctorJson, doctorJsonSchema, doctorText } from '../../../src/messages/cli/doctor.ts';
import { wordsOf } from '../../../src/messages/self-check/self-check.ts';

const at = new Date('2026-03-02T09:00:00Z');
const url = 'https://bot.example/api/github/webhooks';
const lacking = { permissions: ['checks: write', 'members: read'], events: ['merge_group'] };
const page = 'https://github.com/apps/countersign';

const FINDINGS: readonly Finding[] = [
  { check: 'settings', kind: 'valid' },
  { check: 'settings', kind: 'invalid', diagnostics: ['APP_ID is missing', 'PORT must be a number'] },
  { check: 'settings', kind: 'no_app' },
  { check: 'app', kind: 'signed_in', name: 'Countersign', owner: 'octo', url: page },
  {
    check: 'app',
    kind: 'key_refused',
    appId: 7,

    because: 'A JSON web token could not be decoded',
  },
  { check: 'app', kind: 'unreachable', apiUrl: 'https://api.github.com', because: 'getaddrinfo ENOTFOUND' },
  { check: 'app', kind: 'unreachable', apiUrl: 'https://api.github.com', because: 'GET /app: no answer.' },
  { check: 'clock', kind: 'right', aheadMs: 300 },
  { check: 'clock', kind: 'off', aheadMs: 90_000 },
  { check: 'clock', kind: 'off', aheadMs: -3_600_000 },
  { check: 'permissions', kind: 'as_asked' },
  { check: 'permissions', kind: 'lacking', lacking, url: page },
  { check: 'webhook', kind: 'no_address' },
  { check: 'webhook', kind: 'no_secret' },
  { check: 'webhook', kind: 'not_json' },
  { check: 'webhook', kind: 'other_address', url, expected: 'https://new.example/api/github/webhooks' },
  { check: 'webhook', kind: 'tls_unchecked', url },
  { check: 'webhook', kind: 'never_sent' },
  { check: 'webhook', kind: 'answered', at, status: 202 },
  { check: 'webhook', kind: 'secret_differs', at },
  { check: 'webhook', kind: 'unreached', at, url },
  { check: 'webhook', kind: 'refused', at, status: 404 },
  { check: 'webhook', kind: 'refused', at, status: 503 },
  { check: 'installations', kind: 'none', url: page },
  {
    check: 'installations',
    kind: 'some',
    owners: Array.from({ length: 12 }, (_, index) => `owner-${index}`),
  },
  { check: 'installations', kind: 'suspended', owners: ['acme'] },
  {
    check: 'installations',
    kind: 'lacking',
    owners: ['acme', 'octo'],
    lacking: { permissions: ['checks: write'], events: [] },
  },
  { check: 'protection', kind: 'enforced', repository: 'octo/app', branch: 'main' },
  { check: 'protection', kind: 'any_app', repository: 'octo/app', branch: 'main' },
  { check: 'protection', kind: 'open', repository: 'octo/app', branch: 'main' },
  { check: 'protection', kind: 'unreadable', repository: 'octo/app', because: 'Not Found' },
  { check: 'rollout', kind: 'set', owner: 'octo', setting: undefined, most: 'enforce' },
  {
    check: 'rollout',
    kind: 'set',
    owner: 'acme',
    setting: [
      { repositories: ['shop', 'team-*'], level: 'enforce' },
      { repositories: ['*'], level: 'comment' },
    ],
    most: 'observe',
  },
  { check: 'rollout', kind: 'unreadable', owner: 'octo' },
  { check: 'database', kind: 'works' },
  { check: 'database', kind: 'none' },
  {
    check: 'database',
    kind: 'older',
    because: 'The database lacks 2 migrations; run countersign db migrate.',
  },
  { check: 'database', kind: 'broken', because: 'file is not a database' },
  { check: 'disk', kind: 'enough', folder: '/data', freeBytes: 42 * 1024 ** 3 },
  { check: 'disk', kind: 'low', folder: '/data', freeBytes: 200 * 1024 ** 2 },
  { check: 'server', kind: 'ready', url: 'http://127.0.0.1:3000', warnings: [] },
  { check: 'server', kind: 'ready', url: 'http://127.0.0.1:3000', warnings: ['Merging is off.'] },
  { check: 'server', kind: 'not_ready', url: 'http://127.0.0.1:3000', because: 'Not ready: database.' },
  { check: 'server', kind: 'strange', url: 'http://127.0.0.1:3000', because: '/readyz answered 404' },
  { check: 'server', kind: 'not_running', url: 'http://127.0.0.1:3000' },
  { check: 'webhook', kind: 'not_known', because: 'GitHub does not let this app sign in.' },
];

test('each finding has a sentence, and what is to be done where something is', () => {
  expect(doctorText(FINDINGS)).toMatchSnapshot();
});

test('a list without errors ends with a sentence that says so', () => {
  expect(doctorText([{ check: 'settings', kind: 'valid' }])).toBe(
    '✓ settings  All settings are valid.\n\nEverything is as it should be.',
  );
});

test('every error and every warning says what to do', () => {
  const silent = FINDINGS.map(wordsOf).filter(
    ({ status, todo }) => ['error', 'warning'].includes(status) && todo === undefined,
  );
  expect(silent).toEqual([]);
});

test('every check has an example here', () => {
  expect(new Set(FINDINGS.map(({ check }) => check))).toEqual(new Set(CHECK_NAMES));
});

test('the JSON keeps the shape that scripts rely on', () => {
  const json = doctorJson(FINDINGS);
  expect(doctorJsonSchema.parse(json)).toEqual(json);
  expect(json.ok).toBe(false);
  expect(json.findings[4]).toMatchObject({ check: 'app', status: 'error', code: 'app.key_refused' });
});
