import { describe, expect, it, vi } from 'vitest';
import { redactedFields } from '../../../src/core/redact/fields.ts';
import { neverShow } from '../../../src/core/redact/redact.ts';
import { describeFailure } from '../../../src/messages/skills/model.ts';
import { FINE, KEY, question, usePaidModel, useStubModel } from '../../support/model/questions.ts';

const t = usePaidModel();
const free = useStubModel();
const OWN = 'hT7-own-secret-of-the-app-41x';
neverShow('model key', KEY);
neverShow('webhook secret', OWN);

describe('the model key', () => {
  it.each([
    ['an error', { status: 401, body: JSON.stringify({ error: { message: `Incorrect key: ${KEY}` } }) }],
    ['a bad request', { status: 400, body: JSON.stringify({ error: { message: `key=${KEY}` } }) }],
    ['a tool’s name', { tool: { name: KEY, args: '{}' } }],
  ])('that comes back in %s appears in no sentence and no row', async (_what, script) => {
    t.stub.answers(script);
    const answer = await (await t.model()).ask(question());
    if (answer.kind !== 'failed') throw new Error('it was answered');
    expect(describeFailure(answer.failure)).toContain('[redacted');
    expect(describeFailure(answer.failure)).not.toContain(KEY);
    expect(JSON.stringify(await t.calls())).not.toContain(KEY);
    expect(JSON.stringify(redactedFields({ answer }))).not.toContain(KEY);
  });
});

it('a prompt is sent without the app’s own secrets and without those that somebody committed', async () => {
  t.stub.answers({ text: `Here it is again: ${OWN}` }, { text: FINE });
  const committed = `AKIA${'ZQ3DRSTU7VWX5YAB'}`;
  await (await t.model()).ask(question({ prompt: `look at ${OWN} and ${committed}` }));
  expect(t.stub.asked).toHaveLength(2);
  for (const { text } of t.stub.asked) {
    expect(text).toContain('look at [redacted');
    expect(text).not.toContain(OWN);
    expect(text).not.toContain(committed);
  }
});

it('nothing is printed outside of the log if a provider does not support an option', async () => {
  const printed = [vi.spyOn(process, 'emitWarning'), vi.spyOn(console, 'warn')];
  free.stub.answers({ text: FINE });
  const model = await free.model({ provider: 'anthropic', model: 'claude-haiku-4-5' });
  // More than the model can output, of which the package warns.
  await model.ask(question({ limits: { maxOutputTokens: 500_000, timeoutMs: 60_000 } }));
  for (const spy of printed) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});
