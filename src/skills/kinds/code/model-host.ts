import { z } from 'zod';
import { describeFailure, spentOnModel } from '../../../messages/skills/model.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { type CodeHost, HostRefusal } from './host.ts';

/** Shorter than the total time of `llm_query`, so that the model's own error is reported. */
const LIMITS: Limits = { maxOutputTokens: 4_000, timeoutMs: 45_000 };

const answerSchema = z.strictObject({ text: z.string().describe('The answer to the question.') });

/**
 * A program's questions to the model, charged to the budgets of its run. The whole prompt is the program's
 * and can quote untrusted text, so the answer is untrusted too.
 * @param note receives the usage of each question
 */
export function askModel(
  model: Model,
  purpose: Purpose,
  note: (line: string) => void,
): NonNullable<CodeHost['ask']> {
  return async (prompt, signal) => {
    const answer = await model.ask({ prompt, schema: answerSchema, limits: LIMITS, purpose, signal });
    note(spentOnModel(model.name, answer.spent));
    if (answer.kind === 'answered') return answer.value.text;
    throw new HostRefusal({ kind: 'by_model', detail: describeFailure(answer.failure) });
  };
}
