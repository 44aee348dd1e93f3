import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReviewVerdict } from '../../src/domain/outcome/review-verdict.ts';
import { isSandboxAvailable } from '../../src/skills/kinds/agent/sandbox.ts';
import { countingLedger, fakeAgents, KEY } from '../skills/kinds/agent/support.ts';
import { DESCRIBED_CHAIN } from '../support/described-chain.ts';
import { REPO } from '../support/harness.ts';
import { message, startStubResponses } from '../support/model/responses.ts';
import { CHAINS, type Scene, SETTINGS, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const startScene = scenes();
const codex = fakeAgents();
let stub: Awaited<ReturnType<typeof startStubResponses>>;
beforeAll(async () => {
  stub = await startStubResponses();
  stub.answers(message('the model said so'));
});
afterAll(() => stub.stop());

const FILES = {
  [SETTINGS]: 'chains: [pr-review-chain]\n',
  [`${CHAINS}/pr-review-chain.yaml`]: DESCRIBED_CHAIN,
};
const GREETING = { 'src/greet.ts': "export const greeting = 'hello';\n" };

async function stepsOf(scene: Scene): Promise<Record<string, string>> {
  const [run] = await scene.runs('pr-review-chain');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return Object.fromEntries(state?.invocations.map(({ stepId, status }) => [stepId, status]) ?? []);
}

async function review(scene: Scene): Promise<ReviewVerdict | undefined> {
  const [run] = await scene.runs('pr-review-chain');
  const outcome = (await scene.app.storage.read.runs.load(run?.id ?? ''))?.invocations[0]?.outcome;
  return outcome?.outcome_kind === 'review_verdict' ? outcome : undefined;
}

async function ci(scene: Scene, sha: string, conclusion: 'success' | 'failure'): Promise<void> {
  await scene.github.reportCheck(REPO, sha, { name: 'test', status: 'completed', conclusion });
  await scene.advance(60_000);
}

const questions = (scene: Scene, number: number) =>
  scene.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));

const merges = ({ github }: Scene) =>
  github.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/merge'));

/** Comments that are neither the status nor a question. */
const told = (scene: Scene, number: number) =>
  scene.github
    .comments(REPO, number)
    .map(({ body }) => body)
    .filter((body) => !/countersign:(status|approval)/.test(body));

async function react(scene: Scene, number: number, reaction: 'rocket' | '-1'): Promise<void> {
  await scene.github.react(REPO, questions(scene, number)[0]?.id ?? 0, 'mia', reaction);
  await scene.advance(10_000);
}

test('the described chain asks after an approval and a passed CI, and squashes once a maintainer countersigns', async () => {
  const scene = await startScene(FILES);
  const { number, headSha } = await scene.open({ files: GREETING });
  expect(questions(scene, number)).toEqual([]);
  await ci(scene, headSha, 'success');
  expect(questions(scene, number)).toHaveLength(1);
  expect(merges(scene)).toEqual([]);
  await react(scene, number, 'rocket');
  expect(merges(scene)).toHaveLength(1);
  expect(scene.github.pullRequest(REPO, number)).toMatchObject({ merged: true, mergeMethod: 'squash' });
  expect(await stepsOf(scene)).toEqual({
    'codex-pr-review': 'completed',
    ci: 'completed',
    'gh-merge': 'completed',
    'gh-comment': 'skipped',
  });
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / pr-review-chain': 'success' });
});

test('the described chain neither asks nor comments if CI fails', { tags: 'slow' }, async () => {
  const scene = await startScene(FILES);
  const { number, headSha } = await scene.open({ files: GREETING });
  await ci(scene, headSha, 'failure');
  expect(await stepsOf(scene)).toEqual({
    'codex-pr-review': 'completed',
    ci: 'completed',
    'gh-merge': 'skipped',
    'gh-comment': 'skipped',
  });
  expect({ asked: questions(scene, number), told: told(scene, number) }).toEqual({ asked: [], told: [] });
  expect(scene.github.pullRequest(REPO, number)).toMatchObject({ merged: false });
});

test('the described chain comments with the summary if the review requests changes, and does not wait for CI', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(FILES);
  const { number } = await scene.open({
    files: { 'src/run.ts': 'export const run = (code: string) => eval(code);\n' },
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(await stepsOf(scene)).toEqual({
    'codex-pr-review': 'completed',
    ci: 'skipped',
    'gh-merge': 'skipped',
    'gh-comment': 'completed',
  });
  const { summary } = (await review(scene)) ?? {};
  expect(summary).toBeTruthy();
  expect(told(scene, number)).toEqual([expect.stringContaining(summary ?? 'no summary')]);
  expect(questions(scene, number)).toEqual([]);
});

test('the described chain never merges while nobody countersigns, and a rejection ends it', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(FILES);
  const { number, headSha } = await scene.open({ files: GREETING });
  await ci(scene, headSha, 'success');
  await scene.advance(600_000);
  expect(await stepsOf(scene)).toMatchObject({ 'gh-merge': 'waiting_approval', 'gh-comment': 'pending' });
  await react(scene, number, '-1');
  expect(await stepsOf(scene)).toMatchObject({ 'gh-merge': 'failed', 'gh-comment': 'skipped' });
  expect({ calls: merges(scene), told: told(scene, number) }).toEqual({ calls: [], told: [] });
});

