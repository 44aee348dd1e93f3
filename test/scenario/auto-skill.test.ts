import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import { GitHubError } from '../../src/ports/github.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { type StubModel, startStubModel } from '../support/model/stub.ts';
import { only, type Scene, scenes } from './support-scene.ts';
import { echo, gate, modelAt, skill } from './support-skills.ts';

const startScene = scenes();

/** A chain that leaves its skill open and comments its outcome. */
const auto = (more = '', id = 'ask') => `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ${id}, skill: auto${more} }
  - { action: gh-comment, with: { body: "said: {{ steps.${id}.outcome.summary }}" } }
`;

const NAMING = skill('naming', 'paths: ["src/**"]');
const MIGRATIONS = skill('migrations', 'paths: ["db/**"]\ntrigger_phrases: ["database schema"]');

const start = (chain: string, files: Record<string, string>) =>
  startScene({ ...only({ flow: chain }), ...files }, { artifactHandlers: [echo] });

const said = (scene: Scene, number: number) =>
  scene.github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

async function stateOf(scene: Scene) {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  if (!state) throw new Error('the chain did not run');
  return state;
}

/** Why the chain’s first step failed. */
const failure = async (scene: Scene) => (await stateOf(scene)).invocations[0]?.reason?.summary ?? '';

describe('a step that leaves its skill open, without a model,', () => {
  test('runs the skill for the files that change, and why names it', { tags: 'slow' }, async () => {
    const scene = await start(auto(), { ...NAMING, ...MIGRATIONS });
    const { number } = await scene.open({ files: { 'db/1.sql': 'select 1;\n' } });
    expect(said(scene, number)).toEqual(['migrations says yes']);
    const state = await stateOf(scene);
    expect(state.invocations[0]?.choice).toMatchObject({
      skill: 'migrations',
      artifact: 'prompts/ask.md',
      by: 'match',
      because: expect.stringContaining('path db/**'),
    });
    expect(explainText(explain(state, null))).toContain(
      '✔ ask does prompts/ask.md of the skill migrations, which fits best: path db/**',
    );
  });

  test('runs the skill for its question', { tags: 'slow' }, async () => {
    const chain = auto(', with: { question: "Is the database schema sound?" }');
    const scene = await start(chain, { ...NAMING, ...MIGRATIONS });
    const { number } = await scene.open({ files: { 'docs/a.md': 'a\n' } });
    expect(said(scene, number)).toEqual(['migrations says yes']);
  });

  test('is matched by its name if it has no question', { tags: 'slow' }, async () => {
    const scene = await start(auto('', 'naming'), { ...NAMING, ...MIGRATIONS });
    const { number } = await scene.open({ files: { 'docs/a.md': 'a\n' } });
    expect(said(scene, number)).toEqual(['naming says yes']);
  });

  test('fails if no skill matches well enough, and no later step runs', { tags: 'slow' }, async () => {
    const scene = await start(auto(), NAMING);
    const { number } = await scene.open({ files: { 'docs/a.md': 'a\n' } });
    expect(said(scene, number)).toEqual([]);
    expect(await failure(scene)).toContain('no skill was chosen');
  });

  test('runs no skill with another outcome than the chain asks for', { tags: 'slow' }, async () => {
    const chain = auto(
      ', artifacts: { expected: [{ id: outcome, kind: outcome, outcome: review_verdict }] }',
    );
    const scene = await start(chain, NAMING);
    await scene.open({ files: { 'src/a.ts': 'a\n' } });
    expect(await failure(scene)).toContain('no skill was chosen');
  });

  test('runs no skill of the head, however well it would match', { tags: 'slow' }, async () => {
    const scene = await start(auto('', 'better'), NAMING);
    const { number } = await scene.open({
      files: { 'src/a.ts': 'a\n', ...skill('better', 'paths: ["**"]\ntags: [better]') },
    });
    expect(said(scene, number)).toEqual(['naming says yes']);
  });

  test('runs no skill that needs more trust than the run has', { tags: 'slow' }, async () => {
    const scene = await start(auto(), { ...skill('naming', 'paths: ["src/**"]\ntrust: elevated') });
    await scene.open({ files: { 'src/a.ts': 'a\n' } });
    expect(await failure(scene)).toContain('no skill was chosen');
  });

  test('runs no skill for which the settings have gates of its own', { tags: 'slow' }, async () => {
    const gates = `gates:
  - uses: naming
    pre: [{ id: never, criteria: [{ id: no, if: "{{ pr.fork }}" }] }]
`;
    const files = { ...only({ flow: auto() }, gates), ...NAMING };
    const scene = await startScene(files, { artifactHandlers: [echo] });
    await scene.open({ files: { 'src/a.ts': 'a\n' } });
    expect(await failure(scene)).toContain('no skill was chosen');
  });

  test('can run a skill of the organisation', { tags: 'slow' }, async () => {
    const scene = await start(auto(), {});
    const files = skill('naming', 'paths: ["src/**"]', gate(true, 'of octo'), 'countersign/skills');
    scene.github.addRepository({ owner: 'octo', name: '.github', files });
    const { number } = await scene.open({ files: { 'src/a.ts': 'a\n' } });
    expect(said(scene, number)).toEqual(['of octo']);
  });

  test('checks the files that the skill promises', { tags: 'slow' }, async () => {
    const lines = 'paths: ["src/**"]\nartifact_defaults: [{ id: report, path: report.json }]';
    const scene = await start(auto(), skill('naming', lines));
    await scene.open({ files: { 'src/a.ts': 'a\n' } });
    expect(await failure(scene)).toContain('ended without a required file: report (report.json)');
  });
});

