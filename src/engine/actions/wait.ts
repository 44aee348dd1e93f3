import { z } from 'zod';
import { formatDuration } from '../../core/duration.ts';
import { duration } from '../../domain/chain/shape.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { ExpressionError } from '../../domain/expression/condition.ts';
import { compileCriterion, factsIn } from '../../domain/policy/gate/criterion.ts';
import { question } from '../../domain/policy/gate/judge.ts';
import { conditionContext } from '../../domain/run/context.ts';
import { recheckInMs } from '../../domain/run/question.ts';
import { utc } from '../../messages/text/pretty.ts';
import { readFacts } from '../gates/pull-request-facts.ts';
import type { StepContext, StepResult } from '../steps/step.ts';
import { plainAction } from './action.ts';
import { invalidInput, subjectInput } from './inputs.ts';

/** In milliseconds. */
const USUAL_TIMEOUT_MS = 604_800_000;

export const wait = plainAction({
  name: 'wait',
  about:
    'Waits for a length of time, or until an expression over fresh facts of the pull request holds. A new push ends the wait with its run. The time counts from the start of the step.',
  permissions: [],
  input: z.strictObject({
    ...subjectInput,
    for: duration('30d').optional().describe('How long, such as `30m`, at most `30d`.'),
    until: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe(
        'Instead of `for`: an expression as in the criteria of [gates](gates.md#facts-about-a-pull-request), with at least one fact that can change, such as `"{{ \'ready\' in pr.labels }}"`. Only true ends the wait.',
      ),
    timeout: duration('30d')
      .optional()
      .describe('With `until`: the longest wait, at most `30d`; `7d` if left out. After it, the step fails.'),
  }),
  once: 'nothing is written',
  async plan(context, { for: lengthMs, until, timeout = USUAL_TIMEOUT_MS }) {
    const now = context.clock.now();
    const started = context.invocation.startedAt ?? now;
    if ((lengthMs === undefined) === (until === undefined))
      return invalidInput('wait', 'it needs either "for" or "until"');
    if (until !== undefined) return untilHolds(context, until, { started, timeout, now });
    const end = new Date(started.getTime() + (lengthMs ?? 0));
    if (now >= end) return waited(`waited ${formatDuration(lengthMs ?? 0)}`, started, now);
    return {
      kind: 'waits',
      for: 'until',
      until: end,
      reason: reason('step.waiting.until', `until ${utc(end)}`),
    };
  },
});

function waited(summary: string, started: Date, now: Date) {
  const details = { waited_ms: now.getTime() - started.getTime() };
  return { kind: 'does' as const, summary, details, effects: [] };
}

async function untilHolds(
  context: StepContext,
  source: string,
  { started, timeout, now }: { started: Date; timeout: number; now: Date },
): Promise<ReturnType<typeof waited> | Extract<StepResult, { kind: 'failed' | 'waits' }>> {
  const judged = await judge(context, source);
  if ('problem' in judged) return invalidInput('wait', judged.problem);
  const { passed, description, evidence, may_change: mayChange } = judged;
  const facts = `${description} (${evidence})`;
  if (passed) return waited(`it holds now: ${facts}`, started, now);
  const end = started.getTime() + timeout;
  if (!mayChange || now.getTime() >= end) {
    const because = mayChange
      ? `waited ${formatDuration(timeout)} for ${facts}`
      : `cannot wait for ${facts}, which cannot change`;
    return { kind: 'failed', reason: reason('step.failed.wait', because), retryable: false };
  }
  const next = now.getTime() + recheckInMs(now.getTime() - started.getTime());
  return {
    kind: 'waits',
    for: 'until',
    until: new Date(Math.min(end, next)),
    reason: reason('step.waiting.until', `until ${facts}`),
  };
}

async function judge(context: StepContext, source: string) {
  try {
    const facts = await readFacts(context, factsIn(compileCriterion(source)));
    return question(
      { kind: 'expression', id: 'until', if: source },
      { facts, context: conditionContext(context.state, context.step.id), now: context.clock.now() },
    ).judge();
  } catch (error) {
    // Lint refuses such an expression, so the run is older than a rule.
    if (error instanceof ExpressionError) return { problem: error.message };
    throw error;
  }
}
