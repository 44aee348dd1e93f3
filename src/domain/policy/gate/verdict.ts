import { unreachable } from '../../../core/errors.ts';
import { criterion, type Explanation } from '../../explanation/explanation.ts';
import type { FailurePolicy } from '../../gate/gate.ts';
import type { PlacedGate } from '../../gate/placed.ts';
import type { Criterion, GateVerdict } from '../../outcome/gate-verdict.ts';
import { makeOutcome, type Outcome } from '../../outcome/outcome.ts';

/** A gate's name where gates of several scopes are listed: `freeze`, or `freeze (organisation)`. */
export function gateName({ gate, scope }: Pick<GateVerdict, 'gate' | 'scope'>): string {
  return scope === 'step' ? gate : `${gate} (${scope})`;
}

/** The verdict of a gate from its criteria. */
export function verdictOf(
  placed: PlacedGate,
  step: string,
  criteria: readonly Criterion[],
  inputsHash: string,
): GateVerdict {
  const passed = criteria.length > 0 && criteria.every((criterion) => criterion.passed);
  return verdict(placed, step, criteria, inputsHash, passed, placed.gate.on_failure);
}

/**
 * The verdict of a gate that threw an error. It blocks, whatever its failure policy, because the real verdict
 * is unknown.
 */
export function unjudged(placed: PlacedGate, step: string, because: string, inputsHash: string): GateVerdict {
  const criterion: Criterion = {
    id: 'judgement',
    description: 'judging the gate',
    passed: false,
    evidence: because,
    may_change: false,
  };
  return verdict(placed, step, [criterion], inputsHash, false, 'block');
}

function verdict(
  { gate, scope, at }: PlacedGate,
  step: string,
  criteria: readonly Criterion[],
  inputsHash: string,
  passed: boolean,
  policy: FailurePolicy,
): GateVerdict {
  const failed = criteria.filter((criterion) => !criterion.passed);
  const name = gateName({ gate: gate.id, scope });
  const because = failed.map(reasonOf).join('; ');
  const summary = passed ? `gate ${name} is passed` : `gate ${name} is not passed: ${because}`;
  const isBlocking = policy === 'block' || policy === 'require_human';
  return makeOutcome<'gate_verdict'>({
    outcome_kind: 'gate_verdict',
    summary: clip(summary),
    passed,
    gate: gate.id,
    scope,
    step,
    at,
    gate_passed: passed,
    on_failure: policy,
    feedback: clip(passed || policy === 'block' ? summary : `${summary}; ${CONSEQUENCE[policy]}`),
    notes: gate.description === undefined ? [] : [gate.description],
    criteria: [...criteria],
    blocking_reason: passed || !isBlocking ? null : clip(because),
    next_action: passed ? null : nextAction(policy, failed),
    inputs_hash: inputsHash,
  });
}

/** The description first, because a person may have written it for this case; then what was found. */
function reasonOf({ description, evidence }: Criterion): string {
  return evidence === '' ? description : `${description} (${evidence})`;
}

/** The effect of each policy. Blocking needs no explanation. */
const CONSEQUENCE: Readonly<Record<Exclude<FailurePolicy, 'block'>, string>> = {
  warn: 'that is a warning, and the step goes on',
  degrade: "the step's outcome counts as not passed",
  require_human: 'the step needs a countersign',
};

function nextAction(policy: FailurePolicy, failed: readonly Criterion[]): string {
  switch (policy) {
    case 'block':
      return failed.every(({ may_change }) => may_change)
        ? 'Settle what it says; it is checked again automatically.'
        : 'A new commit, or a change of the gate, is needed.';
    case 'warn':
    case 'degrade':
      return 'Settle what it says, then run the step again.';
    case 'require_human':
      return 'Somebody who may countersign answers the approval comment.';
    default:
      return unreachable(policy);
  }
}

/** An outcome's summary can have 4,000 characters. */
function clip(text: string): string {
  return text.length <= 2_000 ? text : `${text.slice(0, 1_999)}…`;
}

/** Whether this verdict blocks the step, without asking a person. */
export function blocks(found: GateVerdict): boolean {
  return !found.gate_passed && found.on_failure === 'block';
}

/** Whether the step needs a person's approval because of this verdict. */
export function wantsPerson({ gate_passed, on_failure }: GateVerdict): boolean {
  return !gate_passed && on_failure === 'require_human';
}

