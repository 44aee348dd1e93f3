import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { redact } from '../../core/redact/redact.ts';
import type { Tokens } from '../../domain/model/price.ts';
import { describeFailure } from '../../messages/skills/model.ts';
import type {
  Answer,
  Failure,
  Message,
  Model,
  Provider,
  ProviderRequest,
  Purpose,
  Question,
  Reply,
  Spent,
} from '../../ports/model.ts';
import { INSTRUCTIONS, repairRequest } from './instructions.ts';
import { judge } from './judge.ts';
import type { Ledger } from './ledger.ts';

export interface ModelDeps {
  provider: Provider;
  ledger: Ledger;
  /** In milliseconds; rejects when aborted. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to 1, so that what failed together does not come again together. */
  random?: () => number;
}

/** In bytes of UTF-8; a prompt is a template of at most 256 KB and little more. */
const MAX_PROMPT_BYTES = 300_000;
/** Calls for one answer while the provider has troubles that pass. */
const MOST_TRIES = 3;
const FIRST_WAIT_MS = 1_000;
/** A provider that asks for more patience gets none: the step fails and can be tried again as a whole. */
const LONGEST_WAIT_MS = 30_000;
/** Tokens that a chat adds around each message; the largest in use add fewer than ten. */
const TOKENS_AROUND_MESSAGE = 16;
/** In characters, of an answer that is shown to the model again. */
const LONGEST_REPEATED = 20_000;

/**
 * Asks with patience where it helps: troubles of the provider that pass are waited out, an answer of the wrong form is sent back
 * once with what was wrong. Nothing else is tried again, since the same question would only cost the same again.
 */
export function createModel({
  provider,
  ledger,
  wait = async (ms, signal) => void (await sleep(ms, undefined, { signal })),
  random = Math.random,
}: ModelDeps): Model {
  return {
    name: provider.name,

    async ask<T>({ prompt, schema, limits, purpose, signal }: Question<T>): Promise<Answer<T>> {
      const spent: Spent = { calls: 0, tokens: { input: 0, output: 0 }, cost: 0 };
      let said: string | undefined;
      const failed = (failure: Failure, retryable = isPassing(failure)): Answer<T> => ({
        kind: 'failed',
        failure,
        retryable,
        spent,
        ...(said !== undefined && { said }),
      });
      const bytes = Buffer.byteLength(prompt);
      if (bytes > MAX_PROMPT_BYTES) {
        return failed({ kind: 'prompt_too_large', bytes, limit: MAX_PROMPT_BYTES });
      }
      const untilDeadline = AbortSignal.any([signal, AbortSignal.timeout(limits.timeoutMs)]);
      const messages: Message[] = [{ role: 'user', content: redact(prompt) }];
      const request = {
        system: INSTRUCTIONS,
        messages,
        schema: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
        maxOutputTokens: limits.maxOutputTokens,
      };

      for (let tries = 1, repaired = false; ; ) {
        const reply = await paidCall(request, purpose, spent, untilDeadline);
        signal.throwIfAborted();
        if (reply.kind === 'text') said = reply.text;
        const judged =
          reply.kind === 'text' ? judge(reply.text, schema) : { ok: false as const, failure: reply.failure };
        if (judged.ok)
          return { kind: 'answered', value: judged.value, spent, ...(said !== undefined && { said }) };
        const { failure } = judged;

        if (isMisformed(failure)) {
          if (repaired) return failed(failure);
          repaired = true;
          if (reply.kind === 'text' && reply.text !== '') {
            messages.push({ role: 'assistant', content: redact(reply.text).slice(0, LONGEST_REPEATED) });
          }
          messages.push({ role: 'user', content: repairRequest(describeFailure(failure)) });
          continue;
        }
        if (!isWorthWaiting(failure) || tries === MOST_TRIES) return failed(failure);
        const ms = (reply.kind === 'failed' ? reply.retryAfterMs : undefined) ?? backoffMs(tries, random());
        if (ms > LONGEST_WAIT_MS) return failed(failure);
        tries++;
        try {
          await wait(ms, untilDeadline);
        } catch {
          signal.throwIfAborted();
          return failed({ kind: 'timed_out' });
        }
      }
    },
  };

  async function paidCall(
    request: ProviderRequest,
    purpose: Purpose,
    spent: Spent,
    signal: AbortSignal,
  ): Promise<Reply> {
    const reserved = await ledger.reserve(purpose, mostTokens(request));
    if (!reserved.ok) {
      const failure: Failure = { kind: 'no_budget', exceeded: reserved.exceeded };
      return { kind: 'failed', failure, tokens: { input: 0, output: 0 } };
    }
    const reply = await provider.call(request, signal);
    const error = reply.kind === 'failed' ? describeFailure(reply.failure) : null;
    const cost = await ledger.settle(reserved.id, reply.tokens, error);
    spent.calls++;
    spent.tokens = spent.tokens && reply.tokens && sum(spent.tokens, reply.tokens);
    spent.cost = spent.cost === null || cost === null ? null : spent.cost + cost;
    return reply;
  }
}

/**
 * The most that a call can take. A token stands for at least one byte of what was sent, in every tokenizer that works on bytes;
 * estimates such as a quarter of the letters were rejected, since text can be written to have more.
 */
function mostTokens({ system, messages, schema, maxOutputTokens }: ProviderRequest): Tokens {
  const texts = [system, JSON.stringify(schema), ...messages.map(({ content }) => content)];
  const input = texts.reduce((total, text) => total + Buffer.byteLength(text) + TOKENS_AROUND_MESSAGE, 0);
  return { input, output: maxOutputTokens };
}

function sum(a: Tokens, b: Tokens): Tokens {
  return { input: a.input + b.input, output: a.output + b.output };
}

function backoffMs(tries: number, random: number): number {
  return FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + random);
}

function isMisformed({ kind }: Failure): boolean {
  return kind === 'empty' || kind === 'not_json' || kind === 'wrong_shape' || kind === 'tool_call';
}

function isWorthWaiting({ kind }: Failure): boolean {
  return kind === 'rate_limited' || kind === 'unavailable' || kind === 'unreachable';
}

/** Whether the step may be tried again later. */
function isPassing(failure: Failure): boolean {
  const { kind } = failure;
  return isWorthWaiting(failure) || kind === 'timed_out' || kind === 'unreadable' || kind === 'broken_off';
}
