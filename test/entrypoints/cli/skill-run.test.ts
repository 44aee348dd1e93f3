import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { type Harness, REPO, startHarness } from '../../support/harness.ts';
import { type StubModel, startStubModel } from '../../support/model/stub.ts';
import { temporaryFolders } from '../../support/temp.ts';
import { answered } from './support.ts';

const newFolder = temporaryFolders();
const SKILL = '.github/countersign/skills/tested';
const GATE = `
const tests = input.files.filter(({ path }) => path.startsWith('test/'));
print(input.files.map(({ path, status }) => path + ' ' + status).join(), input.inputs);
const leak = get_file('leak');
submit({
  summary: leak === null ? input.repository + '#' + input.pull_request : leak,
  passed: tests.length > 0,
  criteria: [
    { id: 'test', description: 'A test changes.', passed: tests.length > 0, evidence: get_file('test/é.js') ?? 'none' },
    { id: 'calm', description: 'Nothing is on fire.', passed: true, evidence: '' },
  ],
});
`;
const skillFiles = (artifact: string, text: string) => ({
  [`${SKILL}/SKILL.md`]: `---\nname: tested\ndescription: Wants tests.\noutcome: gate_verdict\nartifacts: { ${artifact}: {} }\n---\n`,
  [`${SKILL}/${artifact}`]: text,
});

const MODULE = {
  template: 'predict',
  signature: {
    instruction: 'Judge.',
    inputs: { title: { type: 'string' } },
    outputs: { summary: { type: 'string' }, passed: { type: 'boolean' }, criteria: { type: 'json' } },
  },
  fallback_artifact: 'code/count.js',
};

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A folder with a skill, and the output of `git diff` for a change in it. */
function changed(artifact: string, text: string, change: Record<string, string>): string {
  const folder = newFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
  write(folder, { ...skillFiles(artifact, text), 'src/a.js': 'one\n' });
  symlinkSync('/etc/hostname', join(folder, 'leak'));
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'before');
  write(folder, change);
  git('add', '-A');
  writeFileSync(join(folder, 'change.diff'), git('diff', '--cached'));
  return folder;
}

async function run(cwd: string, args: string[], env: Record<string, string> = {}) {
  return answered(['skill', 'run', ...args], {
    cwd,
    clock: new ManualClock('2026-03-02T09:00:00.000Z'),
    tools: createTools(env),
  });
}

describe('skill run on a local change', () => {
  it('prints the skill’s outcome, with access to files of the working folder only', {
    tags: 'slow',
  }, async () => {
    const change = { 'test/é.js': 'good\n', 'src/a.js': 'two\n' };
    const cwd = changed('code/check.js', GATE, change);
    expect(await run(cwd, ['tested', '--diff', 'change.diff', '--input', 'most=2'])).toEqual({
      code: 0,
      out: [
        'gate_verdict: passed. local/local#1',
        '- met test: A test changes. (good )',
        '- met calm: Nothing is on fire.',
        '',
        'It said:',
        'src/a.js modified,test/é.js added {"most":"2"}',
        '',
      ].join('\n'),
      err: '',
    });
  });

  it('also runs built-in skills, and ends with 1 if the outcome does not pass', {
    tags: 'slow',
  }, async () => {
    const cwd = changed('code/check.js', GATE, { 'src/a.js': 'eval(location.hash);\n' });
    const { code, out } = await run(cwd, ['pr-review', '--diff', 'change.diff']);
    expect(code).toBe(1);
    expect(out).toMatch(/^review_verdict: not passed\. [\s\S]*- high src\/a\.js:1: /);
  });

  it('says why there is no outcome', async () => {
    const cwd = changed('prompts/ask.md', 'Judge.\n', { 'src/a.js': 'two\n' });
    const { code, out } = await run(cwd, ['tested', '--diff', 'change.diff']);
    expect({ code, out }).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^The skill tested has no outcome: /),
    });
  });

  it('uses the program that a module falls back to where there is no model', { tags: 'slow' }, async () => {
    const cwd = changed('modules/judge.json', JSON.stringify(MODULE), { 'src/a.js': 'two\n' });
    write(cwd, {
      [`${SKILL}/code/count.js`]: "submit({ summary: 'Counted.', passed: true, criteria: [] });",
    });
    expect(await run(cwd, ['tested', '--diff', 'change.diff'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^gate_verdict: passed\. Counted\.\n[\s\S]*modules\/judge\.json: no language model is configured, so code\/count\.js is used instead\./,
      ),
    });
  });

  it('checks the outcome against the skill’s assertions', { tags: 'slow' }, async () => {
    const cwd = changed('code/check.js', GATE, { 'test/a.js': 'good\n' });
    const assert = '[{ kind: pattern, of: summary, contains: shop }]';
    const file = join(cwd, SKILL, 'SKILL.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('.js: {}', `.js: { assert: ${assert} }`));
    const { code, out } = await run(cwd, ['tested', '--diff', 'change.diff']);
    expect({ code, out }).toMatchObject({
      code: 1,
      out: expect.stringContaining('code/check.js breaks assertion 1'),
    });
  });

  it.each([
    [[], 2, 'either --pr'],
    [['--diff', 'a', '--pr', 'acme/shop#1'], 2, 'either --pr'],
    [['--pr', 'acme/shop'], 2, 'owner/name#number'],
    [['--diff', 'nowhere'], 1, 'nowhere'],
    [['--diff', 'src/a.js'], 1, 'is not what git diff writes'],
  ])('refuses %j', async (args, code, because) => {
    const cwd = newFolder();
    write(cwd, { ...skillFiles('code/check.js', GATE), 'src/a.js': 'two\n' });
    const ended = await run(cwd, ['tested', ...args]);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.err).toContain(because);
  });
});

