import type { AxAIFeatures, AxAIService, AxChatRequest, AxChatResponse } from '@ax-llm/ax';
import type { Json } from '../../../../core/canonical.ts';
import { askModel } from './app.ts';
import { type Turn, toolCallSchema } from './protocol.ts';

/**
 * Every answer is one JSON value that the app validates, so even plain fields are requested as JSON. Function
 * calls are one of its forms: the app's models get no tools.
 */
const FEATURES: AxAIFeatures = {
  functions: true,
  functionEmulation: false,
  streaming: false,
  structuredOutputs: true,
  structuredOutputModes: ['native'],
  requiresStructuredOutput: true,
  media: {
    images: { supported: false, formats: [] },
    audio: { supported: false, formats: [] },
    files: { supported: false, formats: [], uploadMethod: 'none' },
    urls: { supported: false, webSearch: false, contextFetching: false },
  },
  caching: { supported: false, types: [] },
  thinking: false,
  multiTurn: true,
};

/** The app's model in the interface of the module engine. It has neither key nor address. */
export function modelOf(task: number): AxAIService {
  const refuse = async (): Promise<never> => {
    throw new Error('the app’s model only answers questions');
  };
  return {
    getId: () => 'app',
    getName: () => 'app',
    getFeatures: () => FEATURES,
    getModelList: () => undefined,
    getMetrics: () => NO_METRICS,
    getLogger: () => () => {},
    getLastUsedChatModel: () => 'app',
    getLastUsedEmbedModel: () => undefined,
    getLastUsedModelConfig: () => undefined,
    chat: async (request) => responseOf(await askModel(task, turnsOf(request))),
    embed: refuse,
    transcribe: refuse,
    speak: refuse,
    getEstimatedCost: () => 0,
    setOptions() {},
    getOptions: () => ({}),
  };
}

const NO_SAMPLES = { mean: 0, p95: 0, p99: 0, samples: [] };
const NO_ERRORS = { count: 0, rate: 0, total: 0 };
const NO_METRICS = {
  latency: { chat: NO_SAMPLES, embed: NO_SAMPLES },
  errors: { chat: NO_ERRORS, embed: NO_ERRORS },
};

function turnsOf({ chatPrompt }: Readonly<AxChatRequest<unknown>>): Turn[] {
  return chatPrompt.flatMap((message): Turn[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', text: message.content }];
      case 'user':
        return [{ role: 'user', text: textOf(message.content) }];
      case 'assistant':
        return [
          ...(message.content ? [{ role: 'assistant' as const, text: message.content }] : []),
          ...(message.functionCalls ?? []).map(({ function: { name, params = '' } }) => ({
            role: 'call' as const,
            tool: name,
            arguments: typeof params === 'string' ? params : JSON.stringify(params),
          })),
        ];
      case 'function':
        return [{ role: 'tool', text: message.result }];
      default:
        throw new Error('the engine of modules said something that is no question');
    }
  });
}

function textOf(content: string | readonly object[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => ('text' in part ? String(part.text) : '')).join('\n');
}

let calls = 0;

function responseOf(answer: Json): AxChatResponse {
  const call = toolCallSchema.safeParse(answer);
  if (!call.success) {
    return { results: [{ index: 0, content: JSON.stringify(answer), finishReason: 'stop' }] };
  }
  calls += 1;
  const { reasoning, call: name, arguments: values } = call.data;
  return {
    results: [
      {
        index: 0,
        content: reasoning,
        functionCalls: [
          { id: `call_${calls}`, type: 'function', function: { name, params: JSON.stringify(values) } },
        ],
        finishReason: 'function_call',
      },
    ],
  };
}
