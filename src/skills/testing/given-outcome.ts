import { ZodError } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { messageOf } from '../../core/errors.ts';
import type { Step } from '../../domain/chain/chain.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import type { StepContext, StepHandler, StepResult } from '../../engine/steps/step.ts';
import { HEAD_SHA } from './case-reader.ts';

type Given = Readonly<Record<string, Json>>;

const SAID = 'given by the case';

/** The members that a case can leave out, by kind of outcome. */
const DEFAULTS: Readonly<Record<string, (given: Given) => Given>> = {
  review_verdict: ({ verdict = null }) => ({
    verdict,
    passed: typeof verdict === 'string' ? verdict.startsWith('APPROVE') : null,
    head_sha: HEAD_SHA,
    round: 1,
    findings: [],
    files_reviewed: 1,
    left_out: [],
    analyzers: [],
  }),
  ci_result: () => ({
    head_sha: HEAD_SHA,
    lint_passed: null,
    tests_passed: null,
    build_passed: null,
    typecheck_passed: null,
    test_count: null,
    failure_summary: null,
    checks: [],
    commands: [],
  }),
};

/** A step whose stated result is no outcome, and why. */
export interface InvalidOutcome {
  step: string;
  because: string;
}

/**
 * The handler of a step whose result a case states: it concludes that instead of working, with the same
 * capability. Files that the step must leave are there.
 * @param onInvalid called when the case states no valid outcome; the step fails, which a case could expect
 */
export function givenHandler(
  step: Step,
  handler: StepHandler,
  given: Given,
  onInvalid: (outcome: InvalidOutcome) => void,
): StepHandler {
  const { countersigned: _, refresh: __, ...declared } = handler;
  return { ...declared, run: async (context) => resultOf(step, context, given, onInvalid) };
}

function resultOf(
  step: Step,
  { step: folded }: StepContext,
  given: Given,
  onInvalid: (outcome: InvalidOutcome) => void,
): StepResult {
  const faulty = (because: string): StepResult => {
    onInvalid({ step: step.id, because });
    const summary = `the case’s outcome of "${step.id}" is not valid: ${because}`;
    return { kind: 'failed', reason: reason('step.failed.error', summary), retryable: false };
  };
  if (typeof given.fails === 'string')
    return { kind: 'failed', reason: reason('step.failed.error', given.fails), retryable: false };
  const expected = folded.artifacts?.expected ?? [];
  const [declared] = expected.flatMap((entry) => (entry.kind === 'outcome' ? [entry.outcome].flat() : []));
  const usual = declared ?? (folded.uses.kind === 'action' ? 'action_result' : undefined);
  const kind = typeof given.outcome_kind === 'string' ? given.outcome_kind : usual;
  if (kind === undefined) return faulty('its outcome_kind is missing');
  const action = kind === 'action_result' ? { action: folded.uses.name, details: {} } : {};
  const members = {
    summary: SAID,
    passed: true,
    ...action,
    ...DEFAULTS[kind]?.(given),
    ...given,
    outcome_kind: kind,
  };
  try {
    return {
      kind: 'done',
      outcome: makeOutcome(members as never),
      blobs: expected.flatMap((entry) =>
        entry.kind === 'file' && entry.required ? [{ kind: 'file', name: entry.path, data: SAID }] : [],
      ),
    };
  } catch (error) {
    if (!(error instanceof ZodError)) throw error;
    const [issue] = error.issues;
    return faulty(`${issue?.path.join('.')}: ${issue?.message ?? messageOf(error)}`);
  }
}
