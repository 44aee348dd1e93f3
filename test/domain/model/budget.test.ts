import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUDGET_SCOPES, exceeded, parseBudget } from '../../../src/domain/model/budget.ts';
import { costOf, LIST_PRICES, listPrice, parsePrice } from '../../../src/domain/model/price.ts';

describe('exceeded', () => {
  const amounts = fc.record({ tokens: fc.nat(1_000), cost: fc.nat(1_000) });
  const budgets = fc.record({
    run: fc.record({ tokens: fc.nat(1_000), cost: fc.nat(1_000) }, { requiredKeys: [] }),
    pull_request: fc.record({ tokens: fc.nat(1_000), cost: fc.nat(1_000) }, { requiredKeys: [] }),
    day: fc.record({ tokens: fc.nat(1_000), cost: fc.nat(1_000) }, { requiredKeys: [] }),
  });

  it('lets a call through exactly when every budget has room for the most that it could cost', () => {
    fc.assert(
      fc.property(
        budgets,
        fc.record({ run: amounts, pull_request: amounts, day: amounts }),
        amounts,
        (limits, spent, needed) => {
          const fits = BUDGET_SCOPES.every(
            (scope) =>
              spent[scope].tokens + needed.tokens <= (limits[scope].tokens ?? Number.POSITIVE_INFINITY) &&
              spent[scope].cost + needed.cost <= (limits[scope].cost ?? Number.POSITIVE_INFINITY),
          );
          expect(exceeded(limits, spent, needed) === undefined).toBe(fits);
        },
      ),
    );
  });
});

describe('parseBudget', () => {
  it.each([
    ['500000', { tokens: 500_000 }],
    ['500000 tokens', { tokens: 500_000 }],
    ['$2.50', { cost: 2_500_000 }],
    ['500000, $2', { tokens: 500_000, cost: 2_000_000 }],
    ['0', { tokens: 0 }],
  ])('reads %s', (text, budget) => {
    expect(parseBudget(text)).toEqual(budget);
  });

  it.each(['', 'much', '-1', '1e9', '$', '5, 6', '$1, $2', '2 dollars', '1.5'])('rejects %j', (text) => {
    expect(parseBudget(text)).toBeUndefined();
  });
});

describe('model prices', () => {
  it('are dollars per million tokens, rounded up to a millionth', () => {
    expect(costOf({ input: 1_000_000, output: 0 }, { input: 0.25, output: 2 })).toBe(250_000);
    expect(costOf({ input: 1, output: 0 }, { input: 0.25, output: 2 })).toBe(1);
    expect(costOf({ input: 1, output: 1 }, undefined)).toBeNull();
  });

  it.each([
    ['gpt-5-mini', 'gpt-5-mini'],
    ['gpt-4.1-mini-2025-04-14', 'gpt-4.1-mini'],
    ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
  ])('of %s are those of %s', (model, listed) => {
    expect(listPrice({ provider: 'openai', model })).toEqual(LIST_PRICES[listed]);
  });

  it.each([
    { provider: 'openai', model: 'gpt-99' },
    { provider: 'openai', model: 'constructor' },
    { provider: 'openai-compatible', model: 'gpt-5' },
  ])('of $provider/$model are unknown', (name) => {
    expect(listPrice(name)).toBeUndefined();
  });

  it('are parsed from two numbers with a slash', () => {
    expect(parsePrice('0.25/2')).toEqual({ input: 0.25, output: 2 });
    expect(parsePrice('$0.25 / $2')).toEqual({ input: 0.25, output: 2 });
    for (const text of ['', '1', '1/', '-1/2', '1/2/3', 'NaN/1']) expect(parsePrice(text)).toBeUndefined();
  });
});
