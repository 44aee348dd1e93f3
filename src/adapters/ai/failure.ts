import { APICallError } from 'ai';
import type { Tokens } from '../../domain/model/price.ts';
import type { Failure, Reply } from '../../ports/model.ts';
import { MAX_RESPONSE_BYTES, ResponseTooLarge } from './bounded-fetch.ts';

const NOTHING: Tokens = { input: 0, output: 0 };

/**
 * Converts what the package threw into a failure. Never includes the package's text of the request, which
 * contains the prompt.
 */
export function failedReply(error: unknown): Reply {
  const causes = withCauses(error);
  if (causes.some((cause) => cause instanceof ResponseTooLarge)) {
    return { kind: 'failed', failure: { kind: 'too_large', limit: MAX_RESPONSE_BYTES }, tokens: null };
  }
  const call = causes.find((cause) => APICallError.isInstance(cause));
  const status = call?.statusCode;
  if (call && status !== undefined && status >= 400) {
    return {
      kind: 'failed',
      failure: refusal(status, call.message),
      // Providers do not charge for refused or failed requests.
      tokens: NOTHING,
      ...retryAfter(call.responseHeaders),
    };
  }
  const code = causes.map(codeOf).find((known) => known !== undefined);
  if (code !== undefined) {
    const never = code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN';
    return {
      kind: 'failed',
      failure: { kind: 'unreachable', detail: code },
      tokens: never ? NOTHING : null,
    };
  }
  return {
    kind: 'failed',
    failure: { kind: 'unreadable', detail: causes.at(-1)?.message ?? '' },
    tokens: null,
  };
}

function refusal(status: number, detail: string): Failure {
  if (status === 401 || status === 403) return { kind: 'unauthorized', detail };
  if (status === 429) return { kind: 'rate_limited', detail };
  // Providers use 408 and 409 for their own time-outs and conflicts.
  if (status >= 500 || status === 408 || status === 409) return { kind: 'unavailable', status, detail };
  return { kind: 'rejected', status, detail };
}

/** All providers use seconds (RFC 9110, section 10.2.3); `retry-after-ms` is OpenAI's. */
function retryAfter(headers: Record<string, string> = {}): { retryAfterMs?: number } {
  const { 'retry-after-ms': ms, 'retry-after': seconds } = headers;
  if (ms !== undefined && /^\d{1,9}$/.test(ms)) return { retryAfterMs: Number(ms) };
  if (seconds !== undefined && /^\d{1,7}$/.test(seconds)) return { retryAfterMs: Number(seconds) * 1_000 };
  return {};
}

function withCauses(error: unknown): Error[] {
  const found: Error[] = [];
  for (let at = error; at instanceof Error && !found.includes(at); at = at.cause) found.push(at);
  return found;
}

/** The error code of the system or of undici for a connection problem. */
function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' && /^(E[A-Z]|UND_ERR_)/.test(error.code)
    ? error.code
    : undefined;
}
