export const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** `provider/model`, as `COUNTERSIGN_MODEL` has it; the model's own name may hold slashes and colons. */
export interface ModelName {
  provider: ProviderName;
  model: string;
}

export function formatModelName({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

/** The name, or `undefined` when it is none. */
export function parseModelName(text: string): ModelName | undefined {
  const provider = PROVIDERS.find((known) => text.startsWith(`${known}/`));
  const model = provider && text.slice(provider.length + 1);
  return provider && model && /^[\w.:/@+-]{1,200}$/.test(model) ? { provider, model } : undefined;
}

/**
 * The family that variants of prompts are written for: `gpt` for `gpt-5-mini`, `claude`, `gemini`, `llama` for
 * `meta-llama/Llama-3.1-8B`. It is the first word of the last part of the name; OpenAI's `o3` and its kind are of the family `gpt`.
 */
export function familyOf({ model }: ModelName): string {
  const own = (model.split('/').at(-1) ?? model).toLowerCase();
  if (/^o\d/.test(own)) return 'gpt';
  return /^[a-z]+/.exec(own)?.[0] ?? own;
}
