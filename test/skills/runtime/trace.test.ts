import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/core/canonical.ts';
import type { SkillArtifact } from '../../../src/domain/skill/skill.ts';
import type { Answer, Model, Purpose, Question } from '../../../src/ports/model.ts';
import type { NewSkillTrace } from '../../../src/ports/skill-traces.ts';
import type { Tx } from '../../../src/ports/storage.ts';
import type { ArtifactOutput } from '../../../src/skills/runtime/handler.ts';
import type { Owner, SkillContext } from '../../../src/skills/runtime/skill-context.ts';
import { createArtifactExecutor } from '../../../src/skills/runtime/trace/execute-artifact.ts';
import { createRecorder } from '../../../src/skills/runtime/trace/record.ts';
import { watchModel } from '../../../src/skills/runtime/trace/watch-model.ts';
import { at } from '../../support/builders.ts';
import { files, packageOf, skillMd } from '../../support/packages.ts';
import { stepContext } from '../../support/step-context.ts';

const RUN: Owner = { runId: 'run_1', sessionId: 'ses_1' };

/** Gives these answers in turn, and records for whom it was asked. */
function modelSaying(...texts: string[]) {
  const purposes: Purpose[] = [];
  const model: Model = {
    name: { provider: 'openai', model: 'm' },
    async ask<T>({ purpose, schema }: Question<T>): Promise<Answer<T>> {
      purposes.push(purpose);
      const said = texts[purposes.length - 1] ?? '{}';
      const spent = { calls: 1, tokens: { input: 10, output: 5 }, cost: 2 };
      return { kind: 'answered', value: schema.parse(JSON.parse(said)), spent, said };
    },
  };
  return { model, purposes };
}

/** Asks the model in the name of the step. */
type Asks = (prompt: string) => Promise<unknown>;
/** Runs something else meanwhile, for the same session. */
type Instead = (execute: () => Promise<ArtifactOutput>) => Promise<unknown>;

/** Has a handler execute the artifact of a package. @returns its result, with the trace and its texts. */
async function carriedOut(
  execute: (ask: Asks, instead: Instead) => Promise<ArtifactOutput>,
  {
    owner = RUN,
    model,
    artifact: path = 'prompts/ask.md',
    assert,
  }: { owner?: Owner; model?: Model; artifact?: string; assert?: string } = {},
) {
  const lines = assert === undefined ? '' : `artifacts: { ${path}: { assert: [${assert}] } }\n`;
  const skill = packageOf(files({ [path]: 'Judge.' }, skillMd(`outcome: gate_verdict\n${lines}`)));
  const artifact = skill.artifacts[1] as SkillArtifact;
  const blobs = new Map<string, string>();
  const traces: NewSkillTrace[] = [];
  let seconds = 0;
  const tx = {
    skillTraces: { insert: async (trace: NewSkillTrace) => void traces.push(trace) },
  } as unknown as Tx;
  const watch = watchModel(model);
  const executeArtifact = createArtifactExecutor({
    watch,
    clock: { now: () => at(seconds++) },
    record: createRecorder({
      storage: { transaction: (work) => work(tx) },
      blobs: {
        async put(blob, data) {
          blobs.set(blob, String(data));
          return { path: blob, size: 0, sha256: '' };
        },
      },
    }),
  });
  const session = 'callId' in owner ? owner.callId : owner.sessionId;
  const step = stepContext('id: a, with: { depth: 2 }');
  const context: SkillContext = {
    step: { ...step, session: { ...step.session, id: session } },
    skill,
    outcome: 'gate_verdict',
    owner,
  };
  const purpose = {
    runId: context.step.state.run.id,
    sessionId: session,
    repositoryId: 1,
    pullRequest: 3,
    skill: 'naming',
    artifact: path,
  };
  const limits = { maxOutputTokens: 10, timeoutMs: 1_000 };
  const { signal } = context.step;
  const ask: Asks = (prompt) =>
    watch.model?.ask({ prompt, schema: z.json(), limits, purpose, signal }) ??
    Promise.reject(new Error('no model'));
  const { kind } = artifact;
  const instead: Instead = (inner) => executeArtifact({ kind, execute: inner }, artifact, context);
  const handler = { kind, execute: () => execute(ask, instead) };
  const ended = await executeArtifact(handler, artifact, context).catch((error: unknown) => error);
  const [trace] = traces;
  return {
    ended,
    traces,
    ask,
    input: blobs.get(trace?.inputPath ?? ''),
    output: blobs.get(trace?.outputPath ?? ''),
    paths: [...blobs.keys()],
  };
}

const done = (value: Json, log = ''): ArtifactOutput => ({ kind: 'done', value, log });

