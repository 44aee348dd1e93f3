import type { LanguageModel } from 'ai';
import { unreachable } from '../../core/errors.ts';
import type { ModelName } from '../../domain/model/name.ts';
import { boundedFetch } from './bounded-fetch.ts';

export interface ModelAccess {
  name: ModelName;
  apiKey: string | undefined;
  /** Without a trailing slash; `undefined` for the provider's own. */
  baseUrl: string | undefined;
}

/**
 * The model of the `ai` package. Loads only the provider that is needed, because loading all would dominate
 * the start time. Always passes addresses and keys, because the packages would otherwise read them from the
 * environment, and only the configuration may.
 */
export async function languageModel({ name, apiKey = '', baseUrl }: ModelAccess): Promise<LanguageModel> {
  const fetch = boundedFetch;
  switch (name.provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ apiKey, baseURL: baseUrl ?? 'https://api.openai.com/v1', fetch })(name.model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, baseURL: baseUrl ?? 'https://api.anthropic.com/v1', fetch })(
        name.model,
      );
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      const baseURL = baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta';
      return createGoogle({ apiKey, baseURL, fetch })(name.model);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: 'compatible',
        baseURL: baseUrl ?? '',
        fetch,
        supportsStructuredOutputs: true,
        ...(apiKey === '' ? {} : { apiKey }),
      })(name.model);
    }
    default:
      return unreachable(name.provider);
  }
}
