import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/core/canonical.ts';
import { type AgentProxy, startProxy } from '../../../../src/skills/kinds/agent/proxy.ts';
import { admittedRequest, MAX_OUTPUT_TOKENS } from '../../../../src/skills/kinds/agent/proxy-rules.ts';
import { tokensIn } from '../../../../src/skills/kinds/agent/usage.ts';
import { type StubModel, startStubModel } from '../../../support/model/stub.ts';
import { countingLedger, KEY, PURPOSE } from './support.ts';

let folder = '';
let model: StubModel;
let proxy: AgentProxy | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-proxy-'));
  model = await startStubModel();
});
afterEach(async () => {
  await proxy?.stop();
  proxy = undefined;
  await model.stop();
  rmSync(folder, { recursive: true });
});

async function start(provider: 'openai' | 'anthropic' = 'openai', most = 99) {
  const counting = countingLedger(most);
  const access = { name: { provider, model: 'the-model' }, apiKey: KEY, baseUrl: `${model.url}/v1` };
  const started = await startProxy(join(folder, 's'), { ...access, ledger: counting.ledger }, PURPOSE);
  proxy = started;
  /** @param held of a body that does not arrive whole: when all but its first byte arrives */
  const ask = (
    path: string,
    body: Json,
    headers: Record<string, string> = {},
    method = 'POST',
    held?: Promise<unknown>,
  ) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(
        {
          socketPath: join(folder, 's'),
          path,
          method,
          headers: { authorization: `Bearer ${started.token}`, ...headers },
        },
        async (response) => {
          let text = '';
          for await (const part of response) text += part;
          resolve({ status: response.statusCode ?? 0, text });
        },
      );
      sent.on('error', reject);
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      if (!held) return sent.end(text);
      sent.write(text.slice(0, 1));
      void held.then(() => sent.end(text.slice(1)));
    });
  return { ...counting, proxy: started, ask, at: (path: string) => `${started.path}/v1${path}` };
}

