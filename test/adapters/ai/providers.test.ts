import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createAiProvider } from '../../../src/adapters/ai/provider.ts';
import { familyOf, type ModelName, parseModelName } from '../../../src/domain/model/name.ts';
import { FINE, KEY, question, useStubModel } from '../../support/model/questions.ts';

const t = useStubModel();

describe('every provider', () => {
  it.each<[ModelName, string, string, string]>([
    [{ provider: 'openai', model: 'gpt-5-mini' }, '/v1/responses', 'authorization', `Bearer ${KEY}`],
    [{ provider: 'anthropic', model: 'claude-haiku-4-5' }, '/v1/messages', 'x-api-key', KEY],
    [
      { provider: 'google', model: 'gemini-2.5-flash' },
      '/v1/models/gemini-2.5-flash:generateContent',
      'x-goog-api-key',
      KEY,
    ],
    [
      { provider: 'openai-compatible', model: 'qwen3:8b' },
      '/v1/chat/completions',
      'authorization',
      `Bearer ${KEY}`,
    ],
  ])('is called by its own protocol: $provider', async (name, path, header, value) => {
    t.stub.answers({ text: FINE });
    const answer = await (await t.model(name)).ask(question());
    expect(answer).toMatchObject({
      kind: 'answered',
      value: { verdict: 'fine' },
      spent: { tokens: { input: 120, output: 30 } },
    });
    const [asked] = t.stub.asked;
    expect(asked).toMatchObject({ path, headers: { [header]: value } });
    expect(asked?.text).toContain('Is this text friendly?');
    // The schema is sent too, so that a provider that can will follow it.
    expect(asked?.text).toContain('not_fine');
  });

  it('needs no key if the server asks for none', async () => {
    t.stub.answers({ text: FINE });
    const name: ModelName = { provider: 'openai-compatible', model: 'llama3.1' };
    const provider = await createAiProvider({ name, apiKey: undefined, baseUrl: `${t.stub.url}/v1` });
    const { prompt, limits } = question();
    const reply = await provider.call(
      { system: 's', messages: [{ role: 'user', content: prompt }], schema: {}, ...limits },
      new AbortController().signal,
    );
    expect(reply).toMatchObject({ kind: 'text', text: FINE });
    expect(t.stub.asked[0]?.headers).not.toHaveProperty('authorization');
  });
});

describe('a request to a provider', () => {
  it('offers no tools and limits the answer', async () => {
    t.stub.answers({ text: FINE });
    await (await t.model()).ask(question());
    const body = t.stub.asked[0]?.body;
    expect(body).not.toHaveProperty('tools');
    expect(body).toMatchObject({ max_tokens: 500 });
  });

  it('follows no redirect, which could pass the key to another server', async () => {
    const heard: unknown[] = [];
    const elsewhere = createServer((request, response) => {
      heard.push(request.headers);
      response.end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    t.stub.answers({ status: 307, headers: { location: `http://127.0.0.1:${port}/v1/messages` } });
    const name: ModelName = { provider: 'anthropic', model: 'claude-haiku-4-5' };
    const answer = await (await t.model(name)).ask(question());
    elsewhere.close();
    expect(answer).toMatchObject({ kind: 'failed' });
    expect(heard).toEqual([]);
  });

  it('goes only to the configured address', async () => {
    t.stub.answers({ text: FINE });
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9');
    const answer = await (await t.model({ provider: 'openai', model: 'gpt-5' })).ask(question());
    vi.unstubAllEnvs();
    expect(answer.kind).toBe('answered');
  });
});

describe('the name of a model', () => {
  it.each([
    ['openai/gpt-5-mini', 'gpt'],
    ['openai/o4-mini', 'gpt'],
    ['anthropic/claude-sonnet-4-5', 'claude'],
    ['google/gemini-2.5-pro', 'gemini'],
    ['openai-compatible/meta-llama/Llama-3.1-8B', 'llama'],
    ['openai-compatible/qwen2.5-coder:7b', 'qwen'],
  ])('%s is of the family %s', (text, family) => {
    const name = parseModelName(text);
    expect(name && familyOf(name)).toBe(family);
  });

  it.each(['', 'openai', 'openai/', 'gpt-5', 'cohere/command', 'openai/a b', 'openai/a\nb'])(
    'cannot be %j',
    (text) => {
      expect(parseModelName(text)).toBeUndefined();
    },
  );
});
