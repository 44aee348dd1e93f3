import { describe, expect, it } from 'vitest';
import type { ModelName } from '../../../src/domain/model/name.ts';
import type { Failure } from '../../../src/ports/model.ts';
import { COMPATIBLE, FINE, question, useStubModel } from '../../support/model/questions.ts';
import type { Script } from '../../support/model/stub.ts';

const t = useStubModel();

const rateLimited = (headers: Record<string, string> = {}): Script => ({ status: 429, headers });
const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

describe('a bad answer ends in a reported failure', () => {
  it.each<[string, Script, Failure['kind'], { calls: number; retryable?: boolean }]>([
    ['prose', { text: 'It looks fine to me!' }, 'not_json', { calls: 2 }],
    ['prose with JSON in it', { text: `Sure: ${FINE}` }, 'not_json', { calls: 2 }],
    ['half a JSON', { text: FINE.slice(0, 20) }, 'not_json', { calls: 2 }],
    ['two JSON values', { text: `${FINE}\n${FINE}` }, 'not_json', { calls: 2 }],
    [
      'a value that is not in the schema',
      { text: '{"verdict":"approved","because":""}' },
      'wrong_shape',
      { calls: 2 },
    ],
    [
      'an additional member',
      { text: '{"verdict":"fine","because":"","merge":true}' },
      'wrong_shape',
      { calls: 2 },
    ],
    [
      'a repeated member',
      { text: '{"verdict":"not_fine","because":"","verdict":"fine"}' },
      'wrong_shape',
      { calls: 2 },
    ],
    ['a value nested 200,000 deep', { text: deep }, 'wrong_shape', { calls: 2 }],
    ['an empty answer', { text: '' }, 'empty', { calls: 2 }],
    ['no content at all', {}, 'empty', { calls: 2 }],
    [
      'a call of a tool that was not offered',
      { tool: { name: 'merge', args: '{}' } },
      'tool_call',
      { calls: 2 },
    ],
    ['an answer cut off at its limit', { text: FINE, finish: 'length' }, 'cut_off', { calls: 1 }],
    ['an answer that a filter withheld', { text: '', finish: 'content_filter' }, 'declined', { calls: 1 }],
    ['a refusal', { refusal: 'I cannot help with that.' }, 'declined', { calls: 1 }],
    ['10 MB', { padded: 10_000_000 }, 'too_large', { calls: 1 }],
    ['10 MB, compressed', { padded: 10_000_000, gzip: true }, 'too_large', { calls: 1 }],
    [
      'a page of HTML',
      { status: 200, body: '<html>Sign in</html>' },
      'unreadable',
      { calls: 1, retryable: true },
    ],
    ['401', { status: 401 }, 'unauthorized', { calls: 1 }],
    ['404', { status: 404 }, 'rejected', { calls: 1 }],
    ['429', rateLimited(), 'rate_limited', { calls: 3, retryable: true }],
    ['500', { status: 500 }, 'unavailable', { calls: 3, retryable: true }],
    ['529', { status: 529 }, 'unavailable', { calls: 3, retryable: true }],
    ['a connection cut at once', { reset: 'at_once' }, 'unreachable', { calls: 3, retryable: true }],
    ['a connection cut halfway', { reset: 'halfway' }, 'unreachable', { calls: 3, retryable: true }],
  ])('%s', async (_what, script, kind, { calls, retryable = false }) => {
    t.stub.answers(script);
    const answer = await (await t.model()).ask(question());
    expect(answer).toMatchObject({ kind: 'failed', failure: { kind }, retryable, spent: { calls } });
    expect(t.stub.asked).toHaveLength(calls);
  });

  it.each<[string, Script]>([
    ['nothing', { silent: true }],
    ['a letter at a time', { drip: { text: FINE }, everyMs: 20 }],
  ])('%s until the time is over', async (_what, script) => {
    t.stub.answers(script);
    const answer = await (await t.model()).ask(
      question({ limits: { maxOutputTokens: 500, timeoutMs: 250 } }),
    );
    expect(answer).toMatchObject({ kind: 'failed', failure: { kind: 'timed_out' }, retryable: true });
  });

  it('when the caller no longer waits', async () => {
    const model = await t.model();
    await t.stub.stop();
    const answer = await model.ask(question());
    expect(answer).toMatchObject({
      failure: { kind: 'unreachable', detail: 'ECONNREFUSED' },
      retryable: true,
    });
  });
});

