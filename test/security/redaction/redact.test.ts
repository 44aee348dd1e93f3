// @module-tag security

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redact, redactMarkdown, redactValue } from '../../../src/core/redact/redact.ts';
import { codeBlock, inline, prose, tableCell } from '../../../src/messages/text/markdown.ts';
import { withinEffort } from '../../support/effort.ts';
import { PLANTED } from './planted.ts';
import { LONG, SEED } from './seed.ts';

describe.each(PLANTED)('$kind', ({ text, needle, mark }) => {
  test('is hidden, and the mark names its kind', () => {
    expect(redact(`before ${text} after`)).not.toContain(needle);
    expect(redact(`before ${text} after`)).toContain(mark);
  });

  test('is hidden inside JSON, a URL and every encoding for Markdown', () => {
    const places = [
      redact(JSON.stringify({ a: [text], b: JSON.stringify({ text }) })),
      redact(`at:\n${text}`),
      ...[inline, prose, tableCell, codeBlock].map((encode) => redactMarkdown(`**So:** ${encode(text)}`)),
    ];
    for (const place of places) expect(place).not.toContain(needle);
  });
});

test('is hidden also if it was cut off with the text around it', () => {
  const cut = PLANTED.filter(({ text, needle }) => text.indexOf(needle) >= 0 && !text.includes('@')).map(
    ({ text, needle }) => ({
      needle,
      text: text.slice(0, text.indexOf(needle) + Math.ceil(needle.length * 0.8)),
    }),
  );
  const shown = cut.filter(({ text, needle }) => redact(text).includes(needle.slice(0, 12)));
  // An identifier without its end is no secret, and half a hexadecimal number could be anything.
  expect(shown.map(({ text }) => text.slice(0, 4))).toEqual(['v1.0', 'AKIA', 'SK5c']);
});

