import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { modelSaysNo, NO_MODEL_TO_ASK } from '../../../messages/skills/assertion.ts';
import { describeFailure } from '../../../messages/skills/model.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { fenced } from '../../templating/fence.ts';
import { MAX_RENDERED_BYTES } from '../../templating/render.ts';

/** `unknown`: it could not be judged. */
export type Judgement =
  | { kind: 'holds' }
  | { kind: 'broken'; because: string }
  | { kind: 'unknown'; because: string; retryable: boolean };

const LIMITS: Limits = { maxOutputTokens: 1_000, timeoutMs: 60_000 };

const answer = z.strictObject({
  holds: z.boolean().describe('Whether the answer to the question is yes.'),
  because: z.string().min(1).max(500),
});

export interface ModelAsking {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
  purpose: Purpose;
  signal: AbortSignal;
}

/**
 * Asks a model whether a statement holds for a text. The text is fenced as data, because its author may try
 * to influence the answer.
 */
export async function askWhether(
  question: string,
  text: string,
  { model, purpose, signal }: ModelAsking,
): Promise<Judgement> {
  if (!model) return { kind: 'unknown', because: NO_MODEL_TO_ASK, retryable: false };
  const { context, fill } = fenced({ text }, randomBytes(8).toString('hex'));
  const prompt = fill(
    `Judge the text below by one question.\nQuestion: ${question}\nText: ${context.text}\n`,
    MAX_RENDERED_BYTES,
  );
  if (prompt === undefined) {
    const limit = {
      kind: 'prompt_too_large',
      bytes: Buffer.byteLength(text),
      limit: MAX_RENDERED_BYTES,
    } as const;
    return { kind: 'unknown', because: describeFailure(limit), retryable: false };
  }
  const answered = await model.ask({ prompt, schema: answer, limits: LIMITS, purpose, signal });
  if (answered.kind === 'failed') {
    return { kind: 'unknown', because: describeFailure(answered.failure), retryable: answered.retryable };
  }
  return answered.value.holds
    ? { kind: 'holds' }
    : { kind: 'broken', because: modelSaysNo(answered.value.because) };
}