describe('the proxy of an agent', () => {
  it.each([
    ['openai', '/chat/completions', 'authorization', `Bearer ${KEY}`],
    ['openai', '/responses', 'authorization', `Bearer ${KEY}`],
    ['anthropic', '/messages', 'x-api-key', KEY],
  ] as const)('asks %s at %s with the key, and counts the usage', async (provider, path, header, key) => {
    const { ask, at, settled } = await start(provider);
    model.answers({ text: 'hello', tokens: { input: 120, output: 30 } });
    const { status, text } = await ask(at(path), { model: 'the-dearest', input: 'x' });
    expect(status).toBe(200);
    expect(text).toContain('hello');
    expect(model.asked[0]?.headers[header]).toBe(key);
    expect(model.asked[0]?.body).toMatchObject({ model: 'the-model' });
    expect(settled).toEqual([{ input: 120, output: 30 }]);
  });

  it('admits only requests with the path and the token of the run', async () => {
    const { ask, at, reserved } = await start();
    const answers = await Promise.all([
      ask(at('/responses'), {}, { authorization: 'Bearer guessed' }),
      ask(at('/responses'), {}, { authorization: '' }),
      ask('/v1/responses', {}),
      ask(`/${'0'.repeat(32)}/v1/responses`, {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect({ asked: model.asked, reserved: reserved() }).toEqual({ asked: [], reserved: 0 });
  });

  it.each([
    ['GET', '/models'],
    ['POST', '/files'],
    ['POST', '/responses/../files'],
    ['POST', '/responses/resp_1/cancel'],
    ['GET', '/responses/resp_1'],
    ['DELETE', '/responses'],
    ['POST', '//evil.example/responses'],
    ['POST', '/%2e%2e/organization/keys'],
  ])('does not pass on %s %s', async (method, path) => {
    const { ask, at } = await start();
    expect((await ask(at(path), {}, {}, method)).status).toBe(404);
    expect(model.asked).toEqual([]);
  });

  it('refuses a call that exceeds the budgets, with a status that is not retried, and reports it afterwards', async () => {
    const { ask, at, proxy } = await start('openai', 1);
    model.answers({ text: 'hello' });
    expect((await ask(at('/responses'), { input: 'x' })).status).toBe(200);
    const { status, text } = await ask(at('/responses'), { input: 'x' });
    expect(status).toBe(403);
    expect(text).toContain('budget');
    expect(proxy.refused()).toContain('budget');
    expect(model.asked).toHaveLength(1);
  });

  it('keeps its reservation if the provider does not report usage, and returns it if the provider rejects the call', async () => {
    const { ask, at, settled } = await start();
    model.answers({ status: 500, body: '{}' }, { status: 400, body: '{}' }, { reset: 'at_once' });
    const statuses: number[] = [];
    for (const _ of [1, 2, 3]) statuses.push((await ask(at('/responses'), { input: 'x' })).status);
    expect(statuses).toEqual([500, 400, 502]);
    expect(settled).toEqual([null, { input: 0, output: 0 }, null]);
  });

  it('admits four calls at once and 300 in all, also if their bodies arrive late', {
    tags: 'slow',
  }, async () => {
    const { ask, at, proxy, atOnce } = await start('openai', 999);
    model.answers({ text: 'hello' });
    /**
     * Calls whose bodies arrive once so many of them are refused, or when that takes too long. @returns how many were answered.
     */
    const together = async (calls: number, refused: number) => {
      const { promise: held, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, 60_000);
      let left = refused;
      const all = Array.from({ length: calls }, async () => {
        const { status } = await ask(at('/responses'), { input: 'x' }, {}, 'POST', held);
        if (status === 403 && --left === 0) resolve();
        return status;
      });
      const statuses = await Promise.all(all);
      clearTimeout(timer);
      return statuses.filter((status) => status === 200).length;
    };
    expect(await together(8, 4)).toBe(4);
    for (let made = 4; made < 298; made++) await ask(at('/responses'), { input: 'x' });
    expect(await together(4, 2)).toBe(2);
    expect({ asked: model.asked.length, made: proxy.spent().calls, atOnce: atOnce() }).toEqual({
      asked: 300,
      made: 300,
      atOnce: 4,
    });
    expect(proxy.refused()).toBe('too many calls');
  });

  it('accepts no body that is too large, missing or not JSON', async () => {
    const { ask, at } = await start();
    const large = await ask(at('/responses'), { input: 'x'.repeat(4_000_001) }).catch(() => ({
      status: 413,
    }));
    expect(large.status).toBe(413);
    expect((await ask(at('/responses'), 'nonsense')).status).toBe(400);
    expect((await ask(at('/responses'), [])).status).toBe(400);
    expect(model.asked).toEqual([]);
  });
});

describe('a question of an agent', () => {
  const sent = (body: object, protocol: 'responses' | 'chat' | 'messages' = 'responses') =>
    admittedRequest(body as Json, protocol, 'm');

  it.each([
    ['responses', 'max_output_tokens'],
    ['chat', 'max_completion_tokens'],
    ['messages', 'max_tokens'],
  ] as const)('has a bounded answer in %s', (protocol, key) => {
    for (const [asked, given] of [
      [1e9, MAX_OUTPUT_TOKENS],
      [undefined, MAX_OUTPUT_TOKENS],
      ['1', MAX_OUTPUT_TOKENS],
      [500, 500],
    ] as const) {
      const body = asked === undefined ? {} : { [key]: asked };
      expect(sent(body, protocol)).toMatchObject({ body: { [key]: given } });
    }
  });

  it('keeps the tools that the agent runs, and loses those of the provider', () => {
    const openai = [
      { type: 'function', name: 'a' },
      { type: 'custom' },
      { type: 'web_search' },
      { type: 'mcp', server_label: 'x' },
      { type: 'code_interpreter' },
      { type: 'image_generation' },
      'x',
    ];
    expect(sent({ tools: openai })).toMatchObject({
      body: { tools: [{ type: 'function' }, { type: 'custom' }] },
    });
    const anthropic = [
      { name: 'a' },
      { type: 'bash_20250124' },
      { type: 'web_fetch_20250910' },
      { type: 'code_execution_20250825' },
    ];
    expect(sent({ tools: anthropic, mcp_servers: [{}] }, 'messages')).toEqual({
      body: { model: 'm', max_tokens: MAX_OUTPUT_TOKENS, tools: [{ name: 'a' }, { type: 'bash_20250124' }] },
    });
  });

  it.each([
    { input: [{ content: [{ type: 'input_image', image_url: 'https://evil.example/?q=secret' }] }] },
    { messages: [{ content: [{ type: 'image_url', image_url: { url: 'https://evil.example' } }] }] },
    { messages: [{ content: [{ type: 'document', source: { type: 'url', url: 'http://evil.example' } }] }] },
    { input: [{ type: 'input_file', file_url: 'https://evil.example' }] },
    { tools: [{ type: 'function', server_url: 'https://evil.example' }] },
  ])('that makes the provider fetch something is refused: %j', (body) => {
    expect(sent(body)).toHaveProperty('refused');
  });

  it('can include a picture', () => {
    expect(sent({ input: [{ image_url: 'data:image/png;base64,AA==' }] })).toHaveProperty('body');
  });

  it('is sent at the counted price, and without search', () => {
    const body = { service_tier: 'priority', web_search_options: {}, tools: { type: 'web_search' } };
    expect(sent(body, 'chat')).toEqual({
      body: { model: 'm', max_completion_tokens: MAX_OUTPUT_TOKENS, n: 1 },
    });
  });

  it('is not stored by the provider, and continues nothing that is', () => {
    expect(sent({ store: true, background: true, previous_response_id: 'r', conversation: 'c' })).toEqual({
      body: { model: 'm', store: false, max_output_tokens: MAX_OUTPUT_TOKENS },
    });
  });
});

describe('the usage of an answer', () => {
  it.each([
    [
      'data: {"type":"response.completed","response":{"usage":{"input_tokens":12,"output_tokens":3}}}\n',
      { input: 12, output: 3 },
    ],
    [
      'data: {"message":{"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}\n\ndata: {"usage":{"output_tokens":9}}\n',
      { input: 12, output: 9 },
    ],
    [
      'data: {"usage":null}\n\ndata: {"usage":{"prompt_tokens":4,"completion_tokens":2}}\n\ndata: [DONE]\n',
      { input: 4, output: 2 },
    ],
    ['{"usage":{"prompt_tokens":4,"completion_tokens":2}}', { input: 4, output: 2 }],
    ['{"usage":{"prompt_tokens":-4}}', null],
    ['{"usage":{"input_tokens":0,"output_tokens":0}}', null],
    ['<html>usage</html>', null],
    ['', null],
  ])('is read from %s', (text, tokens) => {
    expect(tokensIn(text)).toEqual(tokens);
  });
});
