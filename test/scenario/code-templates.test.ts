import { expect, test } from 'vitest';
import type { ModelConfig } from '../../src/config/model.ts';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';
import { sandbox } from '../../src/sandbox/sandbox.ts';
import { codeSkill } from '../../src/skills/kinds/code/code-skill.ts';
import { type HarnessOptions, REPO } from '../support/harness.ts';
import { startStubModel } from '../support/model/stub.ts';
import { only, type Scene, scenes } from './support-scene.ts';
import { logOf } from './support-skills.ts';

const startScene = scenes();

const LONG = process.env.COUNTERSIGN_LONG === '1';
const SKILL = '.github/countersign/skills/checker';
const { network } = await sandbox();

/** A repository with a package of these files, and a chain that runs it and comments its outcome. */
function repository(outcome: string, artifacts: Record<string, string>): Record<string, string> {
  const flow = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: checker, with: { most: 2 } }
  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;
  const files = Object.entries(artifacts).map(([path, text]) => [`${SKILL}/${path}`, text]);
  return {
    ...only({ flow }),
    [`${SKILL}/SKILL.md`]: `---\nname: checker\ndescription: Checks a change.\noutcome: ${outcome}\n---\n`,
    ...Object.fromEntries(files),
  };
}

const said = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

async function outcomeOf(scene: Scene) {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return state?.invocations[0]?.outcome;
}

const GATE = `
const tested = input.files.some(({ path }) => path.startsWith('test/'));
print('looked at', input.files.length, 'files of', input.pr.title);
print('at most', input.inputs.most, 'of', input.state.frame.goal.split(':')[0]);
checkpoint({ tested });
submit({
  summary: tested ? 'There is a test.' : 'No test changes.',
  passed: tested,
  criteria: [{ id: 'test', description: 'A test changes.', passed: tested, evidence: input.files.map(({ path }) => path).join() }],
});
`;

const REVIEW = `
import re

findings = []
for hit in search('TODO'):
    findings.append({'severity': 'medium', 'category': 'style', 'file': hit['path'], 'line': hit['line'],
                     'description': re.sub(r'^[/ ]*', '', hit['text']), 'suggestion': ''})
index = get_file('src/index.ts')
history = get_history('src/index.ts')
print('index', len(index), 'commits', [commit['message'] for commit in history])
assert '+// TODO: count' in get_diff()
submit({
    'summary': f'{len(findings)} of {input["inputs"]["most"]} allowed',
    'verdict': 'APPROVE_WITH_SUGGESTIONS' if len(findings) <= input['inputs']['most'] else 'REQUEST_CHANGES',
    'findings': findings,
})
`;

import { eachFirstQuick } from '../support/each-first-quick.ts';

test('a JavaScript program judges a change, and what it printed and kept is in the log', {
  tags: 'slow',
}, async () => {
  const scene = await startScene(repository('gate_verdict', { 'code/check.js': GATE }));
  const { number, headSha } = await scene.open({ title: 'Greet', files: { 'test/a.test.ts': 'x\n' } });
  expect(said(scene, number)).toEqual(['There is a test.']);
  expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'success' });
  expect(await logOf(scene)).toBe(
    'looked at 1 files of Greet\nat most 2 of chain flow\ncheckpoint 1: {"tested":true}\n',
  );
});

test('a rejection by the program is the step’s verdict, with its evidence', { tags: 'slow' }, async () => {
  const scene = await startScene(repository('gate_verdict', { 'code/check.js': GATE }));
  await scene.open();
  expect(await outcomeOf(scene)).toMatchObject({
    outcome_kind: 'gate_verdict',
    passed: false,
    blocking_reason: 'No test changes.',
    criteria: [{ id: 'test', passed: false, evidence: 'docs/page.txt' }],
  });
});

test.skipIf(network === 'open')(
  'a Python program reviews files of the head, with the lines that the change adds',
  { tags: 'slow' },
  async () => {
    const scene = await startScene(repository('review_verdict', { 'code/check.py': REVIEW }));
    const { number, headSha } = await scene.open({
      files: { 'src/todo.ts': 'const a = 1;\n// TODO: count\n', 'src/index.ts': 'export const one = 2;\n' },
    });
    expect(await logOf(scene)).toMatch(/^index 22 commits \['.*', '.*'\]\n$/);
    expect(said(scene, number)).toEqual(['1 of 2 allowed']);
    expect(await outcomeOf(scene)).toMatchObject({
      head_sha: headSha,
      passed: true,
      files_reviewed: 2,
      findings: [{ rule: 'checker/check.py', file: 'src/todo.ts', line: 2, description: 'TODO: count' }],
    });
  },
);

const findings = (...list: object[]) =>
  `submit(${JSON.stringify({
    summary: 'Slow.',
    verdict: 'REQUEST_CHANGES',
    findings: list.map((more) => ({
      severity: 'high',
      category: 'performance',
      file: 'docs/page.txt',
      line: null,
      description: 'A request per row.',
      suggestion: null,
      ...more,
    })),
  })})`;

test('a finding can have any category, and neither a file nor a suggestion', { tags: 'slow' }, async () => {
  const program = findings({}, { category: 'Error handling' }, { category: 'ADR *consistency*', file: null });
  const scene = await startScene(repository('review_verdict', { 'code/check.js': program }));
  const { headSha } = await scene.open();
  expect(await outcomeOf(scene)).toMatchObject({
    findings: [
      { category: 'performance', file: 'docs/page.txt', suggestion: null },
      { category: 'error-handling' },
      { category: 'ADR *consistency*', file: null },
    ],
  });
  const check = scene.check(headSha, 'flow');
  expect(check?.summary).toContain('By kind: error-handling 1, performance 1, ADR \\*consistency\\* 1.');
  expect(check?.summary).toContain(
    '**high** · ADR \\*consistency\\* · the change as a whole<br>\n  A request per row.',
  );
  expect(check?.annotations.map(({ path, title }) => `${path} ${title}`)).toEqual([
    'docs/page.txt high: performance (checker/check.js)',
    'docs/page.txt high: error-handling (checker/check.js)',
  ]);
});

