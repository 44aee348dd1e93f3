import { z } from 'zod';
import { sentenceBy } from '../../core/sentence.ts';
import { nameOf } from '../../domain/chain/shape.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { StepContext, StepResult } from '../steps/step.ts';
import { issueNumber } from './target.ts';

/** Text that people read. At run time any value is one, as in longer texts; lint refuses a list or a mapping. */
export function text(describe: string, longest = 60_000) {
  return z.string().min(1).max(longest).describe(describe).meta({ text: true });
}

/**
 * The name of a branch or tag. Git allows more; these names have no characters that mean something to a shell, because
 * people copy commands that name them. Source: https://git-scm.com/docs/git-check-ref-format
 */
export function gitName(what: string, longest: number) {
  const allowed = /^(?!.*(?:\.\.|\/\/|\/\.|\.lock(?:\/|$)))[A-Za-z0-9](?:[A-Za-z0-9._/+-]*[A-Za-z0-9_+-])?$/;
  return z
    .string()
    .max(longest)
    .regex(allowed, { error: `${what} has only letters, digits and . _ / + -` });
}

const OWN_NUMBER = 'is the number of the run’s own pull request or issue, such as "{{ trigger.pr_number }}"';
const number = (key: string) => {
  const error = `"${key}" ${OWN_NUMBER}`;
  const digits = z.string().regex(/^[1-9]\d{0,9}$/, { error });
  return z.union([z.int({ error }).positive({ error }), digits], { error }).optional();
};

/** The inputs that name the subject, for readers of the YAML. */
export const pullRequestInput = {
  pr: number('pr').describe(
    'The run’s own pull request, for readers of the file. Another number fails the step.',
  ),
};
export const subjectInput = {
  ...pullRequestInput,
  issue: number('issue').describe(
    'The run’s own issue, for readers of the file. Another number fails the step.',
  ),
};

/** Inputs that a step cannot run with, before anybody is asked about it. */
export function brokenInputs(
  { name, input }: { name: string; input?: z.ZodObject },
  context: Pick<StepContext, 'inputs' | 'state'>,
): Reason | undefined {
  if (!input) return undefined;
  const read = readInputs(input, context);
  return 'problem' in read ? invalidInput(name, read.problem).reason : undefined;
}

export function invalidInput(name: string, problem: string): Extract<StepResult, { kind: 'failed' }> {
  // Not retryable: another attempt has the same inputs.
  return {
    kind: 'failed',
    reason: reason('step.failed.invalid_input', `${name} cannot run with its inputs: ${problem}`),
    retryable: false,
  };
}

const MAX_PROBLEMS = 3;

/** The rendered inputs, checked. Unknown keys are ignored here: a run may be older than the rule against them. */
export function readInputs<Input extends z.ZodObject>(
  schema: Input,
  context: Pick<StepContext, 'inputs' | 'state'>,
): { value: z.infer<Input> } | { problem: string } {
  const given = Object.fromEntries(
    Object.entries(context.inputs).flatMap(([key, value]) => {
      // An expression whose value is missing becomes null, which is no value.
      if (value === null) return [];
      const field = schema.shape[key] as z.ZodType | undefined;
      return [[key, field && isText(field) && typeof value !== 'string' ? JSON.stringify(value) : value]];
    }),
  );
  const result = schema.strip().safeParse(given, { error: sentenceBy(nameOf) });
  if (!result.success) {
    const problems = [...new Set(result.error.issues.map(({ message }) => message))];
    return { problem: problems.slice(0, MAX_PROBLEMS).join('; ') };
  }
  const names = ['pr', 'issue'].filter((key) => given[key] !== undefined);
  if (names.length > 0 && issueNumber(context) === undefined) {
    return { problem: `${names.map((key) => `"${key}"`).join(' and ')} ${OWN_NUMBER}` };
  }
  return { value: result.data as z.infer<Input> };
}

function isText(field: z.ZodType): boolean {
  const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
  return field.meta()?.text === true || inner.meta()?.text === true;
}
