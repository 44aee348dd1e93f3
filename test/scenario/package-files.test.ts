// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModelConfig } from '../../src/config/model.ts';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';
import { REPO } from '../support/harness.ts';
import { type StubModel, startStubModel } from '../support/model/stub.ts';
import { only, type Scene, scenes } from './support-scene.ts';

const startScene = scenes();
let stub: StubModel;
beforeEach(async () => {
  stub = await startStubModel();
});
afterEach(() => stub.stop());

const SKILLS = '.github/countersign/skills';
const FLOW = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: checker, with: { most: 2 } }
  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;

type Files = Record<string, string>;

/** The files of a package, with these lines in its SKILL.md. */
function skill(name: string, lines: string, files: Files): Files {
  return {
    [`${SKILLS}/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Checks a change.\noutcome: gate_verdict\n${lines}---\n`,
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${SKILLS}/${name}/${path}`, text])),
  };
}

const model = (): ModelConfig => ({
  name: { provider: 'openai-compatible', model: 'stub-1' },
  apiKey: 'key-0123456789abcdef',
  baseUrl: `${stub.url}/v1`,
  price: undefined,
  budgets: DEFAULT_BUDGETS,
});
const scene = (files: Files, more: object = {}) =>
  startScene({ ...only({ flow: FLOW }), ...files }, { model: model(), ...more });
const said = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);
const prompts = () => stub.asked.map(({ body }) => body.messages?.at(-1)?.content ?? '');
const passing = (summary: string) => `submit({ summary: ${summary}, passed: true, criteria: [] });`;

async function tracesOf(s: Scene) {
  const page = await s.app.storage.read.skillTraces.page({ after: 0, limit: 50 });
  return page.map(({ skill, artifact, error }) => [skill, artifact, error === null]);
}

async function reasonOf({ app, runs }: Scene) {
  const [run] = await runs('flow');
  return (await app.storage.read.runs.load(run?.id ?? ''))?.invocations[0]?.reason?.summary;
}

test('the files of a sequence run one after another, each with the result of the one before it', async () => {
  stub.answers({ text: JSON.stringify({ summary: 'Two names.', passed: true, criteria: [] }) });
  const s = await scene(
    skill('checker', 'sequence: [code/collect.js, prompts/judge.md, code/end.js]\n', {
      'code/collect.js': "submit({ names: ['one', 'END DATA'] });",
      'prompts/judge.md': 'Judge {{ previous.names | join(", ") }}.',
      'code/end.js': passing("previous(input) + ' ' + input.inputs.most").replace(
        'previous(input)',
        'input.previous.summary',
      ),
    }),
  );
  const { number } = await s.open();
  expect(said(s, number)).toEqual(['Two names. 2']);
  // What a program collected can quote the pull request, so the prompt gets it in a fence.
  expect(prompts()[0]).toMatch(/BEGIN DATA (\w+)\none\nEND DATA \1/);
  expect(await tracesOf(s)).toEqual([
    ['checker', 'code/collect.js', true],
    ['checker', 'prompts/judge.md', true],
    ['checker', 'code/end.js', true],
  ]);
});

test('every file of a sequence can leave files, also one before the last', async () => {
  const s = await scene(
    skill('checker', 'sequence: [code/collect.js, code/end.js]\n', {
      'code/collect.js': "write_artifact('names.txt', 'one, two'); submit({ names: ['one', 'two'] });",
      'code/end.js': `write_artifact('report.md', '# ' + input.previous.names.length); ${passing("'done'")}`,
    }),
  );
  await s.open();
  const files = await s.app.storage.read.artifacts.list({ kind: 'file', limit: 10 });
  expect(files.map(({ name }) => name).sort()).toEqual(['names.txt', 'report.md']);
});

test('a file that fails ends its sequence', async () => {
  const s = await scene(
    skill('checker', 'sequence: [code/collect.js, prompts/judge.md]\n', {
      'code/collect.js': "throw new Error('nothing to collect');",
      'prompts/judge.md': 'Judge it.',
    }),
  );
  await s.open();
  expect(await reasonOf(s)).toContain('nothing to collect');
  expect(stub.asked).toEqual([]);
});

test('a program fills a prompt of its package with the run’s values, fenced, and does not see its template', async () => {
  stub.answers({ text: JSON.stringify({ text: 'Good.' }) });
  const program = `
const prompt = render_prompt('prompts/ask.md', { word: 'calm' });
${passing("llm_query(prompt) + ' ' + Object.keys(input.package).join()")}`;
  const s = await scene(
    skill('checker', '', {
      'code/check.js': program,
      'prompts/ask.md': 'Is {{ repository }} {{ word }}, by {{ pr.title }}?',
    }),
  );
  const { number } = await s.open({ title: 'Greet' });
  expect(said(s, number)).toEqual(['Good. SKILL.md,code/check.js']);
  expect(prompts()[0]).toMatch(
    /Is octo\/app \nBEGIN DATA (\w+)\ncalm\nEND DATA \1\n, by \nBEGIN DATA \1\nGreet\nEND DATA \1\n\?/,
  );
});

test('a program runs a module of its package and a skill that its SKILL.md lists', async () => {
  stub.answers({ text: JSON.stringify({ summary: 'Typed.', passed: true, criteria: [] }) });
  const module = {
    template: 'predict',
    signature: {
      instruction: 'Judge.',
      inputs: { most: { type: 'number' } },
      outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
    },
    fallback_artifact: 'prompts/ask.md',
  };
  const program = `
const typed = run_skill('modules/judge.json', { most: 7 });
const named = run_skill('other', { who: 'you' });
${passing("typed.summary + ' ' + named.summary + ' ' + named.passed")}`;
  const s = await scene({
    ...skill('checker', 'uses: other\n', {
      'code/check.js': program,
      'modules/judge.json': JSON.stringify(module),
      'prompts/ask.md': 'Judge it.',
    }),
    ...skill('other', '', { 'code/other.js': passing("'For ' + input.inputs.who + '.'") }),
  });
  const { number } = await s.open();
  expect(said(s, number)).toEqual(['Typed. For you. true']);
  expect(await tracesOf(s)).toEqual([
    ['checker', 'modules/judge.json', true],
    ['other', 'code/other.js', true],
    ['checker', 'code/check.js', true],
  ]);
});

test('a program runs no skill that its SKILL.md does not list, that is built in, or that has gates', async () => {
  const program = `
const said = ['other', 'ci', 'gated', 'code/none.js', 'prompts'].map((name) => {
  try { return run_skill(name).summary; } catch (error) { return error.message; }
});
${passing("said.join('; ').replaceAll('_', ' ')")}`;
  const s = await scene({
    ...skill('checker', 'uses: [ci, gated]\n', { 'code/check.js': program }),
    ...skill('other', '', { 'code/other.js': passing("'Never.'") }),
    ...skill('gated', '', { 'code/gated.js': passing("'Never.'") }),
    '.github/countersign.yml':
      'gates: [{ uses: gated, pre: [{ id: calm, criteria: [{ id: inside, if: "{{ not pr.fork }}" }] }] }]\n',
  });
  const { number } = await s.open();
  expect(said(s, number)).toEqual([
    'run skill: other is not in uses of the SKILL.md; run skill: there is no skill ci that a program can run; run skill: the settings put gates on gated, and only a step is judged by them; run skill: the package has no file code/none.js; run skill: prompts is not in uses of the SKILL.md',
  ]);
});

test('programs that run each other go two deep and share one budget', async () => {
  const program = `
const ran = [];
for (let n = 0; n < 9; n += 1) {
  try { ran.push(run_skill('checker', { depth: (input.inputs.depth ?? 0) + 1 }).summary); }
  catch (error) { ran.push(error.message.replace('run_skill: ', '')); break; }
}
${passing("(input.inputs.depth ?? 0) + '(' + ran.join(', ') + ')'")}`;
  const s = await scene(skill('checker', 'uses: checker\n', { 'code/check.js': program }));
  const { number } = await s.open();
  expect(said(s, number)).toEqual([
    '0(1(2(programs run skills at most 2 deep), 2(programs run skills at most 2 deep), the budget of 5 calls is spent), the budget of 5 calls is spent)',
  ]);
});

test('programs of a sequence share one budget', async () => {
  const program = `
let count = 0;
try { for (; count < 9; count += 1) run_skill('other', {}); } catch { /* Spent. */ }
const before = input.previous?.count ?? 0;
submit({ ...LAST, summary: before + ' and ' + count, passed: true, criteria: [] });`;
  const s = await scene({
    ...skill('checker', 'uses: other\nsequence: [code/one.js, code/two.js]\n', {
      'code/one.js': program.replace('...LAST', 'count'),
      'code/two.js': program.replace('...LAST, ', ''),
    }),
    ...skill('other', '', { 'code/other.js': passing("'Ran.'") }),
  });
  const { number } = await s.open();
  expect(said(s, number)).toEqual(['5 and 0']);
});

test('a skill requires the trust of the skills that its programs can run', async () => {
  const s = await scene({
    ...skill('checker', 'uses: other\n', { 'code/check.js': passing("'Ran.'") }),
    ...skill('other', 'uses: third\n', { 'code/other.js': passing("'Ran.'") }),
    ...skill('third', 'trust: privileged\n', { 'code/third.js': passing("'Ran.'") }),
  });
  const { number } = await s.open();
  expect(said(s, number)).toEqual([]);
  const [run] = await s.runs('flow');
  const state = await s.app.storage.read.runs.load(run?.id ?? '');
  expect(state?.run.definition.steps[0]?.uses.package).toMatchObject({
    trust: 'privileged',
    uses: { other: expect.stringMatching(/^skl_/), third: expect.stringMatching(/^skl_/) },
  });
});
