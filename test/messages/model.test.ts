import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LIST_PRICES } from '../../src/domain/model/price.ts';
import { describeFailure, modelSummary, spentOnModel } from '../../src/messages/skills/model.ts';
import type { Failure } from '../../src/ports/model.ts';

const name = { provider: 'openai', model: 'gpt-5' } as const;

describe('the reason why there is no answer', () => {
  it.each<[Failure, string]>([
    [
      {
        kind: 'no_budget',
        exceeded: { scope: 'day', unit: 'cost', limit: 2_500_000, spent: 2_499_000, needed: 41_234 },
      },
      'The budget for language models is spent: $2.50 are allowed for today (UTC), $2.4990 are counted, and this call could take $0.0412.',
    ],
    [{ kind: 'unauthorized', detail: '' }, 'The provider does not accept the key.'],
    [
      { kind: 'rejected', status: 404, detail: 'no model “x”.' },
      'The provider does not accept the question (status 404): no model “x”.',
    ],
    [
      { kind: 'rate_limited', detail: 'slow\u202e\ndown' },
      'The provider’s limit of calls is reached: slow⟨U+202E⟩ down.',
    ],
    [
      { kind: 'tool_call', tool: 'x'.repeat(400) },
      `It called the tool “${'x'.repeat(299)}…”, and there are no tools.`,
    ],
    [{ kind: 'broken_off', reason: 'OTHER' }, 'The provider ended the answer before it was whole: “OTHER”.'],
    [
      { kind: 'too_large', limit: 1_000_000 },
      'The provider sent more than 1,000,000 bytes, which are not read.',
    ],
    [{ kind: 'cut_off', limit: 8_000 }, 'The answer is longer than 8,000 tokens, and was cut off there.'],
    [
      { kind: 'wrong_shape', detail: 'verdict: Invalid option' },
      'The answer does not have the shape that was asked for: verdict: Invalid option.',
    ],
  ])('is one sentence: $kind', (failure, words) => {
    expect(describeFailure(failure)).toBe(words);
  });
});

it.each([
  [
    { calls: 1, tokens: { input: 1_200, output: 310 }, cost: 4_600 },
    '1 call, 1,200 tokens in, 310 out, $0.0046',
  ],
  [{ calls: 2, tokens: null, cost: null }, '2 calls, tokens not told by the provider, cost unknown'],
])('the spent budget is described: %j', (spent, words) => {
  expect(spentOnModel(name, spent)).toBe(`openai/gpt-5: ${words}`);
});

it('the line at start names the model, and what is omitted or unknown', () => {
  expect(modelSummary(undefined)).toMatch(/no language model .* everything else works/);
  expect(modelSummary({ name, price: undefined })).toMatch(/openai\/gpt-5; no price is known/);
  expect(modelSummary({ name, price: { input: 1, output: 2 } })).toBe('the language model is openai/gpt-5');
});

it('the documented prices are those of the code', () => {
  const page = readFileSync(new URL('../../docs/models.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([a-z][\w.-]*) \| ([\d.]+) \| ([\d.]+) \|$/gm)];
  expect(
    Object.fromEntries(
      rows.map(([, model, input, output]) => [model, { input: Number(input), output: Number(output) }]),
    ),
  ).toEqual(LIST_PRICES);
});