/** Whether time or people could still make all failed criteria pass. */
export function mayPassLater({ criteria }: GateVerdict): boolean {
  return criteria.every(({ passed, may_change }) => passed || may_change);
}

/** The outcome of a step under its gates with `degrade` that did not pass: it counts as not passed. */
export function degraded(outcome: Outcome, verdicts: readonly GateVerdict[]): Outcome {
  const failedGates = verdicts.filter(
    ({ gate_passed, on_failure }) => !gate_passed && on_failure === 'degrade',
  );
  if (failedGates.length === 0) return outcome;
  const { content_hash, summary, ...rest } = outcome;
  const names = failedGates.map(gateName).join(', ');
  return makeOutcome({
    ...rest,
    passed: false,
    summary: `counts as not passed, because of the gate ${names}: ${summary}`.slice(0, 4_000),
  });
}

/**
 * A verdict as a reason of the merge gate, which asks a person in any case. A countersign therefore satisfies
 * a gate with `require_human`. A gate with `degrade` blocks, because the outcome of a merge cannot be
 * degraded afterwards.
 */
export function conditionOf(found: GateVerdict): Explanation {
  const tree = verdictCriterion(found);
  const permits = found.on_failure === 'warn' || found.on_failure === 'require_human';
  return { ...tree, status: found.gate_passed || permits ? 'met' : 'unmet' };
}

/**
 * A verdict as a reason of the policy: whether the gate allows the step. A countersign satisfies a gate with
 * `require_human`. A gate with `degrade` blocks only an irreversible step.
 */
export function permissionOf(
  found: GateVerdict,
  step: { irreversible: boolean; countersigned: boolean },
): Explanation {
  const { gate_passed, on_failure } = found;
  const permits =
    on_failure === 'warn' ||
    (on_failure === 'degrade' && !step.irreversible) ||
    (on_failure === 'require_human' && step.countersigned);
  const refusal = on_failure === 'require_human' ? 'pending' : 'unmet';
  return { ...verdictCriterion(found), status: gate_passed || permits ? 'met' : refusal };
}

/** The reason for a gate that has not been judged yet. */
export function notJudged({ gate, scope, at }: PlacedGate): Explanation {
  const place = at === 'pre' ? 'before' : 'after';
  return criterion(
    'unknown',
    `gate ${gateName({ gate: gate.id, scope })} ${place} the step is unknown until the step runs`,
  );
}

/** A verdict as a branch of the explanation, with a node per criterion. */
export function verdictCriterion(found: GateVerdict): Explanation {
  const { gate_passed, on_failure, criteria } = found;
  const reasons = criteria.map(({ passed, description, evidence }) =>
    criterion(
      passed ? 'met' : on_failure === 'warn' ? 'met' : 'unmet',
      withWarning(passed, found, description),
      [],
      [evidence].filter(Boolean),
    ),
  );
  const status =
    gate_passed || on_failure === 'warn' ? 'met' : on_failure === 'require_human' ? 'pending' : 'unmet';
  return criterion(status, gate_passed ? found.summary : found.feedback, reasons);
}

function withWarning(passed: boolean, { on_failure }: GateVerdict, description: string): string {
  return !passed && on_failure === 'warn' ? `warning: ${description}` : description;
}

/** The newest verdict of each gate of each step, in the order in which the gates were first judged. */
export function newestVerdicts(verdicts: readonly GateVerdict[]): GateVerdict[] {
  return [...new Map(verdicts.map((found) => [verdictKey(found), found])).values()];
}

/** The verdicts of a run's gates, oldest first: those of earlier attempts, and those of this one. */
export function verdictsSoFar(
  { verdicts = [] }: { verdicts?: readonly GateVerdict[] },
  judged: readonly Outcome[],
): GateVerdict[] {
  return [...verdicts, ...judged.filter((outcome) => outcome.outcome_kind === 'gate_verdict')];
}

/** The newest verdict of a gate of a step. */
export function lastVerdict(
  verdicts: readonly GateVerdict[],
  { gate, scope, at }: PlacedGate,
  step: string,
): GateVerdict | undefined {
  const key = verdictKey({ gate: gate.id, scope, at, step });
  return verdicts.findLast((verdict) => verdictKey(verdict) === key);
}

/** Identifies the gate of a verdict. */
export function verdictKey({
  step,
  at,
  scope,
  gate,
}: Pick<GateVerdict, 'step' | 'at' | 'scope' | 'gate'>): string {
  return [step, at, scope, gate].join('\n');
}