describe('skill run on a pull request', () => {
  let harness: Harness;
  let model: StubModel;
  let opened: { number: number };
  beforeAll(async () => {
    model = await startStubModel();
    harness = await startHarness({
      files: {
        '.github/countersign/chains/flow.yaml':
          'name: flow\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [seen] } }]\n',
      },
    });
    opened = await harness.github.openPullRequest({
      repo: REPO,
      author: 'ada',
      branch: 'own',
      title: 'Change',
      files: { 'test/a.js': 'x\n' },
    });
    await harness.settle();
  });
  afterAll(async () => {
    await harness.stop();
    await model.stop();
  });

  const environment = () => ({
    APP_ID: String(harness.config.appId),
    PRIVATE_KEY: harness.config.privateKey,
    WEBHOOK_SECRET: harness.config.webhookSecret,
    GITHUB_API_URL: harness.config.githubApiUrl,
    DATABASE_URL: harness.config.databaseUrl,
  });

  it('reads it from GitHub, asks the model within the budgets, and writes nothing there', {
    tags: 'slow',
  }, async () => {
    const cwd = newFolder();
    write(cwd, skillFiles('prompts/ask.md', 'Judge {{ diff }} of {{ pr.title }}.\n'));
    model.answers({ text: JSON.stringify({ summary: 'fine', passed: true, criteria: [] }) });
    const comments = harness.github.comments(REPO, opened.number).length;
    const runs = (await harness.app.storage.read.runs.list({ limit: 10 })).length;
    const ended = await run(cwd, ['tested', '--pr', `${REPO}#${opened.number}`], {
      ...environment(),
      COUNTERSIGN_MODEL: 'openai-compatible/m',
      COUNTERSIGN_MODEL_BASE_URL: `${model.url}/v1`,
    });
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/^gate_verdict: passed\. fine/) });
    expect(model.asked[0]?.text).toContain('test/a.js');
    await harness.settle();
    expect(harness.github.comments(REPO, opened.number)).toHaveLength(comments);
    expect(await harness.app.storage.read.runs.list({ limit: 10 })).toHaveLength(runs);
    const storage = await openStorage(harness.config.databaseUrl, { clock: harness.clock });
    const spent = await storage.transaction((tx) => tx.modelCalls.spent({ since: new Date(0) }));
    await storage.close();
    expect(spent.tokens).toBeGreaterThan(0);
  });

  it('asks a module', { tags: 'slow' }, async () => {
    const cwd = newFolder();
    write(cwd, {
      ...skillFiles('modules/judge.json', JSON.stringify(MODULE)),
      [`${SKILL}/code/count.js`]: 'throw 1;',
    });
    model.answers({ text: JSON.stringify({ summary: 'Typed.', passed: true, criteria: [] }) });
    const ended = await run(cwd, ['tested', '--pr', `${REPO}#${opened.number}`], {
      ...environment(),
      COUNTERSIGN_MODEL: 'openai-compatible/m',
      COUNTERSIGN_MODEL_BASE_URL: `${model.url}/v1`,
    });
    expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/^gate_verdict: passed\. Typed\./) });
  });
});
