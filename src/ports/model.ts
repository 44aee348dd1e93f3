import type { z } from 'zod';
import type { Exceeded } from '../domain/model/budget.ts';
import type { ModelName } from '../domain/model/name.ts';
import type { Tokens } from '../domain/model/price.ts';

/**
 * A language model as the engine sees it: a question with the shape of its answer. The answer is validated, paid for and bounded
 * in time and bytes; whatever else came back is a stated failure, never a value (I5). The model is offered no tools.
 */
export interface Model {
  readonly name: ModelName;
  /** @throws the reason of the question's signal when that was aborted; what was spent is recorded by then. */
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
  /** For each call. */
  maxOutputTokens: number;
  /** For all calls of the question together, waits between them included. */
  timeoutMs: number;
}

/** What a call is made for: whose budgets it counts against, and what its row names. */
export interface Purpose {
  runId: string | null;
  sessionId: string | null;
  repositoryId: number | null;
  pullRequest: number | null;
  skill: string | null;
  artifact: string | null;
}

/** `said`: the last words that came, as they came; absent when none did. */
export type Answer<T> =
  | { kind: 'answered'; value: T; spent: Spent; said?: string }
  | { kind: 'failed'; failure: Failure; retryable: boolean; spent: Spent; said?: string };

/** All calls of one question together. */
export interface Spent {
  calls: number;
  /** `null`: a call ended without telling. */
  tokens: Tokens | null;
  /** In millionths of a dollar; `null`: not known, for want of the tokens or of the model's price. */
  cost: number | null;
}

/** Why there is no answer. `detail` is what the other side said: text of strangers, in a few words. */
export type Failure =
  | { kind: 'no_budget'; exceeded: Exceeded }
  | { kind: 'prompt_too_large'; bytes: number; limit: number }
  /** The provider does not accept the key. */
  | { kind: 'unauthorized'; detail: string }
  /** The provider does not accept the question: no such model, a wrong parameter. */
  | { kind: 'rejected'; status: number; detail: string }
  | { kind: 'rate_limited'; detail: string }
  | { kind: 'unavailable'; status: number; detail: string }
  | { kind: 'unreachable'; detail: string }
  /** Something answered that does not speak the provider's protocol. */
  | { kind: 'unreadable'; detail: string }
  | { kind: 'timed_out' }
  | { kind: 'too_large'; limit: number }
  /** The answer was longer than it may be, in tokens, and ends somewhere. */
  | { kind: 'cut_off'; limit: number }
  /** The provider ended it before it was whole; the reason is in its words. */
  | { kind: 'broken_off'; reason: string }
  /** The model refused, or a filter of its provider did. */
  | { kind: 'declined' }
  | { kind: 'tool_call'; tool: string }
  | { kind: 'empty' }
  | { kind: 'not_json' }
  | { kind: 'wrong_shape'; detail: string };

/** The provider's side: one call and what came of it. */
export interface Provider {
  readonly name: ModelName;
  /** Never rejects; gives up, as `timed_out`, when the signal says so. */
  call(request: ProviderRequest, signal: AbortSignal): Promise<Reply>;
}

export interface ProviderRequest {
  system: string;
  messages: readonly Message[];
  /** JSON Schema of the answer. A hint to the provider: it is not relied upon. */
  schema: object;
  maxOutputTokens: number;
}

export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** `tokens` is `null` when the provider may have worked and did not say how much. */
export type Reply =
  | { kind: 'text'; text: string; tokens: Tokens | null }
  | { kind: 'failed'; failure: Failure; tokens: Tokens | null; retryAfterMs?: number };
