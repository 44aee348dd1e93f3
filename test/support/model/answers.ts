/** What the stub model says, independent of any provider. */
export interface StubAnswer {
  text?: string;
  /** Why it ends, in the provider's own words; `null`: it does not say. OpenAI's responses end with a status. */
  finish?: string | null;
  refusal?: string;
  tool?: { name: string; args: string };
  /** `null`: the provider does not report it. */
  tokens?: { input: number; output: number } | null;
}

const USED = { input: 120, output: 30 };

/** The body of an answer in the protocol of the path. */
export function bodyFor(path: string, said: StubAnswer): object {
  if (path.endsWith('/chat/completions')) return chatCompletion(said);
  if (path.endsWith('/responses')) return openaiResponse(said);
  if (path.endsWith('/messages')) return anthropicMessage(said);
  if (path.endsWith(':generateContent')) return googleContent(said);
  throw new Error(`the stub model knows no ${path}`);
}

/** https://platform.openai.com/docs/api-reference/chat/object */
function chatCompletion({ text, finish = 'stop', refusal, tool, tokens = USED }: StubAnswer): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'stub',
    choices: [
      {
        index: 0,
        finish_reason: tool ? 'tool_calls' : finish,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(refusal === undefined ? {} : { refusal }),
          ...(tool && {
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: tool.name, arguments: tool.args } },
            ],
          }),
        },
      },
    ],
    ...(tokens && {
      usage: {
        prompt_tokens: tokens.input,
        completion_tokens: tokens.output,
        total_tokens: tokens.input + tokens.output,
      },
    }),
  };
}

/** https://platform.openai.com/docs/api-reference/responses/object */
function openaiResponse({ text = '', finish = 'completed', tokens = USED }: StubAnswer): object {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: finish,
    model: 'stub',
    output: [
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: tokens?.input ?? 0, output_tokens: tokens?.output ?? 0 },
  };
}

/** https://docs.anthropic.com/en/api/messages */
function anthropicMessage({ text = '', finish = 'end_turn', tokens = USED }: StubAnswer): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'stub',
    content: [{ type: 'text', text }],
    stop_reason: finish,
    stop_sequence: null,
    usage: { input_tokens: tokens?.input ?? 0, output_tokens: tokens?.output ?? 0 },
  };
}

/** https://ai.google.dev/api/generate-content#generatecontentresponse */
function googleContent({ text = '', finish = 'STOP', tokens = USED }: StubAnswer): object {
  return {
    candidates: [{ index: 0, finishReason: finish, content: { role: 'model', parts: [{ text }] } }],
    usageMetadata: {
      promptTokenCount: tokens?.input ?? 0,
      candidatesTokenCount: tokens?.output ?? 0,
      totalTokenCount: (tokens?.input ?? 0) + (tokens?.output ?? 0),
    },
  };
}
