import { z } from 'zod';
import { describeFailure, spentOnModel } from '../../../messages/skills/model.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { type CodeHost, HostRefusal } from './host.ts';

/** The time is less than `llm_query` may take altogether, so that the model's own words for a failure are read. */
const LIMITS: Limits = { maxOutputTokens: 4_000, timeoutMs: 45_000 };

const answerSchema = z.strictObject({ text: z.string().describe('The answer to the question.') });

/**
 * A template's questions to the model, paid from the budgets of its run. The whole question is the template's and may quote
 * strangers, so what comes back is theirs as much as the model's.
 * @param note is told what each question took
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
