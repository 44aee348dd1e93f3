import { generateText, jsonSchema, type LanguageModelUsage, NoObjectGeneratedError, Output } from 'ai';
import type { Provider, Reply } from '../model.ts';
import type { Tokens } from '../price.ts';
import { failedReply } from './failure.ts';
import { languageModel, type ModelAccess } from './language-model.ts';

// The package prints warnings to the console otherwise, past the log and what it hides.
globalThis.AI_SDK_LOG_WARNINGS = false;

/**
 * The schema is sent as a hint only. OpenAI's strict mode takes less than JSON Schema (no optional members, no patterns) and would
 * refuse questions that every model can answer; what comes back is validated by whoever asked.
 */
const NOT_STRICT = { openai: { strictJsonSchema: false }, compatible: { strictJsonSchema: false } };

/** What the package makes of an answer, whether it could read a JSON value in it or not. */
interface Generated {
  text: string;
  finishReason: string;
  usage: LanguageModelUsage | undefined;
  tool?: string | undefined;
}

/** A model reached through the `ai` package. */
export async function createAiProvider(access: ModelAccess): Promise<Provider> {
  const model = await languageModel(access);
  return {
    name: access.name,
    async call({ system, messages, schema, maxOutputTokens }, signal) {
      try {
        const { text, finishReason, usage, toolCalls } = await generateText({
          model,
          system,
          messages: [...messages],
          output: Output.object({ schema: jsonSchema(schema) }),
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
        return reply({ text, finishReason, usage, tool: toolCalls[0]?.toolName }, maxOutputTokens);
      } catch (error) {
        if (signal.aborted) return { kind: 'failed', failure: { kind: 'timed_out' }, tokens: null };
        if (!NoObjectGeneratedError.isInstance(error)) return failedReply(error);
        const { text = '', finishReason = 'other', usage } = error;
        return reply({ text, finishReason, usage }, maxOutputTokens);
      }
    },
  };
}

function reply({ text, finishReason, usage, tool }: Generated, limit: number): Reply {
  const tokens = tokensOf(usage);
  if (finishReason === 'length') return { kind: 'failed', failure: { kind: 'cut_off', limit }, tokens };
  if (finishReason === 'content-filter') return { kind: 'failed', failure: { kind: 'declined' }, tokens };
  if (tool !== undefined) return { kind: 'failed', failure: { kind: 'tool_call', tool }, tokens };
  return { kind: 'text', text, tokens };
}

/** A prompt of no tokens is none that was counted. */
function tokensOf({ inputTokens, outputTokens }: Partial<LanguageModelUsage> = {}): Tokens | null {
  const counted = (value: number | undefined): value is number =>
    Number.isSafeInteger(value) && (value ?? -1) >= 0;
  if (!counted(inputTokens) || !counted(outputTokens) || inputTokens === 0) return null;
  return { input: inputTokens, output: outputTokens };
}