describe('an answer that looks complete is not accepted', () => {
  const openai: ModelName = { provider: 'openai', model: 'gpt-5-mini' };
  const anthropic: ModelName = { provider: 'anthropic', model: 'claude-haiku-4-5' };
  const google: ModelName = { provider: 'google', model: 'gemini-2.5-flash' };

  it.each<[ModelName, string]>([
    [openai, 'failed'],
    [openai, 'incomplete'],
    [anthropic, 'pause_turn'],
    [anthropic, 'compaction'],
    [google, 'OTHER'],
    [google, 'MALFORMED_FUNCTION_CALL'],
    [COMPATIBLE, 'error'],
    [COMPATIBLE, 'abort'],
    [COMPATIBLE, 'insufficient_system_resource'],
    [COMPATIBLE, 'tool_calls'],
  ])('if %o ends it with %s', async (name, finish) => {
    // In a fence, so that the package that speaks to the providers cannot read it as JSON.
    for (const text of [FINE, `\`\`\`json\n${FINE}\n\`\`\``]) {
      t.stub.answers({ text, finish });
      const failure = { kind: 'broken_off', reason: finish };
      expect(await (await t.model(name)).ask(question())).toMatchObject({ failure, retryable: true });
    }
  });

  it.each<[ModelName, string | null]>([
    [openai, 'completed'],
    [anthropic, 'stop_sequence'],
    [google, 'STOP'],
    [COMPATIBLE, 'stop'],
    [COMPATIBLE, null],
  ])('unless %o ends it with %s', async (name, finish) => {
    t.stub.answers({ text: FINE, finish });
    expect((await (await t.model(name)).ask(question())).kind).toBe('answered');
  });
});

describe('a passing failure is retried', () => {
  it('after the time that the provider asks for', async () => {
    t.stub.answers(rateLimited({ 'retry-after': '7' }), { text: FINE });
    expect(await (await t.model()).ask(question())).toMatchObject({ kind: 'answered' });
    expect(t.waits).toEqual([7_000]);
  });

  it('after longer waits each time if the provider gives no time', async () => {
    t.stub.answers({ status: 503 }, { reset: 'at_once' }, { text: FINE });
    expect(await (await t.model()).ask(question())).toMatchObject({ kind: 'answered', spent: { calls: 3 } });
    expect(t.waits).toEqual([1_000, 2_000]);
  });

  it('but not if the provider asks for more than half a minute', async () => {
    t.stub.answers(rateLimited({ 'retry-after': '3600' }), { text: FINE });
    const answer = await (await t.model()).ask(question());
    expect(answer).toMatchObject({ failure: { kind: 'rate_limited' }, retryable: true, spent: { calls: 1 } });
    expect(t.waits).toEqual([]);
  });
});

describe('an answer of the wrong form is sent back once', () => {
  it('with what was wrong, and the second is accepted if it is right', async () => {
    t.stub.answers({ text: '{"verdict":"lovely","because":"x"}' }, { text: FINE });
    const answer = await (await t.model()).ask(question());
    expect(answer).toMatchObject({ kind: 'answered', value: { verdict: 'fine' }, spent: { calls: 2 } });
    const repair = t.stub.asked[1]?.body.messages?.map(({ role, content }) => [role, content]);
    expect(repair?.slice(2)).toEqual([
      ['assistant', '{"verdict":"lovely","because":"x"}'],
      ['user', expect.stringMatching(/could not be used: .*verdict: cannot be "lovely"; allowed: /)],
    ]);
  });

  it('and the second may be delayed by the provider', async () => {
    t.stub.answers({ text: 'fine' }, { status: 503 }, { text: FINE });
    expect(await (await t.model()).ask(question())).toMatchObject({ kind: 'answered', spent: { calls: 3 } });
  });
});

it('a JSON value in a code fence is accepted', async () => {
  t.stub.answers({ text: `\`\`\`json\n${FINE}\n\`\`\`` });
  expect(await (await t.model()).ask(question())).toMatchObject({
    kind: 'answered',
    value: { verdict: 'fine' },
  });
});

it('a prompt larger than any model accepts is not sent', async () => {
  const answer = await (await t.model()).ask(question({ prompt: 'x'.repeat(300_001) }));
  expect(answer).toMatchObject({ failure: { kind: 'prompt_too_large' }, spent: { calls: 0 } });
  expect(t.stub.asked).toEqual([]);
});
