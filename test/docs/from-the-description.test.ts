// @module-tag slow
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countersign } from '../entrypoints/cli/support.ts';
import { appEnvironment } from '../support/app-environment.ts';
import { DESCRIBED_CHAIN } from '../support/described-chain.ts';
import { type Harness, REPO, startHarness } from '../support/harness.ts';

const PAGE = readFileSync(new URL('../../docs/from-the-description.md', import.meta.url), 'utf8');
/** The last column of the table. */
const commands = [...PAGE.matchAll(/^\|.*\| `countersign ([^`]+)` \|$/gm)].map(([, line = '']) => line);

const FILES = {
  '.github/countersign.yml': 'chains: [pr-review-chain]\n',
  '.github/countersign/chains/pr-review-chain.yaml': DESCRIBED_CHAIN,
};

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
const ids: Record<string, string> = {};
let harness: Harness;
let env: Record<string, string>;

beforeAll(async () => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  harness = await startHarness({ files: FILES });
  const { github, app, config } = harness;
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greeting',
    title: 'Greet',
    files: { 'src/greet.ts': "export const greeting = 'hello';\n" },
  });
  await harness.settle();
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await harness.advance(60_000);
  const question = github.comments(REPO, number).find(({ body }) => body.includes('countersign:question'));
  await github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await harness.advance(30_000);
  expect(github.pullRequest(REPO, number).merged).toBe(true);

  const [run] = await app.storage.read.runs.list({ limit: 1 });
  const artifacts = await app.storage.read.artifacts.ofRun(run?.id ?? '');
  ids.RUN = run?.id ?? '';
  ids.ARTIFACT = artifacts.find(({ kind }) => kind === 'review_verdict')?.id ?? '';
  ids.LOG = artifacts.find(({ filePath }) => filePath !== null)?.id ?? '';
  ids.SESSION = artifacts.find(({ kind }) => kind === 'review_verdict')?.sessionId ?? '';
  const { databaseUrl, artifactsUrl } = config;
  env = appEnvironment(github, { databaseUrl, artifactsUrl });
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the page has a command for each row of its table', () => {
  const rows = PAGE.split('\n').filter((line) => line.startsWith('| '));
  expect(commands).toHaveLength(rows.length - 1);
});

test.each(commands)('`countersign %s` shows what the page says', async (line) => {
  const args = line.split(' ').map((word) => ids[word] ?? word);
  const { code, stdout, stderr } = await countersign(args, { cwd: folder, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toBe('');
});
