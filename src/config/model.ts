import { z } from 'zod';
import { isLoopback } from '../core/loopback.ts';
import { type Budgets, DEFAULT_BUDGETS, parseBudget } from '../domain/model/budget.ts';
import { type ModelName, PROVIDERS, type ProviderName, parseModelName } from '../domain/model/name.ts';
import { listPrice, type Price, parsePrice } from '../domain/model/price.ts';
import { optionalText, refuse, webUrl, withoutTrailingSlash } from './fields.ts';

/** The variables that the providers' own tools use for their keys. */
const MODEL_KEYS: Readonly<Record<ProviderName, string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  // Not OPENAI_API_KEY: a key that is set for OpenAI must not be sent to another server.
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
};

const budget = optionalText.transform((value, ctx) => {
  if (value === undefined) return undefined;
  const diagnostic = 'must be tokens, dollars or both, such as 500000, $2.50 or 500000, $2.50';
  return parseBudget(value) ?? refuse(ctx, diagnostic);
});

export interface ModelConfig {
  name: ModelName;
  apiKey: string | undefined;
  /** Without a trailing slash; `undefined` for the provider's own. */
  baseUrl: string | undefined;
  /** `undefined` for models that are not on the price list. */
  price: Price | undefined;
  budgets: Budgets;
}

/**
 * The language model, if one is configured. Otherwise the other variables are ignored, because they may be
 * set for another program.
 */
export const modelSchema = z
  .object({
    COUNTERSIGN_MODEL: optionalText.transform((value, ctx) => {
      if (value === undefined) return undefined;
      const diagnostic = `must be <provider>/<model>, such as openai/gpt-5-mini, with one of ${PROVIDERS.join(', ')}`;
      return parseModelName(value) ?? refuse(ctx, diagnostic);
    }),
    COUNTERSIGN_MODEL_BASE_URL: optionalText,
    COUNTERSIGN_MODEL_PRICE: optionalText.transform((value, ctx) => {
      if (value === undefined) return undefined;
      const diagnostic = 'must be dollars per million tokens in and out, such as 0.25/2';
      return parsePrice(value) ?? refuse(ctx, diagnostic);
    }),
    COUNTERSIGN_MODEL_BUDGET_RUN: budget,
    COUNTERSIGN_MODEL_BUDGET_PULL_REQUEST: budget,
    COUNTERSIGN_MODEL_BUDGET_DAY: budget,
    OPENAI_API_KEY: optionalText,
    ANTHROPIC_API_KEY: optionalText,
    GOOGLE_GENERATIVE_AI_API_KEY: optionalText,
    OPENAI_COMPATIBLE_API_KEY: optionalText,
  })
  .transform((env, ctx): { model?: ModelConfig } => {
    const name = env.COUNTERSIGN_MODEL;
    if (!name) return {};
    const diagnostic = (variable: string, message: string) =>
      ctx.addIssue({ code: 'custom', path: [variable], message });

    const keyName = MODEL_KEYS[name.provider] as keyof typeof env & string;
    const apiKey = env[keyName] as string | undefined;
    const hasOwnServer = name.provider !== 'openai-compatible';
    if (hasOwnServer && apiKey === undefined)
      diagnostic(keyName, `is missing; COUNTERSIGN_MODEL names ${name.provider}`);
    if (apiKey !== undefined && /\s/.test(apiKey)) diagnostic(keyName, 'must have no white space in it');

    const given = env.COUNTERSIGN_MODEL_BASE_URL;
    const url = given === undefined ? undefined : webUrl(given);
    if (typeof url === 'string')
      diagnostic('COUNTERSIGN_MODEL_BASE_URL', `${url}, such as http://127.0.0.1:11434/v1`);
    else if (!url && !hasOwnServer)
      diagnostic(
        'COUNTERSIGN_MODEL_BASE_URL',
        'is missing; openai-compatible is any server that speaks as OpenAI’s does',
      );
    else if (url?.protocol === 'http:' && !isLoopback(url.hostname) && apiKey !== undefined)
      diagnostic(
        'COUNTERSIGN_MODEL_BASE_URL',
        `must be https, as ${keyName} goes along; plain http is for a loopback host or no key`,
      );

    const price = env.COUNTERSIGN_MODEL_PRICE ?? listPrice(name);
    const variables = {
      run: 'COUNTERSIGN_MODEL_BUDGET_RUN',
      pull_request: 'COUNTERSIGN_MODEL_BUDGET_PULL_REQUEST',
      day: 'COUNTERSIGN_MODEL_BUDGET_DAY',
    } as const;
    for (const variable of Object.values(variables)) {
      if (env[variable]?.cost !== undefined && !price)
        diagnostic(
          variable,
          `is in dollars, and no price of ${name.model} is known: set COUNTERSIGN_MODEL_PRICE`,
        );
    }
    return {
      model: {
        name,
        apiKey,
        baseUrl: url instanceof URL ? withoutTrailingSlash(url) : undefined,
        price,
        budgets: {
          run: env[variables.run] ?? DEFAULT_BUDGETS.run,
          pull_request: env[variables.pull_request] ?? DEFAULT_BUDGETS.pull_request,
          day: env[variables.day] ?? DEFAULT_BUDGETS.day,
        },
      },
    };
  });
