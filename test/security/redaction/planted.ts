/** A made-up secret as somebody could commit or paste it. */
export interface Planted {
  kind: string;
  /** With what reveals it, such as the name that it is assigned to. On one line, unless it is a key. */
  text: string;
  /** The part that must not be seen anywhere: letters and digits only, so that no encoding changes it. */
  needle: string;
  /** The mark that replaces it. */
  mark: string;
}

/** In parts, so that scanners of this repository do not report it. */
const fake = (...parts: string[]): string => parts.join('');

const plant = (kind: string, needle: string, text: (needle: string) => string, mark = kind): Planted => ({
  kind,
  needle,
  text: text(needle),
  mark: `[redacted: ${mark}]`,
});

const KEY_LINE = 'MIIEpAIBAAKCAQEA7bq9Zt3kPwUxY1vQmN8sLrD2fGhJ5cVbX0aSeWqTyUiOpKlM';
const pem =
  (type: string, ...between: string[]) =>
  (line: string) =>
    [
      fake('-----BEGIN ', type, 'PRIVATE KEY-----'),
      ...between,
      line,
      line,
      'Zz09',
      fake('-----END ', type, 'PRIVATE KEY-----'),
    ].join('\n');

/** Every kind of secret that the redaction recognises by its form. */
export const PLANTED: readonly Planted[] = [
  plant(
    'GitHub personal token',
    'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx',
    (n) => fake('ghp_', n),
    'GitHub token',
  ),
  plant('GitHub OAuth token', 'oA1k4aXcaT4fNP0UcnZwJUVFk6LO0pINUxyz', (n) => fake('gho_', n), 'GitHub token'),
  plant('GitHub user token', 'uB2k4aXcaT4fNP0UcnZwJUVFk6LO0pINUxyz', (n) => fake('ghu_', n), 'GitHub token'),
  plant(
    'GitHub installation token',
    'sC3k4aXcaT4fNP0UcnZwJUVFk6LO0pINUxyz',
    (n) => fake('ghs_', n),
    'GitHub token',
  ),
  plant(
    'GitHub refresh token',
    'rD4k4aXcaT4fNP0UcnZwJUVFk6LO0pINUxyz',
    (n) => fake('ghr_', n),
    'GitHub token',
  ),
  plant(
    'GitHub fine-grained token',
    '11ABCDEFG0aBcDeFgHiJkLmNoPqRsTuVwXyZ',
    (n) => fake('github_', 'pat_', n),
    'GitHub token',
  ),
  plant(
    'GitHub Enterprise token',
    '0f1e2d3c4b5a69788796a5b4c3d2e1f00112233a',
    (n) => fake('v1', '.', n),
    'GitHub token',
  ),
  plant('AWS key id', 'QWERTYUIOPASDFGH', (n) => fake('AKIA', n), 'AWS key'),
  plant(
    'AWS secret key',
    'K7MDENGbPxRfiCY4bcdefghijwJalrXUtnFEM1xy',
    (n) => `aws_secret_access_key = ${n}`,
    'secret',
  ),
  plant('Google API key', 'SyD3f4G5h6J7k8L9m0N1b2V3c4X5z6A7s8D', (n) => fake('AI', 'za', n), 'Google key'),
  plant(
    'Google OAuth token',
    'a0AfH6SMBx7yZ1w2V3u4T5s6R7q8P9o0N',
    (n) => fake('ya29', '.', n),
    'Google token',
  ),
  plant(
    'Google service account',
    KEY_LINE.replace('MIIE', 'GSAC'),
    (n) => `{"private_key": ${JSON.stringify(pem('')(n))}}`,
    'private key',
  ),
  plant(
    'Slack token',
    'AbCdEfGhIjKlMnOpQrStUvWx',
    (n) => fake('xoxb', '-123456789012-1234567890123-', n),
    'Slack token',
  ),
  plant(
    'Slack webhook',
    'hG7fD6sA5pO4iU3yT2rE1wQ0',
    (n) => fake('https://hooks.slack', '.com/services/T0AAAAAAA/B0BBBBBBB/', n),
    'webhook address',
  ),
  plant('Stripe key', '51H8abcdEFGHijklMNOPqrst', (n) => fake('sk_', 'live_', n), 'Stripe key'),
  plant(
    'Stripe webhook secret',
    'qW8eR7tY6uI5oP4aS3dF2gH1jK0lZ9xC',
    (n) => fake('wh', 'sec_', n),
    'webhook secret',
  ),
  plant('npm token', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8', (n) => fake('npm', '_', n), 'npm token'),
  plant(
    'PyPI token',
    'IcHlwaS5vcmcCJDAwZjQ5YzE4LTU2YjMtNDk1Mi1i',
    (n) => fake('pypi-', 'AgE', n),
    'PyPI token',
  ),
  plant(
    'Countersign token',
    '7w3k9x2mq5z8v4t6n1b0d3f7g9h2j5kp',
    (n) => fake('cst', '_', n),
    'Countersign token',
  ),
  plant('GitLab token', 'x9Y8z7W6v5U4t3S2r1Q0', (n) => fake('glpat', '-', n), 'GitLab token'),
  plant('OpenAI key', 'T3BlbkFJa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6', (n) => fake('sk', '-', n), 'OpenAI key'),
  plant(
    'OpenAI project key',
    'pR0jT3BlbkFJa1B2c3D4e5F6g7H8i9J0k1L2m3N4',
    (n) => fake('sk', '-proj-', n),
    'OpenAI key',
  ),
  plant(
    'Anthropic key',
    'api03Q1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J7',
    (n) => fake('sk', '-ant-', n),
    'Anthropic key',
  ),
  plant(
    'Azure storage key',
    'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50u',
    (n) => fake('AccountName=x;Account', 'Key=', n, '=='),
    'Azure key',
  ),
  plant(
    'Azure signature',
    'fEd3cBa4fEd5cBa6fEd7cBa8fEd9cBa0',
    (n) => `https://x.blob.test/c?sv=2024&sig=${n}%3D`,
    'Azure signature',
  ),
  plant(
    'Azure client secret',
    'aBcDeFgHiJkLmNoPqRsTuVwXyZ012345ab',
    (n) => fake('Kz48', 'Q~', n),
    'Azure secret',
  ),
  plant(
    'SendGrid key',
    'n9G4abcdefghijk1mnopqr',
    (n) => fake('SG', '.', n, '.', 'wxyzabcdefghijklmnopqrstuv0123456789abcdefg'),
    'SendGrid key',
  ),
  plant('Twilio key', '5ca1ab1e0ddba11c0ffee0defaced5ca', (n) => fake('SK', n), 'Twilio key'),
  plant('Hugging Face token', 'hQwErTy1UiOpAsDf2GhJkLzXc3VbNmQwEr', (n) => fake('hf', '_', n), 'model key'),
  plant('Vault token', 'CAESIJ1kLmNoPqRsTuVwXyZ0123456', (n) => fake('hvs', '.', n), 'Vault token'),
  plant(
    'JWT',
    'dBjftJeZ4CVPmB92K27uhbUJU1p1rwW1gFWFOEjXk',
    (n) => fake('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.', n),
    'JWT',
  ),
  plant('private key', KEY_LINE, pem('RSA '), 'private key'),
  plant(
    'encrypted private key',
    KEY_LINE.replace('MIIE', 'ENCR'),
    pem('RSA ', 'Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,00FF', ''),
    'private key',
  ),
  plant(
    'authorization header',
    'QWxhZGRpbjpvcGVuIHNlc2FtZTEy',
    (n) => `Authorization: Basic ${n}`,
    'credentials',
  ),
  plant(
    'bearer token',
    'mF9B5f41JqM7kQ2xZ0vN8tR3',
    (n) => `curl -H 'Authorization: Bearer ${n}'`,
    'credentials',
  ),
  plant(
    'password in an address',
    'hunter2passw0rdOfTheDatabase',
    (n) => `postgres://app:${n}@db.internal/x`,
    'password',
  ),
  plant('password in code', 'Tr0ub4dorAnd3MorePlease', (n) => `const password = '${n}';`, 'secret'),
  plant('password in a variable', 'Tr0ub4dorIn4Variable99', (n) => `DB_PASSWORD=${n}`, 'secret'),
  plant('key in JSON', '9f8a7b6c5d4e3f2a1b0c9f8a', (n) => `{"apiKey": "${n}"}`, 'secret'),
  plant('token as an argument', 'a8f7d6e5c4b3a291807f6e5d', (n) => `deploy --token ${n}`, 'secret'),
];

export const ONE_LINE: readonly Planted[] = PLANTED.filter(({ text }) => !text.includes('\n'));
/** Those without spaces or characters that a branch or a path cannot contain. */
export const ONE_WORD: readonly Planted[] = PLANTED.filter(({ text }) => /^[\w.-]+$/.test(text));
