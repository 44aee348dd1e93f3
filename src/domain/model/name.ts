export const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** `provider/model`, as in `COUNTERSIGN_MODEL`. The model's own name can contain slashes and colons. */
export interface ModelName {
  provider: ProviderName;
  model: string;
}

export function formatModelName({ provider, model }: ModelName): string {
  return `${provider}/${model}`;
}

/** Parses a name; `undefined` if it is invalid. */
export function parseModelName(text: string): ModelName | undefined {
  const provider = PROVIDERS.find((known) => text.startsWith(`${known}/`));
  const model = provider && text.slice(provider.length + 1);
  return provider && model && /^[\w.:/@+-]{1,200}$/.test(model) ? { provider, model } : undefined;
}

/**
 * The family that variants of prompts are written for: `gpt` for `gpt-5-mini`, `claude`, `gemini`, `llama`
 * for `meta-llama/Llama-3.1-8B`. It is the first word of the last part of the name. OpenAI's `o3` and similar
 * belong to `gpt`.
 */
export function familyOf({ model }: ModelName): string {
  const baseName = (model.split('/').at(-1) ?? model).toLowerCase();
  if (/^o\d/.test(baseName)) return 'gpt';
  return /^[a-z]+/.exec(baseName)?.[0] ?? baseName;
}
