/** Tokens as a provider counts them. */
export interface Tokens {
  input: number;
  output: number;
}

/** Dollars per million tokens, which equals millionths of a dollar per token. */
export interface Price {
  input: number;
  output: number;
}

/**
 * The providers' list prices, for prompts of the sizes that occur here. Discounts for cached input are left
 * out, so that costs are not underestimated. Prices change: `COUNTERSIGN_MODEL_PRICE` takes precedence over
 * this table. A model that is not listed has an unknown cost, never a cost of 0.
 */
export const LIST_PRICES: Readonly<Record<string, Price>> = {
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'claude-haiku-4-5': { input: 1, output: 5 },
  'claude-sonnet-4-5': { input: 3, output: 15 },
  'claude-opus-4-5': { input: 5, output: 25 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  'gemini-2.5-pro': { input: 1.25, output: 10 },
};

/**
 * The list price of a model, also for dated names (`gpt-5-2025-08-07`). Not for `openai-compatible`, where a
 * server can use any name.
 */
export function listPrice({ provider, model }: { provider: string; model: string }): Price | undefined {
  if (provider === 'openai-compatible') return undefined;
  const undated = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '');
  return Object.hasOwn(LIST_PRICES, undated) ? LIST_PRICES[undated] : undefined;
}

/** In whole millionths of a dollar, rounded up; `null` if the price is unknown. */
export function costOf(tokens: Tokens, price: Price | undefined): number | null {
  return price ? Math.ceil(tokens.input * price.input + tokens.output * price.output) : null;
}

/** Parses `0.25/2`: dollars per million tokens in and out. */
export function parsePrice(text: string): Price | undefined {
  const found = /^\$?(\d{1,5}(?:\.\d{1,6})?)\s*\/\s*\$?(\d{1,5}(?:\.\d{1,6})?)$/.exec(text.trim());
  return found ? { input: Number(found[1]), output: Number(found[2]) } : undefined;
}
