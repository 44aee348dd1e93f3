import { z } from 'zod';
import type { Tokens } from '../../../domain/model/price.ts';

const count = z.int().nonnegative().nullish();
const usageSchema = z.object({
  input_tokens: count,
  prompt_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
  completion_tokens: count,
});
const replySchema = z.object({
  usage: usageSchema.nullish(),
  response: z.object({ usage: usageSchema.nullish() }).nullish(),
  message: z.object({ usage: usageSchema.nullish() }).nullish(),
});

/**
 * The usage that a provider reports for an answer, for each protocol, as one document or a stream of events.
 * Streams report it in parts or as growing totals, so the maximum of each number counts.
 * @returns `null` if it is not reported
 */
export function tokensIn(text: string): Tokens | null {
  const lines = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []));
  let found: Tokens = { input: 0, output: 0 };
  for (const json of lines.length === 0 ? [text] : lines) {
    const usage = usageOf(json);
    if (!usage) continue;
    const input =
      (usage.input_tokens ?? usage.prompt_tokens ?? 0) +
      (usage.cache_creation_input_tokens ?? 0) +
      (usage.cache_read_input_tokens ?? 0);
    const output = usage.output_tokens ?? usage.completion_tokens ?? 0;
    found = { input: Math.max(found.input, input), output: Math.max(found.output, output) };
  }
  // Zero prompt tokens mean that nothing was counted.
  return found.input === 0 ? null : found;
}

function usageOf(json: string): z.infer<typeof usageSchema> | undefined {
  if (!json.includes('usage')) return undefined;
  try {
    const reply = replySchema.parse(JSON.parse(json));
    return reply.response?.usage ?? reply.message?.usage ?? reply.usage ?? undefined;
  } catch {
    return undefined;
  }
}
