import { beforeAll, describe, expect, test } from 'vitest';
import { analyze } from '../../src/analyzers/linters/secrets.ts';
import type { ReviewReport } from '../../src/analyzers/report.ts';
import { shippedRules } from '../../src/analyzers/rules.ts';
import { withinEffortAsync } from '../support/effort.ts';
import { added, fake, placesOf, review } from './support.ts';

const GITHUB = fake('ghp_', 'wWPw5k4aXcaT4fNP0Uc', 'nZwJUVFk6LO0pINUx');
const AWS_ID = fake('AKIA', 'QWERTYUIOP', 'ASDFGH');
const AWS_SECRET = fake('wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYabcdefghij');
const STRIPE = fake('sk_live_', '51H8abcdEFGHij', 'klMNOPqrst');
const SLACK = fake('xoxb-', '123456789012-1234567890123-', 'AbCdEfGhIjKlMnOpQrStUvWx');
const BODY = 'MIIEpAIBAAKCAQEA7bq9MIIEpAIBAAKCAQEA7bq9MIIEpAIBAAKCAQEA7bq9MIIE';
const KEY = fake('-----BEGIN RSA ', `PRIVATE KEY-----\n${BODY}\n${BODY}\n-----END RSA `, 'PRIVATE KEY-----');

/** Where the secret is, the text, the findings, and what must not be shown. */
type Case = [name: string, path: string, text: string, expected: string[], hidden?: string];

