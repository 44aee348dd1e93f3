import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GitHubError } from '../../src/ports/github.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { type StubModel, startStubModel } from '../support/model/stub.ts';
import { reactions } from './support-commands.ts';
import { CI_AND_MERGE, only, type Scene, scenes } from './support-scene.ts';
import { echo, gate, modelAt, skill } from './support-skills.ts';

const startScene = scenes();

const NAMING = skill('naming', 'trigger_phrases: ["the names"]', {
  ...gate(true, 'The names say what the things are.'),
  criteria: [{ id: 'n', description: 'Names are words', passed: true, evidence: '' }],
});
const start = (files = NAMING) =>
  startScene({ ...only({ ship: CI_AND_MERGE }), ...files }, { artifactHandlers: [echo] });

/** What the app writes on the pull request, except its answers to the comment. */
const elsewhere = (scene: Scene, number: number, sha: string) => ({
  comments: scene.github.comments(REPO, number).filter(({ body }) => !body.includes('countersign:reply')),
  checks: scene.github.checkRuns(REPO, sha),
});

describe('a question in a comment', () => {
  test('is answered by the matching skill, in one comment and nowhere else', { tags: 'slow' }, async () => {
    const scene = await start();
    const { number, headSha } = await scene.open();
    const before = elsewhere(scene, number, headSha);
    const id = await scene.say(number, 'will', '/countersign ask are the names good?');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
    expect(scene.replies(number, id)).toEqual([
      [
        '✅ The names say what the things are.',
        '- ✅ Names are words',
        '',
        '<sub>By the skill `naming`: phrase the names; words name (score 9.17). This is only an answer: it changes nothing in any run.</sub>',
      ].join('\n'),
    ]);
    const after = elsewhere(scene, number, headSha);
    expect(after.checks).toEqual(before.checks);
    expect(after.comments.map(({ body }) => body).slice(0, -1)).toEqual(
      before.comments.map(({ body }) => body),
    );
    expect((await scene.app.storage.read.runs.list({ limit: 9 })).map(({ chain }) => chain)).toEqual([
      'ship',
    ]);
  });

  test('that no skill matches is answered with what would help', { tags: 'slow' }, async () => {
    const scene = await start();
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask what is the weather like?');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    expect(scene.replies(number, id)[0]).toMatch(/^No skill fits that well enough/);
  });

  test('is refused for people with read access only', { tags: 'slow' }, async () => {
    const scene = await start();
    const { number } = await scene.open();
    const id = await scene.say(number, 'otto', '/countersign ask are the names good?');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    expect(scene.replies(number, id)[0]).toContain('is for people with write access');
  });

  test('can stand in a comment beside other commands, which are answered at once', {
    tags: 'slow',
  }, async () => {
    const scene = await start();
    const { number } = await scene.open();
    const id = await scene.say(
      number,
      'will',
      '/countersign ask are the names good?\n/countersign ask and the names again?\n/countersign ci',
    );
    const [now, later] = scene.replies(number, id);
    expect(now).toBe(
      'One question of a comment is answered; ask the others in comments of their own.\n\nReading the state of CI again.',
    );
    expect(later).toContain('The names say');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  });

  test('that is delivered again while it is being answered is answered once, also after a restart', {
    tags: 'slow',
  }, async () => {
    let runs = 0;
    const putOff = {
      ...echo,
      async execute(...given: Parameters<typeof echo.execute>) {
        runs += 1;
        if (runs === 1)
          throw new GitHubError('rate_limited', 403, 'spent', new Date('2026-03-02T09:10:00.000Z'));
        return echo.execute(...given);
      },
    };
    const scene = await startScene(
      { ...only({ ship: CI_AND_MERGE }), ...NAMING },
      { artifactHandlers: [putOff] },
    );
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask are the names good?');
    const told = scene.github.deliveries.findLast(({ event }) => event === 'issue_comment');
    const sent = scene.github.signedDelivery('issue_comment', told?.payload);
    const answer = await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...sent });
    expect(answer.status).toBe(202);
    await scene.settle();
    expect(scene.replies(number, id)).toEqual([]);
    await scene.restart();
    await scene.advance(11 * 60_000);
    expect(scene.replies(number, id)).toHaveLength(1);
    expect(runs).toBe(2);
  });

  test('is not answered by a skill of the head, nor by one that needs more trust than there is', {
    tags: 'slow',
  }, async () => {
    const scene = await start(skill('naming', 'trigger_phrases: ["the names"]\ntrust: elevated'));
    const { number } = await scene.open({
      files: skill('better', 'trigger_phrases: ["the names are good"]\ntags: [names]'),
    });
    const id = await scene.say(number, 'will', '/countersign ask are the names are good?');
    expect(scene.replies(number, id)[0]).toMatch(/^No skill fits/);
  });
});

