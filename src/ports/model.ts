import type { z } from 'zod';
import type { Exceeded } from '../domain/model/budget.ts';
import type { ModelName } from '../domain/model/name.ts';
import type { Tokens } from '../domain/model/price.ts';

/**
 * A language model for the engine: a question with the schema of its answer. The answer is validated, counted
 * against budgets and limited in time and size. Anything else is a typed failure, never a value (I5). The
 * model gets no tools.
 */
export interface Model {
  readonly name: ModelName;
  /** @throws the reason of the question's signal if it was aborted. The usage is recorded before. */
  ask<T>(question: Question<T>): Promise<Answer<T>>;
}

export interface Question<T> {
  prompt: string;
  schema: z.ZodType<T>;
  limits: Limits;
  purpose: Purpose;
  signal: AbortSignal;
}

export interface Limits {
  /** Per call. */
  maxOutputTokens: number;
  /** For all calls of the question together, including the pauses between them. */
  timeoutMs: number;
}

/** The purpose of a call: it decides which budgets count, and fills the columns of its row. */
export interface Purpose {
  runId: string | null;
  sessionId: string | null;
  repositoryId: number | null;
  pullRequest: number | null;
  skill: string | null;
  artifact: string | null;
}

/** `said`: the raw text of the last response; absent if there was none. */
export type Answer<T> =
  | { kind: 'answered'; value: T; spent: Spent; said?: string }
  | { kind: 'failed'; failure: Failure; retryable: boolean; spent: Spent; said?: string };

/** The usage of all calls of one question. */
export interface Spent {
  calls: number;
  /** `null`: a call ended without reporting it. */
  tokens: Tokens | null;
  /** In millionths of a dollar; `null` if the tokens or the model's price are unknown. */
  cost: number | null;
}

/** Why there is no answer. `detail` is untrusted text of the other side, shortened. */
export type Failure =
  | { kind: 'no_budget'; exceeded: Exceeded }
  | { kind: 'prompt_too_large'; bytes: number; limit: number }
  /** The provider rejects the key. */
  | { kind: 'unauthorized'; detail: string }
  /** The provider rejects the request: no such model, an invalid parameter. */
  | { kind: 'rejected'; status: number; detail: string }
  | { kind: 'rate_limited'; detail: string }
  | { kind: 'unavailable'; status: number; detail: string }
  | { kind: 'unreachable'; detail: string }
  /** The response does not follow the provider's protocol. */
  | { kind: 'unreadable'; detail: string }
  | { kind: 'timed_out' }
  | { kind: 'too_large'; limit: number }
  /** The answer exceeded its token limit and was truncated. */
  | { kind: 'cut_off'; limit: number }
  /** The provider stopped before the answer was complete, with its own reason. */
  | { kind: 'broken_off'; reason: string }
  /** The model refused, or its provider's filter did. */
  | { kind: 'declined' }
  | { kind: 'tool_call'; tool: string }
  | { kind: 'empty' }
  | { kind: 'not_json' }
  | { kind: 'wrong_shape'; detail: string };

/** A provider's adapter: makes one call and returns its result. */
export interface Provider {
  readonly name: ModelName;
  /** Never rejects. Returns `timed_out` when the signal aborts. */
  call(request: ProviderRequest, signal: AbortSignal): Promise<Reply>;
}

export interface ProviderRequest {
  system: string;
  messages: readonly Message[];
  /** JSON Schema of the answer. The provider may ignore it, so the answer is validated anyway. */
  schema: object;
  maxOutputTokens: number;
}

export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** `tokens` is `null` if the provider may have worked and did not report its usage. */
export type Reply =
  | { kind: 'text'; text: string; tokens: Tokens | null }
  | { kind: 'failed'; failure: Failure; tokens: Tokens | null; retryAfterMs?: number };