const CASES: Case[] = [
  ['a GitHub token', 'a.ts', `const t = '${GITHUB}';`, ['critical secrets/github:1'], GITHUB],
  ['a GitHub token in a test', 'test/b.ts', `const t = '${GITHUB}';`, ['critical secrets/github:1'], GITHUB],
  [
    'a token below a comment that would hide it',
    'c.ts',
    `// secretlint-disable\nconst t = '${GITHUB}';`,
    ['critical secrets/github:2'],
    GITHUB,
  ],
  ['an AWS key id', 'd.ts', `id: '${AWS_ID}'`, ['critical secrets/aws-access-key-id:1'], AWS_ID],
  [
    'an AWS secret key',
    'e.env',
    `AWS_SECRET_ACCESS_KEY=${AWS_SECRET}`,
    ['critical secrets/aws:1'],
    AWS_SECRET,
  ],
  ['a Slack token', 'f.rb', `t = "${SLACK}"`, ['critical secrets/slack:1'], SLACK],
  ['a Stripe key', 'g.go', `const k = "${STRIPE}"`, ['critical secrets/service-token:1'], STRIPE],
  ['a private key', 'deploy.pem', `${KEY}\n`, ['critical secrets/privatekey:1'], BODY],
  [
    'a database address',
    'h.py',
    'DB = "postgres://app:hunter2pass@db.internal/x"',
    ['high secrets/database-connection-string:1'],
    'hunter2pass',
  ],
  [
    'a database address in a test',
    'test/i.py',
    'DB = "postgres://app:hunter2pass@db.internal/x"',
    ['low secrets/database-connection-string:1'],
    'hunter2pass',
  ],
  ['a password', 'j.ts', "const password = 'Tr0ub4dor&3';", ['high secrets/password:1'], 'Tr0ub4dor&3'],
  [
    'a password in an object',
    'k.js',
    "f({ dbPassword: 's3cr3t-value!' })",
    ['high secrets/password:1'],
    's3cr3t-value!',
  ],
  [
    'a password in Python',
    'l.py',
    'PASSWORD: str = "Tr0ub4dor&3"',
    ['high secrets/password:1'],
    'Tr0ub4dor&3',
  ],
  [
    'an API key',
    'm.java',
    'String apiKey = "9f8a7b6c5d4e3f2a1b0c";',
    ['high secrets/token:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  [
    'a password without quotes',
    '.env',
    'DB_PASSWORD=Tr0ub4dor&3x',
    ['high secrets/config-value:1'],
    'Tr0ub4dor&3x',
  ],
  [
    'a password in YAML',
    'n.yml',
    'db:\n  password: Tr0ub4dor&3x\n',
    ['high secrets/config-value:2'],
    'Tr0ub4dor&3x',
  ],
  [
    'a token in a lock file',
    'yarn.lock',
    `resolved "https://x/${GITHUB}"`,
    ['critical secrets/github:1'],
    GITHUB,
  ],
  ['a token in a vendored file', 'vendor/a.js', `t = '${GITHUB}'`, ['critical secrets/github:1'], GITHUB],
  [
    'a token of a service that its prefix names',
    'y.rb',
    fake('t = "rubygems_', 'a1b2c3d4e5f6'.repeat(4), '"'),
    ['critical secrets/service-token:1'],
    fake('rubygems_', 'a1b2c3d4e5f6'.repeat(4)),
  ],
  [
    'the token of a registry',
    'ci/.npmrc',
    '//npm.acme.dev/:_authToken=9f8a7b6c5d4e3f2a1b0c',
    ['high secrets/credential-file:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  [
    'a header that signs in',
    'z.sh',
    'curl -H "Authorization: Bearer 9f8a7b6c5d4e3f2a1b0c" https://api.acme.dev/',
    ['high secrets/authorization:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  [
    'a token in a list of arguments',
    'aa.php',
    "define('API_TOKEN', '9f8a7b6c5d4e3f2a1b0c');",
    ['high secrets/named-value:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  [
    'a password on a command line',
    'ab.sh',
    'curl -u deploy:9f8a7b6c5d4e3f2a1b0c https://files.acme.dev/',
    ['high secrets/command-line-password:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  [
    'a signed address of a storage account',
    'ac.ts',
    `u = 'https://acme.blob.core.windows.net/f?sv=2024-11-04&sig=${'9f8a7b6c5d4e3f2a1b0c'.repeat(2)}%3D'`,
    ['critical secrets/storage-signature:1'],
    '9f8a7b6c5d4e3f2a1b0c',
  ],
  ['the id of a token', 'ad.ts', "const tokenId = '0b7e4a52-9c1d-4f3e-8a6b-2d5c7e9f1a34';", []],
  ['a password from the environment', 'o.ts', 'const password = process.env.DB_PASSWORD;', []],
  ['a password in a template', 'p.ts', 'const password = `$' + '{prefix}-1234567`;', []],
  ['a placeholder', 'q.ts', "const password = 'change-me-123';", []],
  ['a prompt', 'r.ts', "const password = 'Enter your password!';", []],
  ['a kind of token', 's.ts', "const tokenType = 'access_token_v2';", []],
  ['a label', 't.ts', "const passwordField = 'user.password';", []],
  ['a database on this machine without a password', 'u.ts', "const db = 'postgres://localhost:5432/x';", []],
  ['the usual password of a local database', 'v.yml', 'url: postgres://postgres:postgres@localhost/x', []],
  ['a reference in a workflow', '.github/workflows/w.yml', 'password: $' + '{{ secrets.PASSWORD }}', []],
  ['the example of the documentation', 'x.md', fake('AKIA', 'IOSFODNN7', 'EXAMPLE'), []],
  ['a hash in a lock file', 'package-lock.json', `"integrity": "sha512-${AWS_SECRET}=="`, []],
];

describe('the search for secrets', () => {
  let report: ReviewReport;

  const shown: string[] = [];
  beforeAll(async () => {
    report = await review(
      CASES.map(([, path, text]) => added(path, text)),
      { analyzers: ['secrets'], onProgress: (line) => void shown.push(line) },
    );
    expect(report.analyzers).toMatchObject([{ name: 'secrets', status: 'ok', files: CASES.length }]);
  });

  test.each(CASES.map(([name, path, , expected]) => ({ name, path, expected })))(
    'finds or ignores as expected: $name: $expected',
    ({ path, expected }) => {
      expect(placesOf(report.findings.filter((finding) => finding.file === path))).toEqual(expected);
    },
  );

  test('shows no secret, neither in a finding nor in the log, nor to those who watch it', () => {
    expect(shown).toEqual([expect.stringMatching(/^secrets: done after .+, \d+ files\n$/)]);
    const all = JSON.stringify({ report, shown });
    for (const [, , , , hidden] of CASES) if (hidden !== undefined) expect(all).not.toContain(hidden);
  });

  test('names the kind of secret in its place', () => {
    expect(report.findings.find((finding) => finding.file === 'a.ts')?.evidence).toBe(
      "const t = '[redacted: GitHub token]';",
    );
  });

  test.each(['token password secret '.repeat(20_000), 'a'.repeat(900_000)])(
    'needs little work for a long line',
    async (text) => {
      const { secrets: config } = shippedRules();
      const search = (line: string) =>
        analyze([{ index: 0, name: '0001.json', language: 'other', text: line }], config);
      await search('warm up');
      await withinEffortAsync(4_000, () => search(text));
    },
  );
});

test('a secret that another analyzer quotes is hidden there too', { tags: 'slow' }, async () => {
  const report = await review([added('a.ts', `eval('${GITHUB}' + x)\n`)]);
  expect(placesOf(report.findings)).toEqual(['critical secrets/github:1', 'high oxlint/eslint/no-eval:1']);
  expect(JSON.stringify(report)).not.toContain(GITHUB);
});