describe('a trace', () => {
  test('without a model call has the step’s inputs and its output', async () => {
    const { traces, input, output, paths } = await carriedOut(async () => done({ b: 1, a: 2 }));
    expect(traces).toEqual([
      {
        of: RUN,
        skill: 'naming',
        skillId: expect.stringMatching(/^skl_/),
        artifact: 'prompts/ask.md',
        kind: 'prompt_template',
        inputPath: paths[0],
        outputPath: paths[1],
        error: null,
        startedAt: at(0),
        completedAt: at(1),
        tokens: { input: 0, output: 0 },
        model: null,
        cost: 0,
        assertionsRun: 0,
        assertionsPassed: 0,
      },
    ]);
    expect(input).toBe('{"depth":2}');
    expect(output).toBe('{"a":2,"b":1}');
    expect(paths.every((path) => /^traces\/run_1\/[0-9a-f]{64}$/.test(path))).toBe(true);
  });

  test('contains no secret, and refers to its texts by what is stored', async () => {
    const { output, paths } = await carriedOut(async () =>
      done({ key: `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8` }),
    );
    expect(output).toMatch(/^\{"key":"\[redacted/);
    expect(paths[1]).toBe(
      `traces/run_1/${createHash('sha256')
        .update(output ?? '')
        .digest('hex')}`,
    );
  });

  test('of a failure has the reason and the log', async () => {
    const { traces, output } = await carriedOut(async () => ({
      kind: 'failed',
      because: 'It broke.',
      retryable: false,
      log: 'line 7',
    }));
    expect(traces[0]?.error).toBe('It broke.');
    expect(output).toBe('line 7');
  });

  test('of a failure without a text has no output', async () => {
    const { traces } = await carriedOut(async () => ({
      kind: 'failed',
      because: 'No.',
      retryable: false,
      log: '',
    }));
    expect(traces[0]?.outputPath).toBeNull();
  });

  test('of something that threw is written, and the error is passed on', async () => {
    const thrown = new Error('GitHub is away');
    const { ended, traces } = await carriedOut(() => Promise.reject(thrown));
    expect(ended).toBe(thrown);
    expect(traces[0]?.error).toBe('GitHub is away');
  });

  test('of a program has all its questions and its output', async () => {
    const { model } = modelSaying('"one"', '"two"');
    const { traces, input, output } = await carriedOut(
      async (ask) => {
        await ask('First?');
        await ask('Second?');
        return done({ passed: true });
      },
      { model, artifact: 'code/count.js' },
    );
    expect(input).toBe('["First?","Second?"]');
    expect(output).toBe('{"passed":true}');
    expect(traces[0]).toMatchObject({ model: 'openai/m', tokens: { input: 20, output: 10 }, cost: 4 });
  });

  test('of all other kinds has the model’s answer, unchanged', async () => {
    const { model } = modelSaying('{ "a":  1 }');
    const { input, output } = await carriedOut(
      async (ask) => {
        await ask('Judge?');
        return done({ a: 1 });
      },
      { model },
    );
    expect([input, output]).toEqual(['Judge?', '{ "a":  1 }']);
  });

  test('counts no further model calls once its execution is over', async () => {
    const { model, purposes } = modelSaying();
    const { ask, traces } = await carriedOut(async () => done(1), { model, owner: { callId: 'ask_1' } });
    await ask('Late?');
    expect(purposes).toEqual([expect.objectContaining({ sessionId: 'ask_1' })]);
    expect(traces[0]?.tokens).toEqual({ input: 0, output: 0 });
  });

  test('of nested executions counts each one’s own calls', async () => {
    const { model } = modelSaying();
    const { traces } = await carriedOut(
      async (ask, instead) => {
        await instead(async () => {
          await ask('Inside?');
          await ask('Inside again?');
          return done(1);
        });
        await ask('Outside?');
        return done(2);
      },
      { model },
    );
    expect(traces.map(({ tokens }) => tokens?.input)).toEqual([20, 10]);
  });

  test('of a call is below the call, and the model is asked in the name of no run', async () => {
    const { model, purposes } = modelSaying();
    const { traces, paths } = await carriedOut(
      async (ask) => {
        await ask('Judge?');
        return done(1);
      },
      { model, owner: { callId: 'ask_1' } },
    );
    expect(purposes).toEqual([expect.objectContaining({ runId: null, sessionId: null, pullRequest: 3 })]);
    expect(traces[0]?.of).toEqual({ callId: 'ask_1' });
    expect(paths[0]).toMatch(/^traces\/ask_1\//);
  });
});

describe('an assertion of an artifact', () => {
  const tooLong = '{ kind: length, max_characters: 3 }';

  test('that is hard turns the output into a reported failure, and the trace keeps both', async () => {
    const { ended, traces, output } = await carriedOut(async () => done('a long text', 'a log'), {
      assert: tooLong,
    });
    const because =
      'prompts/ask.md breaks assertion 1 (length): it has 11 characters, and at most 3 are asked for';
    expect(ended).toEqual({ kind: 'failed', because, retryable: true, log: 'a log', warnings: [] });
    expect(traces[0]).toMatchObject({ error: because, assertionsRun: 1, assertionsPassed: 0 });
    expect(output).toBe('"a long text"');
  });

  test('that is soft is reported beside the output', async () => {
    const assert = tooLong.replace(' }', ', on_failure: warn }');
    const { ended } = await carriedOut(async () => done('a long text'), { assert });
    expect(ended).toMatchObject({ kind: 'done', warnings: [expect.stringContaining('does not hold')] });
  });

  test('asks its model separately, outside of any execution', async () => {
    const { model, purposes } = modelSaying(JSON.stringify({ holds: true, because: 'Yes.' }));
    const { ended, traces } = await carriedOut(async () => done('a text'), {
      model,
      assert: '{ kind: semantic, question: "A text?" }',
    });
    expect(ended).toMatchObject({ kind: 'done' });
    expect(purposes).toHaveLength(1);
    expect(traces[0]).toMatchObject({
      tokens: { input: 0, output: 0 },
      assertionsRun: 1,
      assertionsPassed: 1,
    });
  });
});