describe('a step that leaves its skill open, with a model,', () => {
  let stub: StubModel;
  beforeEach(async () => {
    stub = await startStubModel();
  });
  afterEach(() => stub.stop());

  const SAME = { ...skill('naming', 'paths: ["src/**"]'), ...skill('spelling', 'paths: ["src/**"]') };
  const decision = (more: object) => ({
    text: JSON.stringify({
      decision: 'skill',
      skill: null,
      artifact: null,
      text: 'It is for that.',
      ...more,
    }),
  });
  const begin = (files = SAME, chain = auto()) =>
    startScene({ ...only({ flow: chain }), ...files }, { artifactHandlers: [echo], model: modelAt(stub) });
  const CHANGE = { files: { 'src/a.ts': 'a\n' } };

  test('shows the model only descriptions, and runs its choice', { tags: 'slow' }, async () => {
    stub.answers(decision({ skill: 'spelling' }));
    const scene = await begin();
    const { number } = await scene.open(CHANGE);
    expect(said(scene, number)).toEqual(['spelling says yes']);
    const prompt = stub.asked[0]?.body.messages?.at(-1)?.content ?? '';
    expect(prompt).toContain('description: Looks at naming.');
    expect(prompt).not.toContain('naming says yes');
    expect((await stateOf(scene)).invocations[0]?.choice).toMatchObject({
      by: 'model',
      because: 'It is for that.',
    });
  });

  eachFirstQuick([
    ['a skill that it was not shown', { skill: 'pr-review' }, 'not among those it was shown'],
    ['a question back', { decision: 'question', text: 'Which one?' }, 'Which one?'],
  ])('fails with a reason if the model names %s', async (_, answer, words) => {
    stub.answers(decision(answer));
    const scene = await begin();
    const { number } = await scene.open(CHANGE);
    expect(said(scene, number)).toEqual([]);
    expect(await failure(scene)).toContain(words);
  });

  test('keeps the choice over a restart before its execution', { tags: 'slow' }, async () => {
    stub.answers(decision({ skill: 'spelling' }), decision({ skill: 'naming' }));
    let runs = 0;
    const later = new Date('2026-03-02T09:10:00.000Z');
    const putOff = {
      ...echo,
      async execute(...given: Parameters<typeof echo.execute>) {
        runs += 1;
        if (runs === 1) throw new GitHubError('rate_limited', 403, 'spent', later);
        return echo.execute(...given);
      },
    };
    const scene = await startScene(
      { ...only({ flow: auto() }), ...SAME },
      { artifactHandlers: [putOff], model: modelAt(stub) },
    );
    const { number } = await scene.open(CHANGE);
    await scene.restart();
    await scene.advance(11 * 60_000);
    expect([runs, stub.asked.length]).toEqual([2, 1]);
    expect(said(scene, number)).toEqual(['spelling says yes']);
  });
});
