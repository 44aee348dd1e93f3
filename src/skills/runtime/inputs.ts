import type { z } from 'zod';
import { reason } from '../../domain/explanation/reason.ts';
import type { StepContext, StepResult } from '../../engine/steps/step.ts';
import { wrongInput } from '../../messages/skills/skill-inputs.ts';

/**
 * What a step's `with:` says of the inputs that a built-in skill reads; those it does not know are for the chain's own rules. They may be
 * expressions, so they cannot be looked at before the step runs; and one that is wrong is no reason to go on with what was not asked for.
 */
export function readInputs<T>(
  schema: z.ZodType<T>,
  { inputs }: Pick<StepContext, 'inputs'>,
): { ok: true; value: T } | { ok: false; result: StepResult } {
  const read = schema.safeParse(inputs);
  if (read.success) return { ok: true, value: read.data };
  const said = read.error.issues.map(({ path, message }) => wrongInput(path.join('.'), message));
  const because = reason('step.failed.invalid_input', said.join('; '));
  // The inputs are those of the run: another attempt would have the same ones.
  return { ok: false, result: { kind: 'failed', reason: because, retryable: false } };
}
