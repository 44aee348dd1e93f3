import { type FinishReason, generateText, type LanguageModelUsage, Output } from 'ai';
import { z } from 'zod';
import type { ModelName } from '../../domain/model/name.ts';
import type { Tokens } from '../../domain/model/price.ts';
import type { Provider, Reply } from '../../ports/model.ts';
import { failedReply } from './failure.ts';
import { languageModel, type ModelAccess } from './language-model.ts';

// Otherwise the package prints warnings to the console, which bypasses the log and its redaction.
globalThis.AI_SDK_LOG_WARNINGS = false;

/**
 * The schema is only a hint. OpenAI's strict mode supports less than JSON Schema (no optional members, no
 * patterns) and would refuse questions that every model can answer. The caller validates the answer.
 */
const NOT_STRICT = { openai: { strictJsonSchema: false }, compatible: { strictJsonSchema: false } };

/** The parts of a response that are used. */
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
          // Sends a schema but reads plain text: for an answer without JSON, the package's JSON mode reports
          // fewer details.
          output: { ...Output.text(), responseFormat: Promise.resolve({ type: 'json', schema }) },
          include: { responseBody: true },
          maxOutputTokens,
          // Each call costs money, so the caller decides about retries.
          maxRetries: 0,
          abortSignal: signal,
          providerOptions: NOT_STRICT,
          // The package would download files that an answer names. These providers' answers name none, and
          // none may be downloaded.
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
  const reason = incompleteReason(generated, provider);
  if (reason !== undefined) return { kind: 'failed', failure: { kind: 'broken_off', reason }, tokens };
  return { kind: 'text', text, tokens };
}

const statusSchema = z.object({ status: z.string() });

/**
 * Why an answer is incomplete; `undefined` if it is complete. The beginning of an answer can be valid JSON,
 * too. OpenAI reports a failed response only in its status, and Anthropic pauses long answers; the package
 * treats both as complete. Some OpenAI-compatible servers give no reason at all.
 */
function incompleteReason(
  { finishReason, rawFinishReason, response }: Generated,
  provider: ModelName['provider'],
): string | undefined {
  if (provider === 'openai') {
    const parsed = statusSchema.safeParse(response.body);
    if (parsed.success && parsed.data.status !== 'completed') return parsed.data.status;
  }
  const isUnnamed = provider === 'openai-compatible' && rawFinishReason === undefined;
  const isWhole = finishReason === 'stop' && rawFinishReason !== 'pause_turn';
  return isWhole || isUnnamed ? undefined : (rawFinishReason ?? finishReason);
}

/** A prompt of 0 tokens means that the provider did not count. */
function tokensOf({ inputTokens, outputTokens }: Partial<LanguageModelUsage> = {}): Tokens | null {
  const counted = (value: number | undefined): value is number =>
    Number.isSafeInteger(value) && (value ?? -1) >= 0;
  if (!counted(inputTokens) || !counted(outputTokens) || inputTokens === 0) return null;
  return { input: inputTokens, output: outputTokens };
}
