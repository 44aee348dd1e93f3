import { z } from 'zod';
import { reason } from '../../domain/explanation/reason.ts';
import type { StepContext, StepResult } from '../../engine/steps/step.ts';
import { wrongInput } from '../../messages/skills/skill-inputs.ts';

/**
 * Reads the inputs of a built-in skill from a step's `with:`. Unknown inputs are left to the chain's own
 * rules. Inputs can be expressions, so they cannot be checked before the step runs. An invalid input fails
 * the step instead of falling back to a default that nobody asked for.
 */
export function readInputs<T>(
  schema: z.ZodType<T>,
  { inputs }: Pick<StepContext, 'inputs'>,
): { ok: true; value: T } | { ok: false; result: StepResult } {
  const read = schema.safeParse(inputs);
  if (read.success) return { ok: true, value: read.data };
  const problems = read.error.issues.map(({ path, message }) => wrongInput(path.join('.'), message));
  const because = reason('step.failed.invalid_input', problems.join('; '));
  // Not retryable: the inputs belong to the run, so another attempt would have the same.
  return { ok: false, result: { kind: 'failed', reason: because, retryable: false } };
}

/** What lint allows in the `with:` of a built-in skill: its inputs, and `pr`, which names the subject for readers. */
export function writtenInputs({ shape }: z.ZodObject): z.ZodObject {
  return z.strictObject({ pr: z.unknown().optional(), ...shape });
}
