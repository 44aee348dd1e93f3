import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/fields.ts';
import { DEFAULT_BUDGETS } from '../../src/domain/model/budget.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const app: Environment = {
  APP_ID: '1',
  PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  WEBHOOK_SECRET: 'a-long-enough-secret',
};
const openai: Environment = { ...app, COUNTERSIGN_MODEL: 'openai/gpt-5-mini', OPENAI_API_KEY: 'sk-test' };
const local: Environment = {
  ...app,
  COUNTERSIGN_MODEL: 'openai-compatible/qwen3:8b',
  COUNTERSIGN_MODEL_BASE_URL: 'http://127.0.0.1:11434/v1/',
};

function modelOf(env: Environment) {
  const result = readConfig(env);
  if (!result.ok) throw new Error(result.diagnostics.join('\n'));
  return result.config.model;
}

const faultsOf = (env: Environment) => {
  const result = readConfig(env);
  return result.ok ? [] : result.diagnostics;
};

describe('the model in the configuration', () => {
  it('is none by default, whatever keys are set', () => {
    expect(modelOf({ ...app, OPENAI_API_KEY: 'sk-test' })).toBeUndefined();
  });

  it('has its list price and the default budgets', () => {
    expect(modelOf(openai)).toEqual({
      name: { provider: 'openai', model: 'gpt-5-mini' },
      apiKey: 'sk-test',
      baseUrl: undefined,
      price: { input: 0.25, output: 2 },
      budgets: DEFAULT_BUDGETS,
    });
  });

  it.each([
    ['anthropic/claude-haiku-4-5', 'ANTHROPIC_API_KEY'],
    ['google/gemini-2.5-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ])('%s takes its key from %s', (name, variable) => {
    expect(modelOf({ ...app, COUNTERSIGN_MODEL: name, [variable]: 'k' })?.apiKey).toBe('k');
  });

  it('can be on your own server, without a key and without a price', () => {
    expect(modelOf(local)).toMatchObject({
      name: { provider: 'openai-compatible', model: 'qwen3:8b' },
      baseUrl: 'http://127.0.0.1:11434/v1',
      price: undefined,
    });
    const elsewhere = { ...local, COUNTERSIGN_MODEL_BASE_URL: 'http://ollama:11434/v1' };
    expect(modelOf(elsewhere)?.apiKey).toBeUndefined();
  });

  it('never sends OpenAI’s key to another server', () => {
    expect(modelOf({ ...local, OPENAI_API_KEY: 'sk-test' })?.apiKey).toBeUndefined();
  });

  it('has the price and the budgets that are set', () => {
    const model = modelOf({
      ...local,
      COUNTERSIGN_MODEL_PRICE: '1/4',
      COUNTERSIGN_MODEL_BUDGET_RUN: '5000',
      COUNTERSIGN_MODEL_BUDGET_DAY: '$2.50',
    });
    expect(model?.price).toEqual({ input: 1, output: 4 });
    expect(model?.budgets).toEqual({ ...DEFAULT_BUDGETS, run: { tokens: 5_000 }, day: { cost: 2_500_000 } });
  });

  it.each<[string, Environment, RegExp]>([
    [
      'an unknown provider',
      { COUNTERSIGN_MODEL: 'acme/x' },
      /^COUNTERSIGN_MODEL must be <provider>\/<model>/,
    ],
    ['a model without its provider', { COUNTERSIGN_MODEL: 'gpt-5' }, /^COUNTERSIGN_MODEL must be/],
    [
      'no key',
      { ...openai, OPENAI_API_KEY: '' },
      /^OPENAI_API_KEY is missing; COUNTERSIGN_MODEL names openai/,
    ],
    [
      'a key with a line end',
      { ...openai, OPENAI_API_KEY: 'sk-test\n' },
      /^OPENAI_API_KEY must have no white/,
    ],
    ['no address', { ...local, COUNTERSIGN_MODEL_BASE_URL: '' }, /^COUNTERSIGN_MODEL_BASE_URL is missing/],
    [
      'no URL',
      { ...local, COUNTERSIGN_MODEL_BASE_URL: 'ollama' },
      /^COUNTERSIGN_MODEL_BASE_URL must be an http/,
    ],
    [
      'a key in plain http to another host',
      { ...local, COUNTERSIGN_MODEL_BASE_URL: 'http://vllm:8000/v1', OPENAI_COMPATIBLE_API_KEY: 'k' },
      /^COUNTERSIGN_MODEL_BASE_URL must be https, as OPENAI_COMPATIBLE_API_KEY goes along/,
    ],
    [
      'a bad price',
      { ...openai, COUNTERSIGN_MODEL_PRICE: 'cheap' },
      /^COUNTERSIGN_MODEL_PRICE must be dollars/,
    ],
    [
      'a bad budget',
      { ...openai, COUNTERSIGN_MODEL_BUDGET_DAY: 'much' },
      /^COUNTERSIGN_MODEL_BUDGET_DAY must be/,
    ],
    [
      'a budget in dollars without a price',
      { ...local, COUNTERSIGN_MODEL_BUDGET_DAY: '$5' },
      /^COUNTERSIGN_MODEL_BUDGET_DAY is in dollars, and no price of qwen3:8b is known/,
    ],
  ])('is refused with %s', (_what, change, diagnostic) => {
    expect(faultsOf({ ...app, ...change })).toEqual([expect.stringMatching(diagnostic)]);
  });

  it('has its errors reported together with all others, without their values', () => {
    const diagnostics = faultsOf({
      ...openai,
      PORT: 'x',
      OPENAI_API_KEY: 'bad key',
      COUNTERSIGN_MODEL_BASE_URL: 'y',
    });
    expect(diagnostics.map((diagnostic) => diagnostic.split(' ')[0])).toEqual([
      'PORT',
      'OPENAI_API_KEY',
      'COUNTERSIGN_MODEL_BASE_URL',
    ]);
    expect(diagnostics.join()).not.toContain('bad key');
  });
});
