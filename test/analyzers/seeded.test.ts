// @module-tag slow
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the code under review
import { expect, test } from 'vitest';
import { verdictOf } from '../../src/analyzers/verdict.ts';
import { reviewVerdictSchema } from '../../src/domain/outcome/review-verdict.ts';
import { added, fake, modified, review } from './support.ts';

const at = { headSha: 'c0ffee'.padEnd(40, '0'), round: 2 };
const token = fake('ghp_', 'wWPw5k4aXcaT4fNP0Uc', 'nZwJUVFk6LO0pINUx');

const orders = `import { db } from './db.ts';

export async function orderOf(id: string) {
  const rows = await db.query(\`SELECT * FROM orders WHERE id = '\${id}'\`);
  return rows[0];
}

export async function notify(id: string) {
  try {
    await db.notify(id);
  } catch {}
}
`;

const workflow = `name: greet
on: issues
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - run: |
          echo "Hello"
          echo "\${{ github.event.issue.title }}"
`;

test('the review requests changes for a committed key, an SQL injection, a shell injection and a swallowed error', async () => {
  const report = await review([
    modified('src/orders.ts', orders, [4, 11]),
    added('config/deploy.env', `# deploy\nDEPLOY_TOKEN=${token}\n`),
    added('.github/workflows/greet.yml', workflow),
  ]);
  const verdict = verdictOf(report, at);
  expect(reviewVerdictSchema.parse(verdict)).toEqual(verdict);
  expect(verdict).toMatchObject({ verdict: 'REQUEST_CHANGES', passed: false, round: 2, files_reviewed: 3 });
  expect(verdict.summary).toBe(
    '3 critical findings in 3 files must be fixed first; 1 medium finding can wait.',
  );
  expect(
    verdict.findings.map(({ severity, category, file, line }) => [severity, category, `${file}:${line}`]),
  ).toEqual([
    ['critical', 'injection', '.github/workflows/greet.yml:9'],
    ['critical', 'secret', 'config/deploy.env:2'],
    ['critical', 'injection', 'src/orders.ts:4'],
    ['medium', 'error-handling', 'src/orders.ts:11'],
  ]);
  expect(verdict.findings.map(({ evidence }) => evidence)).toEqual([
    'echo "${{ github.event.issue.title }}"',
    'DEPLOY_TOKEN=[redacted: GitHub token]',
    "const rows = await db.query(`SELECT * FROM orders WHERE id = '${id}'`);",
    '} catch {}',
  ]);
  for (const { description, suggestion } of verdict.findings)
    expect(description && suggestion).toMatch(/\.$/);
});

test('the review ignores the same errors on lines that the pull request did not touch', async () => {
  const report = await review([modified('src/orders.ts', orders, [5])]);
  expect(verdictOf(report, at)).toMatchObject({ verdict: 'APPROVE', passed: true, findings: [] });
});

test('the review approves a clean change', async () => {
  const report = await review([added('src/add.ts', 'export const add = (a: number, b: number) => a + b;\n')]);
  expect(verdictOf(report, at)).toMatchObject({
    verdict: 'APPROVE',
    passed: true,
    summary: 'No findings in 1 file.',
  });
});

test('the review gives the same findings twice for the same change', async () => {
  const files = [modified('src/orders.ts', orders, [4, 11]), added('.github/workflows/greet.yml', workflow)];
  expect((await review(files)).findings).toEqual((await review([...files].reverse())).findings);
});