test.each([
  ['a commit', 'fixed in 3f49da3b9dc23ca7e4ada3f9ff9ca53ca53b5967'],
  ['a UUID', 'id: 550e8400-e29b-41d4-a716-446655440000'],
  ['a digest', 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  [
    'an integrity hash',
    '"integrity": "sha512-wJalrXUtnFEMIK7MDENGbPxRfiCYabcdefghij0123456789+/wJalrXUtnFEMIK7MDENGbPxRfiC=="',
  ],
  ['a value from the environment', 'const password = process.env.DB_PASSWORD;'],
  ['a reference of a workflow', 'password: $' + '{{ secrets.PASSWORD }}'],
  ['a type', 'function signIn(password: string, token: Uint8Array): Promise<void>'],
  ['a call', 'const token = await createToken2(options);'],
  ['a name for a secret', "const tokenType = 'access_token_v2';"],
  ['a placeholder', 'API_KEY=your-api-key-1234'],
  [
    'a public key',
    '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----',
  ],
  [
    'a text about keys',
    'A file that begins with -----BEGIN PRIVATE KEY----- is a private key and must not be committed.',
  ],
  ['an address without a password', 'https://github.com/octo/app/pull/7#issuecomment-1234567890'],
  ['the user of a shell prompt', 'ssh://git@github.com:22/octo/app.git'],
  ['text of the app', '@mia countersigned 3f49da3 (secret/aws-access-key-id: hidden); password: see below'],
])('%s is not changed', (_, text) => {
  expect(redact(text)).toBe(text);
  expect(redactMarkdown(inline(text))).toBe(inline(text));
});

/** Secrets, parts of them, marks and separators, in any order. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PLANTED.map(({ text }) => text)),
      fc.tuple(fc.constantFrom(...PLANTED), fc.nat(60)).map(([{ text }, end]) => text.slice(0, end)),
      fc.constantFrom(...PLANTED.map(({ needle }) => needle)),
      fc.constantFrom(
        '[redacted',
        '[redacted: JWT]',
        '***',
        ' ',
        '\n',
        '"',
        "'",
        '=',
        ': ',
        '\\',
        '\\n',
        '%3D',
        '://',
        '@',
        '&#8203;',
        '\u200b',
        '-',
        '_',
        'password',
        'token=',
      ),
      fc.string({ maxLength: 12, unit: 'grapheme' }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

const runs = { seed: SEED, numRuns: LONG ? 20_000 : 400 };

test(`redacting twice changes nothing more, and never makes a text longer (seed ${SEED})`, () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      for (const hide of [redact, redactMarkdown]) {
        const once = hide(text);
        expect(hide(once)).toBe(once);
        expect(Buffer.byteLength(once)).toBeLessThanOrEqual(Buffer.byteLength(text));
      }
    }),
    runs,
  );
});

test(`a secret is hidden whatever is on the lines around it (seed ${SEED})`, () => {
  fc.assert(
    fc.property(hostileText, fc.constantFrom(...PLANTED), hostileText, (before, { text, needle }, after) => {
      const others = `${before}\n${after}`;
      fc.pre(!others.includes(needle.slice(0, 8)) && !others.includes('-----'));
      expect(redact(`${before}\n${text}\n${after}`)).not.toContain(needle);
    }),
    runs,
  );
});

/** What could make a pattern slow: beginnings without an end. */
const SLOW = [
  'password: a1',
  '-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9',
  'eyJaaaaaaaa.',
  `password: a${'-'.repeat(389)}~1 `,
  'glpat-',
  ...(LONG
    ? [
        'a',
        'eyJ',
        '-eyJ',
        'ghp_',
        'ghp_.',
        'sk-',
        'SG.',
        '://',
        '://a:b',
        'secret_',
        'token=token=',
        'bearer ',
        '--token ',
        ' -u a@',
        '\\',
        '&amp;',
        'Q~',
        'aA1.',
        `token: ${'a-'.repeat(199)}(`,
        '-----BEGIN PRIVATE KEY-----',
      ]
    : []),
];

test.each(SLOW)('a million characters of %j take little work', (part) => {
  const text = part.repeat(Math.ceil(1_000_000 / part.length));
  withinEffort(1_500, () => redact(text));
});

test('objects keep their shape, and a member’s name can reveal a secret that its value does not', () => {
  const at = new Date(0);
  expect(
    redactValue({ at, n: 1, none: null, list: ['plain', PLANTED[0]?.text], db: { password: 'hunter2pass' } }),
  ).toEqual({
    at,
    n: 1,
    none: null,
    list: ['plain', '[redacted: GitHub token]'],
    db: { password: '[redacted]' },
  });
});

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

function texts(folder: string, names: RegExp, depth = 20): { path: string; text: string }[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? texts(path, names, depth - 1) : [];
    return entry.isFile() && names.test(entry.name)
      ? [{ path, text: readFileSync(join(ROOT, path), 'utf8') }]
      : [];
  });
}

test('in this repository only samples in tests look like secrets', {
  tags: 'slow',
}, () => {
  const own = ['bench', 'chains', 'demo', 'docs', 'migrations', 'scripts', 'skills', 'src', 'test']
    .flatMap((folder) => texts(folder, /./))
    .concat(texts('.', /^[^.].*\.(?:md|json|ya?ml|ts)$|^Dockerfile$/, 0));
  expect(own.length).toBeGreaterThan(400);
  const touched = own.filter(({ text }) => redact(text) !== text).map(({ path }) => path);
  expect(touched.filter((path) => !path.startsWith('test/security/'))).toEqual([
    'test/adapters/postgres/failure.test.ts',
    'test/analyzers/secrets.test.ts',
    'test/messages/small.test.ts',
  ]);
});

test('fewer than one in 500 lines of our dependencies’ READMEs is changed, because of made-up credentials', {
  tags: 'slow',
}, () => {
  const readmes = texts('node_modules', /^readme\.md$/i, 2);
  const lines = readmes.flatMap(({ text }) => text.split('\n'));
  expect(lines.length).toBeGreaterThan(10_000);
  const touched = lines.filter((line) => redact(line) !== line);
  expect(touched.length / lines.length).toBeLessThan(1 / 500);
  const innocent = touched.filter(
    (line) => !/gh[ops u]|[Tt]oken|[Ss]ecret|authorization|:somepassword@|\bSK0{32}\b/.test(line),
  );
  expect(innocent).toEqual([]);
});
