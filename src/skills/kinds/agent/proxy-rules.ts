import type { Json } from '../../../core/canonical.ts';
import { isMapping } from '../../../core/mapping.ts';

/** The provider APIs that an agent may use, as paths without `/v1`. Each only answers a question. */
const PROTOCOLS = {
  '/responses': 'responses',
  '/chat/completions': 'chat',
  '/messages': 'messages',
} as const;
export type Protocol = (typeof PROTOCOLS)[keyof typeof PROTOCOLS];

export function protocolOf(method: string | undefined, path: string): Protocol | undefined {
  if (method !== 'POST' || !Object.hasOwn(PROTOCOLS, path)) return undefined;
  return PROTOCOLS[path as keyof typeof PROTOCOLS];
}

/** Per call. Higher requests are reduced to this. */
export const MAX_OUTPUT_TOKENS = 32_000;

/**
 * The request as it is forwarded: to the configured model, with a limited answer, without server-side tools,
 * and at the price that is counted. The provider could otherwise search, execute or fetch on the agent's
 * behalf, outside of the sandbox: the URL of an image can carry a whole file to an attacker.
 */
export function admittedRequest(
  body: Json,
  protocol: Protocol,
  model: string,
): { body: { [key: string]: Json } } | { refused: string } {
  if (!isMapping(body)) return { refused: 'the body is no JSON object' };
  if (hasRemoteAddress(body))
    return { refused: 'it names something on the web that the provider would fetch' };
  const {
    background,
    mcp_servers,
    container,
    conversation,
    previous_response_id,
    service_tier,
    web_search_options,
    tools,
    ...rest
  } = body;
  const common = {
    ...rest,
    model,
    ...(Array.isArray(tools) ? { tools: tools.filter((tool) => isLocal(tool, protocol)) } : {}),
  };
  switch (protocol) {
    case 'responses':
      return { body: { ...common, store: false, max_output_tokens: bounded(rest.max_output_tokens) } };
    case 'chat': {
      const { max_tokens, ...others } = common as { [key: string]: Json };
      return {
        body: {
          ...others,
          max_completion_tokens: bounded(rest.max_completion_tokens ?? max_tokens),
          n: 1,
          // Without it, a stream does not report its usage.
          ...(rest.stream === true ? { stream_options: { include_usage: true } } : {}),
        },
      };
    }
    case 'messages':
      return { body: { ...common, max_tokens: bounded(rest.max_tokens) } };
  }
}

/** Whether the agent itself executes the tool, inside the sandbox. */
function isLocal(tool: Json, protocol: Protocol): boolean {
  const type = isMapping(tool) ? tool.type : undefined;
  if (protocol !== 'messages') return type === 'function' || type === 'custom' || type === 'local_shell';
  return (
    type === undefined ||
    type === 'custom' ||
    (typeof type === 'string' && /^(bash|text_editor)_\d+$/.test(type))
  );
}

/** Members that make a provider fetch something: an image, a file, a tool server. */
const ADDRESSES = new Set(['image_url', 'file_url', 'server_url', 'url']);

function hasRemoteAddress(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasRemoteAddress);
  if (!isMapping(value)) return false;
  return Object.entries(value).some(
    ([key, member]) =>
      (ADDRESSES.has(key) && typeof member === 'string' && !member.startsWith('data:')) ||
      hasRemoteAddress(member),
  );
}

function bounded(asked: Json | undefined): number {
  return typeof asked === 'number' && asked >= 1
    ? Math.min(Math.floor(asked), MAX_OUTPUT_TOKENS)
    : MAX_OUTPUT_TOKENS;
}