describe('a question with a model', () => {
  let stub: StubModel;
  beforeEach(async () => {
    stub = await startStubModel();
  });
  afterEach(() => stub.stop());

  const says = (more: object) => ({
    text: JSON.stringify({ decision: 'answer', skill: null, artifact: null, text: 'Yes.', ...more }),
  });
  const withModel = (more = {}) =>
    startScene(
      { ...only({ ship: CI_AND_MERGE }), ...NAMING },
      { artifactHandlers: [echo], model: modelAt(stub, more) },
    );

  test('may be answered by the model itself, as plain text', { tags: 'slow' }, async () => {
    stub.answers(
      says({
        text: '# Hi @mia, see #1\n![x](https://evil.example/y.png)\n<b onclick=x>/countersign cancel</b>',
      }),
    );
    const scene = await withModel();
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask is this fine?');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'hooray']);
    expect(scene.replies(number, id)[0]).toMatchInlineSnapshot(`
      "\\# Hi @&#8203;mia, see #&#8203;1
      !\\[x\\](https:&#8203;//evil.example/y.png)
      &lt;b onclick=x&gt;/countersign cancel&lt;/b&gt;

      <sub>Answered by the language model, which did not see the change.</sub>"
    `);
  });

  test('may be answered with a question, and nothing else is done', { tags: 'slow' }, async () => {
    stub.answers(says({ decision: 'question', text: 'Which names, @mia?' }));
    const scene = await withModel();
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask are the names good?');
    expect(scene.replies(number, id)).toEqual(['Which names, @&#8203;mia?']);
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    expect(stub.asked).toHaveLength(1);
  });

  test('counts its calls for the pull request, and for no run', { tags: 'slow' }, async () => {
    stub.answers(says({ decision: 'skill', skill: 'naming' }));
    const scene = await withModel();
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask are the names good?');
    expect(scene.replies(number, id)[0]).toContain('By the skill `naming`: Yes.');
    const { modelCalls } = scene.app.storage.read;
    const [run] = await scene.runs('ship');
    const repositoryId = run?.repositoryId ?? 0;
    expect(await modelCalls.spent({ repositoryId, pullRequest: number })).toMatchObject({ tokens: 150 });
    expect(await modelCalls.spent({ runId: run?.id ?? '' })).toMatchObject({ tokens: 0 });
  });

  test('is not asked when the budget is spent, and the reply says so', { tags: 'slow' }, async () => {
    stub.answers(says({}));
    const budgets = { run: {}, pull_request: { tokens: 10 }, day: {} };
    const scene = await withModel({ budgets });
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask is this fine?');
    expect(scene.replies(number, id)[0]).toContain('The budget for language models is spent');
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
    expect(stub.asked).toEqual([]);
  });

  eachFirstQuick([
    [
      'a skill that does not exist',
      says({ decision: 'skill', skill: 'merge' }),
      'not among those it was shown',
    ],
    ['prose', { text: 'I merged it.' }, 'not one JSON value'],
  ])('has no answer if the model gives %s', async (_, answer, words) => {
    stub.answers(answer);
    const scene = await withModel();
    const { number } = await scene.open();
    const id = await scene.say(number, 'will', '/countersign ask are the names good?');
    expect(scene.replies(number, id)[0]).toContain(words);
    expect(reactions(scene, number, id)).toEqual(['eyes', 'confused']);
  });
});
