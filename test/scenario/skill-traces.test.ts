// @module-tag slow
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createTools } from '../../src/cli-tools.ts';
import { openBlobs } from '../../src/composition/blobs.ts';
import { systemClock } from '../../src/core/clock.ts';
import { runCli } from '../../src/entrypoints/cli/command-line.ts';
import { createSidecar } from '../../src/skills/kinds/module/sidecar.ts';
import { REPO } from '../support/harness.ts';
import { type StubModel, startStubModel } from '../support/model/stub.ts';
import { only, type Scene, scenes } from './support-scene.ts';
import { echo, gate, modelAt, SKILLS, skill } from './support-skills.ts';

const startScene = scenes();
const SECRET = `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8`;

let stub: StubModel;
beforeEach(async () => {
  stub = await startStubModel();
});
afterEach(() => stub.stop());

const FLOW = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: naming }
  - { id: go, action: gh-comment, requires_approval: true, with: { body: "said: {{ steps.ask.outcome.summary }}" } }
`;
const ASSERT =
  'artifacts: { prompts/ask.md: { assert: [{ kind: length, of: summary, max_characters: 40, on_failure: warn }] } }';

const GATE_OUTPUTS = { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } };

async function tracesOf(scene: Scene, chain = 'flow') {
  const [run] = await scene.runs(chain);
  return scene.app.storage.read.skillTraces.ofRun(run?.id ?? '');
}

async function textAt(scene: Scene, path: string | null): Promise<string> {
  const bytes = await openBlobs(scene.config.artifactsUrl, undefined).get(path ?? '');
  return new TextDecoder().decode(bytes);
}

/** The command line on the scene's own database and store. */
async function countersign(scene: Scene, cwd: string, ...args: string[]): Promise<Record<string, unknown>> {
  let out = '';
  const model = {
    COUNTERSIGN_MODEL: 'openai-compatible/stub-1',
    COUNTERSIGN_MODEL_BASE_URL: `${stub.url}/v1`,
  };
  const { databaseUrl, artifactsUrl } = scene.config;
  await runCli([...args, '--json'], {
    cwd,
    clock: scene.clock,
    tools: createTools({ DATABASE_URL: databaseUrl, ARTIFACTS_URL: artifactsUrl, ...model }),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      out += text;
    },
  });
  return JSON.parse(out);
}

async function approve({ github, advance }: Scene, number: number): Promise<void> {
  const question = github.comments(REPO, number).find(({ body }) => body.includes('countersign:question'));
  await github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await advance(6_000);
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('a prompt leaves a trace of its text, the answer, the cost and the assertions', async () => {
  const said = JSON.stringify({
    summary: `The names are good, but for ${SECRET}.`,
    passed: true,
    criteria: [],
  });
  stub.answers({ text: said });
  const scene = await startScene(
    { ...only({ flow: FLOW }), ...skill('naming', ASSERT, 'Judge. Title: {{ pr.title }}') },
    { model: modelAt(stub, { price: { input: 1, output: 2 } }) },
  );
  await scene.open({ title: 'Rename x' });
  const [trace, ...more] = await tracesOf(scene);
  expect(more).toEqual([]);
  expect(trace).toMatchObject({
    of: { runId: 'run_1', sessionId: 'ses_1' },
    skill: 'naming',
    artifact: 'prompts/ask.md',
    kind: 'prompt_template',
    error: null,
    tokens: { input: 120, output: 30 },
    model: 'openai-compatible/stub-1',
    cost: 180,
    assertionsRun: 1,
    assertionsPassed: 0,
  });
  expect(await textAt(scene, trace?.inputPath ?? '')).toMatch(
    /^Judge. Title: \nBEGIN DATA (\w+)\nRename x\nEND DATA \1/,
  );
  const output = await textAt(scene, trace?.outputPath ?? '');
  expect(output).toContain('The names are good, but for [redacted');
  expect(output).not.toContain(SECRET);
  const outcome = (await scene.app.storage.read.runs.load('run_1'))?.invocations[0]?.outcome;
  expect(outcome?.outcome_kind === 'gate_verdict' && outcome.notes).toEqual([
    expect.stringMatching(/^prompts\/ask.md: assertion 1 \(length of summary\) does not hold/),
  ]);
});

test('an invalid answer leaves its text, and why it is invalid', async () => {
  stub.answers({ text: 'I approve.' });
  const scene = await startScene(
    { ...only({ flow: FLOW }), ...skill('naming', '', 'Judge.') },
    { model: modelAt(stub) },
  );
  await scene.open();
  const [trace] = await tracesOf(scene);
  expect(trace?.error).toBe('The answer is not one JSON value.');
  expect(await textAt(scene, trace?.outputPath ?? '')).toBe('I approve.');
  expect(trace?.tokens).toEqual({ input: 240, output: 60 });
});

test('an answer that breaks a hard assertion is no verdict, whichever artifact asserts it, and each execution has its trace', async () => {
  const lacks = 'assert: [{ kind: pattern, of: summary, lacks: maybe }]';
  const asking = (name: string) =>
    `name: ${name}\ntrigger: { event: pr.opened }\nsteps: [{ skill: ${name} }]\n`;
  const skillMd = (name: string, outcome: string, artifacts: string) =>
    `---\nname: ${name}\ndescription: Looks.\noutcome: ${outcome}\nartifacts: { ${artifacts} }\n---\n`;
  const module = {
    template: 'predict',
    signature: { instruction: 'Judge.', inputs: { title: { type: 'string' } }, outputs: GATE_OUTPUTS },
    fallback_artifact: 'prompts/ask.md',
  };
  const unanswered = 'assert: [{ kind: pattern, of: summary, contains: never-there }]';
  const sidecar = createSidecar({
    clock: systemClock,
    command: async () => ({ command: '/nowhere/node', args: [] }),
  });
  stub.answers({ text: JSON.stringify({ summary: 'Well, maybe.', passed: true, criteria: [] }) });
  const scene = await startScene(
    {
      ...only({ plain: asking('plain'), falls: asking('falls'), pair: asking('pair') }),
      ...skill('plain', `artifacts: { prompts/ask.md: { ${lacks} } }`, 'Judge plainly.'),
      [`${SKILLS}/falls/SKILL.md`]: skillMd(
        'falls',
        'gate_verdict',
        `modules/judge.json: {}, prompts/ask.md: { ${lacks} }`,
      ),
      [`${SKILLS}/falls/modules/judge.json`]: JSON.stringify(module),
      [`${SKILLS}/falls/prompts/ask.md`]: 'Judge instead.',
      [`${SKILLS}/pair/SKILL.md`]: skillMd(
        'pair',
        'review_verdict',
        `analyzers/a.yml: {}, analyzers/b.yml: { ${unanswered} }`,
      ),
      [`${SKILLS}/pair/analyzers/a.yml`]: 'analyzer: doc-links\n',
      [`${SKILLS}/pair/analyzers/b.yml`]: 'analyzer: sql-migrations\n',
    },
    { model: modelAt(stub), sidecar },
  );
  const { headSha } = await scene.open();
  expect(scene.verdicts(headSha)).toEqual({
    'countersign / plain': 'failure',
    'countersign / falls': 'failure',
    'countersign / pair': 'failure',
  });
  const rows = async (chain: string) =>
    (await tracesOf(scene, chain)).map(({ artifact, tokens, assertionsRun, error }) => [
      artifact,
      tokens?.input,
      assertionsRun,
      error,
    ]);
  const broken = (artifact: string) => expect.stringContaining(`${artifact} breaks assertion 1`);
  expect(await rows('plain')).toEqual([['prompts/ask.md', 120, 1, broken('prompts/ask.md')]]);
  expect(await rows('falls')).toEqual([
    ['prompts/ask.md', 120, 1, broken('prompts/ask.md')],
    ['modules/judge.json', 0, 0, broken('prompts/ask.md')],
  ]);
  expect(await rows('pair')).toEqual([
    ['analyzers/a.yml', 0, 0, null],
    ['analyzers/b.yml', 0, 1, broken('analyzers/b.yml')],
  ]);
});

test('a program leaves a trace of its questions to a model and its submission', async () => {
  stub.answers({ text: '{"text":"It counts."}' });
  const files = skill('naming', '');
  const program = 'submit({ summary: llm_query("What does it do?"), passed: true, criteria: [] });\n';
  const scene = await startScene(
    {
      ...only({ flow: FLOW }),
      '.github/countersign/skills/naming/SKILL.md': files['.github/countersign/skills/naming/SKILL.md'] ?? '',
      '.github/countersign/skills/naming/code/count.js': program,
    },
    { model: modelAt(stub) },
  );
  await scene.open();
  const [trace] = await tracesOf(scene);
  expect(trace).toMatchObject({ artifact: 'code/count.js', kind: 'code_template', error: null });
  expect(trace?.tokens).toEqual({ input: 120, output: 30 });
  expect(await textAt(scene, trace?.inputPath ?? '')).toContain('What does it do?');
  expect(await textAt(scene, trace?.outputPath ?? '')).toContain('"summary":"It counts."');
});

test('a skill that a question called leaves a trace of the call', async () => {
  const scene = await startScene(
    { ...only({ flow: FLOW }), ...skill('spelling', 'trigger_phrases: [spelled]') },
    { artifactHandlers: [echo] },
  );
  const { number } = await scene.open();
  await scene.say(number, 'will', '/countersign ask is it spelled well?');
  const [trace] = await scene.app.storage.read.skillTraces.page({ after: 0, limit: 5, skill: 'spelling' });
  expect(trace).toMatchObject({ of: { callId: 'ask_1' }, model: null, tokens: { input: 0, output: 0 } });
  expect(await textAt(scene, trace?.inputPath ?? '')).toBe('{"question":"is it spelled well?"}');
});

test('traces are exported with their results and people’s judgement, and are deleted with their run', async () => {
  const scene = await startScene(
    { ...only({ flow: FLOW }), ...skill('naming', '', gate(true, 'Good names.')) },
    { artifactHandlers: [echo] },
  );
  const { number } = await scene.open();
  await approve(scene, number);
  const cwd = newFolder();
  const line = ['skill', 'traces', 'export'];
  expect(await countersign(scene, cwd, ...line, 'all.jsonl', '--skill', 'naming', '--since', '1h')).toEqual({
    file: 'all.jsonl',
    traces: 1,
  });
  const [example, ...rest] = readFileSync(join(cwd, 'all.jsonl'), 'utf8').split('\n');
  expect(rest).toEqual(['']);
  expect(JSON.parse(example ?? '')).toMatchObject({
    skill: 'naming',
    input: '{}',
    output: JSON.stringify({ criteria: [], gate_passed: true, passed: true, summary: 'Good names.' }),
    outcome: { outcome_kind: 'gate_verdict', summary: 'Good names.' },
    people_said: 'approved',
  });
  expect(await countersign(scene, cwd, ...line, 'none.jsonl', '--skill', 'other')).toMatchObject({
    traces: 0,
  });
  expect(await countersign(scene, cwd, 'artifact', 'check')).toMatchObject({
    too_young: 0,
    blobs_without_rows: [],
    rows_without_blobs: [],
  });
  await scene.advance(3_600_000);
  await countersign(scene, cwd, 'artifact', 'prune', '--older-than', '30m');
  expect(await tracesOf(scene)).toEqual([]);
  expect(await countersign(scene, cwd, 'artifact', 'check')).toMatchObject({ blobs: 0, rows: 0 });
});

test('approved answers of a module are exported as examples that it can be optimized with', async () => {
  const module = {
    template: 'predict',
    signature: { instruction: 'Judge.', inputs: { title: { type: 'string' } }, outputs: GATE_OUTPUTS },
    fallback_artifact: 'prompts/judge.md',
  };
  const skillFiles = {
    [`${SKILLS}/naming/SKILL.md`]: '---\nname: naming\ndescription: Looks.\noutcome: gate_verdict\n---\n',
    [`${SKILLS}/naming/prompts/judge.md`]: 'Judge it.',
    [`${SKILLS}/naming/modules/judge.json`]: JSON.stringify(module),
  };
  stub.answers({ text: JSON.stringify({ summary: 'Fine.', passed: true, criteria: [] }) });
  const scene = await startScene({ ...only({ flow: FLOW }), ...skillFiles }, { model: modelAt(stub) });
  const approved = await scene.open({ title: `Rename "x" for ${SECRET}`, branch: 'approved' });
  await approve(scene, approved.number);
  await scene.open({ title: 'Nobody answers', branch: 'open' });
  const cwd = newFolder();
  for (const [path, text] of Object.entries(skillFiles)) {
    mkdirSync(join(cwd, dirname(path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const line = ['skill', 'traces', 'export', 'examples.jsonl', '--for-optimize'];
  expect(await countersign(scene, cwd, ...line, '--skill', 'naming')).toMatchObject({ traces: 1 });
  const example = readFileSync(join(cwd, 'examples.jsonl'), 'utf8');
  expect(JSON.parse(example)).toEqual({
    input: { title: expect.stringMatching(/^Rename "x" for \[redacted/) },
    expected: { passed: true },
  });
  // A team would have approved more of them; six are the fewest that can be divided.
  const six = Array.from({ length: 6 }, (_, n) => example.replace('Rename', `Rename ${n}`)).join('');
  writeFileSync(join(cwd, 'examples.jsonl'), six);
  expect(
    await countersign(scene, cwd, 'skill', 'optimize', 'naming', '--examples', 'examples.jsonl'),
  ).toMatchObject({ before: 1, held_out: 2 });
  const other = JSON.stringify(module).replaceAll('title', 'body');
  writeFileSync(join(cwd, SKILLS, 'naming/modules/judge.json'), other);
  const stale = line.with(3, 'stale.jsonl');
  expect(await countersign(scene, cwd, ...stale, '--skill', 'naming')).toMatchObject({ traces: 0 });
});

test('skill trace shows what each file of a run was given and returned', async () => {
  stub.answers({ text: JSON.stringify({ summary: 'Fine.', passed: true, criteria: [] }) });
  const scene = await startScene(
    {
      ...only({ flow: FLOW }),
      ...skill('naming', 'outcome: gate_verdict\n', 'Judge {{ repository }}.'),
    },
    { model: modelAt(stub) },
  );
  await scene.open();
  const [run] = await scene.runs('flow');
  const show = (...more: string[]) =>
    countersign(scene, newFolder(), 'skill', 'trace', run?.id ?? '', ...more);
  const facts = { skill: 'naming', artifact: 'prompts/ask.md', tokens_in: 120, error: null };
  expect(await show()).toMatchObject([facts]);
  expect((await show()) as unknown).not.toMatchObject([{ input: expect.anything() }]);
  expect(await show('--texts')).toMatchObject([
    { ...facts, input: 'Judge octo/app.', output: expect.stringContaining('Fine.') },
  ]);
  expect(await show('--skill', 'other')).toEqual([]);
});
