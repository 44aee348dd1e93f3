import { type FinishReason, generateText, type LanguageModelUsage, Output } from 'ai';
import { z } from 'zod';
import type { ModelName } from '../../domain/model/name.ts';
import type { Tokens } from '../../domain/model/price.ts';
import type { Provider, Reply } from '../../ports/model.ts';
import { failedReply } from './failure.ts';
import { languageModel, type ModelAccess } from './language-model.ts';

// The package prints warnings to the console otherwise, past the log and what it hides.
globalThis.AI_SDK_LOG_WARNINGS = false;

/**
 * The schema is sent as a hint only. OpenAI's strict mode takes less than JSON Schema (no optional members, no patterns) and would
 * refuse questions that every model can answer; what comes back is validated by whoever asked.
 */
const NOT_STRICT = { openai: { strictJsonSchema: false }, compatible: { strictJsonSchema: false } };

/** As much as is read of an answer. */
interface Generated {
  text: string;
  finishReason: FinishReason;
  /** In the provider's own words. */
  rawFinishReason: string | undefined;
  usage: LanguageModelUsage | undefined;
  toolCalls: readonly { toolName: string }[];
  response: { body?: unknown };
}

/** A model reached through the `ai` package. */
export async function createAiProvider(access: ModelAccess): Promise<Provider> {
  const model = await languageModel(access);
  return {
    name: access.name,
    async call({ system, messages, schema, maxOutputTokens }, signal) {
      try {
        const generated = await generateText({
          model,
          system,
          messages: [...messages],
          // A schema is sent, and the text taken as it comes: the package tells less of an answer in which it finds no JSON.
          output: { ...Output.text(), responseFormat: Promise.resolve({ type: 'json', schema }) },
          include: { responseBody: true },
          maxOutputTokens,
          // Each call is paid for, so whoever pays decides about the next.
          maxRetries: 0,
          abortSignal: signal,
          providerOptions: NOT_STRICT,
          // The package would fetch files that an answer names. No answer of these providers does so; none shall.
          experimental_download: async (files) => {
            if (files.length > 0) throw new Error('the answer names files, and nothing is downloaded');
            return [];
          },
        });
        return reply(generated, access.name, maxOutputTokens);
      } catch (error) {
        if (signal.aborted) return { kind: 'failed', failure: { kind: 'timed_out' }, tokens: null };
        return failedReply(error);
      }
    },
  };
}

function reply(generated: Generated, { provider }: ModelName, limit: number): Reply {
  const { text, finishReason, usage, toolCalls } = generated;
  const tokens = tokensOf(usage);
  if (finishReason === 'length') return { kind: 'failed', failure: { kind: 'cut_off', limit }, tokens };
  if (finishReason === 'content-filter') return { kind: 'failed', failure: { kind: 'declined' }, tokens };
  const tool = toolCalls[0]?.toolName;
  if (tool !== undefined) return { kind: 'failed', failure: { kind: 'tool_call', tool }, tokens };
  const reason = oddEnd(generated, provider);
  if (reason !== undefined) return { kind: 'failed', failure: { kind: 'broken_off', reason }, tokens };
  return { kind: 'text', text, tokens };
}

const statusSchema = z.object({ status: z.string() });

/**
 * Why the answer ended, unless it ended because it was whole: a beginning of it may be JSON too. OpenAI says of a response that it failed
 * in its status alone, and Anthropic pauses long answers, both of which the package takes for whole ones; some servers that are
 * compatible with OpenAI name no reason at all.
 */
function oddEnd(
  { finishReason, rawFinishReason, response }: Generated,
  provider: ModelName['provider'],
): string | undefined {
  if (provider === 'openai') {
    const said = statusSchema.safeParse(response.body);
    if (said.success && said.data.status !== 'completed') return said.data.status;
  }
  const isUnnamed = provider === 'openai-compatible' && rawFinishReason === undefined;
  const isWhole = finishReason === 'stop' && rawFinishReason !== 'pause_turn';
  return isWhole || isUnnamed ? undefined : (rawFinishReason ?? finishReason);
}

/** A prompt of no tokens is none that was counted. */
function tokensOf({ inputTokens, outputTokens }: Partial<LanguageModelUsage> = {}): Tokens | null {
  const counted = (value: number | undefined): value is number =>
    Number.isSafeInteger(value) && (value ?? -1) >= 0;
  if (!counted(inputTokens) || !counted(outputTokens) || inputTokens === 0) return null;
  return { input: inputTokens, output: outputTokens };
}