test('the verdict says that the built-in review made it if no agent is turned on, and the check run shows that', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(FILES);
  const { headSha } = await scene.open({ files: GREETING });
  const note =
    'Reviewed by the built-in review instead of Codex: the agent codex is not turned on here; whoever runs Countersign turns it on with COUNTERSIGN_AGENTS.';
  expect((await review(scene))?.notes).toContain(note);
  expect(scene.check(headSha, 'pr-review-chain')?.summary).toContain('instead of Codex');
});

/** Reviews as Codex would, and tells the arguments in its summary. */
const PROGRAM = `
import fs from 'node:fs';
const effort = process.argv.find((one) => one.startsWith('model_reasoning_effort'));
fs.writeFileSync('/tmp/answer.json', JSON.stringify({
  summary: fs.readdirSync('/work').join() + ' with ' + effort,
  verdict: 'REQUEST_CHANGES',
  findings: [{ severity: 'high', category: 'security', file: 'src/greet.ts', line: 1, description: 'It is bad.', suggestion: '' }],
}));
`;

async function withCodex(script: string, chain = DESCRIBED_CHAIN): Promise<Scene> {
  const name = { provider: 'openai', model: 'gpt-5-mini' } as const;
  return startScene(
    { ...FILES, [`${CHAINS}/pr-review-chain.yaml`]: chain },
    {
      agents: {
        agents: { codex: codex.program(script) },
        model: { name, apiKey: KEY, baseUrl: stub.url, ledger: countingLedger().ledger },
        gitAccess: async ({ repository }) => ({
          url: `https://git.example/${repository}.git`,
          token: 'ghs_x',
        }),
        async head(folder) {
          writeFileSync(join(folder, 'seen.txt'), 'x');
          return [];
        },
      },
    },
  );
}

const WITHOUT_SANDBOX = !(await isSandboxAvailable());

test.skipIf(WITHOUT_SANDBOX)(
  'Codex reviews a member’s head that a maintainer fires the described chain for, with the effort of the step',
  { tags: 'slow' },
  async () => {
    const scene = await withCodex(PROGRAM);
    const { number } = await scene.open({ files: GREETING });
    expect((await review(scene))?.notes?.[0]).toContain(
      'it needs elevated trust; this run has only standard',
    );
    await scene.say(number, 'mia', '/countersign fire pr-review-chain');
    await scene.advance(UPDATES_SHOWN_MS);
    expect(await review(scene)).toMatchObject({
      verdict: 'REQUEST_CHANGES',
      passed: false,
      summary: 'seen.txt with model_reasoning_effort="high"',
      notes: ['Reviewed by the agent Codex.'],
    });
    expect(told(scene, number)).toContainEqual(expect.stringContaining('seen.txt with'));
  },
);

const ASKING = DESCRIBED_CHAIN.replace('timeout: 30m', 'timeout: 2d, requires_approval: true');

test.skipIf(WITHOUT_SANDBOX)(
  'Codex reviews an outsider’s head only after a countersign for it, and a gate of such a step never runs it before',
  { tags: 'slow' },
  async () => {
    const gated = ASKING.replace(
      'timeout: 2d',
      'timeout: 2d, gates: { pre: [{ id: first, skill: codex-pr-review }] }',
    );
    const scene = await withCodex(PROGRAM, gated);
    const { number } = await scene.open({ author: 'otto', fork: 'otto/app', files: GREETING });
    await scene.advance(UPDATES_SHOWN_MS);
    expect(await review(scene)).toBeUndefined();
    expect(await stepsOf(scene)).toMatchObject({ 'codex-pr-review': 'waiting_approval' });
    await react(scene, number, 'rocket');
    expect((await review(scene))?.notes).toEqual(['Reviewed by the agent Codex.']);
  },
);

test.skipIf(WITHOUT_SANDBOX)(
  'a Codex that ends without an answer gives no verdict, and nothing replaces it',
  { tags: 'slow' },
  async () => {
    const scene = await withCodex('process.exit(3);', ASKING);
    const { number } = await scene.open({ files: GREETING });
    await react(scene, number, 'rocket');
    expect(await stepsOf(scene)).toMatchObject({ 'codex-pr-review': 'failed', 'gh-merge': 'skipped' });
  },
);