test('a condition can ask for findings of a category', { tags: 'slow' }, async () => {
  const program = findings({}, { file: null, category: 'testing' });
  const files = repository('review_verdict', { 'code/check.js': program });
  const flow = Object.keys(files).find((path) => path.endsWith('flow.yaml')) ?? '';
  const chain = (files[flow] ?? '').replace(
    'action: gh-comment,',
    `action: gh-comment, condition: "{{ steps.ask.outcome.findings | selectattr('category', 'equalto', 'performance') | list | length == 1 }}",`,
  );
  const scene = await startScene({ ...files, [flow]: chain });
  const { number } = await scene.open();
  expect(said(scene, number)).toEqual(['Slow.']);
});

test('a category with characters that cannot be seen is no result', { tags: 'slow' }, async () => {
  const program = findings({ category: 'per\u202eformance' });
  const scene = await startScene(repository('review_verdict', { 'code/check.js': program }));
  await scene.open();
  expect(await outcomeOf(scene)).toBeNull();
});

test('a package with a program and a prompt runs the program, which fills the prompt', {
  tags: 'slow',
}, async () => {
  const program = "submit({ summary: render_prompt('prompts/ask.md').trim(), passed: true, criteria: [] });";
  const files = { 'code/check.js': program, 'prompts/ask.md': 'Is it good?\n' };
  const scene = await startScene(repository('gate_verdict', files));
  const { number } = await scene.open();
  expect(said(scene, number)).toEqual(['Is it good?']);
});

test('a pull request’s version of a program is not run', { tags: 'slow' }, async () => {
  const scene = await startScene(repository('gate_verdict', { 'code/check.js': GATE }));
  const approving = "submit({ summary: 'All is well.', passed: true, criteria: [] });";
  const { number } = await scene.open({ files: { [`${SKILL}/code/check.js`]: approving } });
  expect(said(scene, number)).toEqual(['No test changes.']);
});

test('a program asks the model, and the log has the cost', { tags: 'slow' }, async () => {
  const stub = await startStubModel();
  stub.answers({ text: JSON.stringify({ text: 'They are good names.' }) });
  const model: ModelConfig = {
    name: { provider: 'openai-compatible', model: 'stub-1' },
    apiKey: 'key-0123456789abcdef',
    baseUrl: `${stub.url}/v1`,
    price: undefined,
    budgets: DEFAULT_BUDGETS,
  };
  const program = `
const [first, second] = llm_query_batched(['a?', 'b?']);
submit({ summary: first + ' ' + (first === second), passed: true, criteria: [] });
`;
  const scene = await startScene(repository('gate_verdict', { 'code/check.js': program }), { model });
  const { number } = await scene.open();
  await stub.stop();
  expect(said(scene, number)).toEqual(['They are good names. true']);
  expect(stub.asked.map(({ body }) => body.messages?.at(-1)?.content.slice(0, 2)).sort()).toEqual([
    'a?',
    'b?',
  ]);
  expect(await logOf(scene)).toMatch(/^(openai-compatible\/stub-1: 1 call, 120 tokens in.*\n){2}$/);
});

test('a failure of GitHub while a program runs is not the program’s verdict, even if it catches the error', {
  tags: 'slow',
}, async () => {
  const program = `
let text = 'nothing';
try { text = get_file('README.md'); } catch {}
submit({ summary: text, passed: true, criteria: [] });
`;
  const scene = await startScene(repository('gate_verdict', { 'code/check.js': program }));
  scene.github.fail(({ path }) => path.includes('/contents/README.md'), { status: 503 }, 4);
  const { number } = await scene.open();
  await scene.advance(600_000);
  expect(said(scene, number)).toEqual(['\\# App']);
});

/** Too little for a program that ends by itself, on a busy machine. */
const limited: HarnessOptions = {
  artifactHandlers: [codeSkill({ model: undefined, limits: { timeoutMs: 700 } })],
};

/** The end of a program; test/skills/kinds/code/template.test.ts has every form without the app around it. */
const failures = [
  ['loops', 'for (;;);', 'it took longer than 700 ms'],
  ['submits no verdict', "submit({ passed: 'yes' });", 'no gate\\_verdict: summary: is missing'],
  ['asks a model that does not exist', "llm_query('good?');", 'set COUNTERSIGN\\_MODEL'],
  ...(LONG
    ? ([
        ['never submits', 'get_diff();', 'it ended without a result'],
        ['throws', "throw new Error('no luck');", 'it threw an error: Error: no luck'],
      ] as const)
    : []),
] as const;

eachFirstQuick(failures)(
  'a program that %s fails its step with that sentence, and no later step runs',
  async (does, source, words) => {
    const options = does === 'loops' ? limited : {};
    const scene = await startScene(repository('gate_verdict', { 'code/check.js': source }), options);
    const { number, headSha } = await scene.open();
    await scene.advance(600_000);
    expect(scene.check(headSha, 'flow')).toMatchObject({
      conclusion: 'failure',
      summary: expect.stringContaining(words),
    });
    expect(said(scene, number)).toEqual([]);
  },
);
