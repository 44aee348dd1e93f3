import { unreachable } from '../../core/errors.ts';
import { compileExpression } from '../expression/condition.ts';
import { pathOf } from '../expression/expression.ts';
import { type FalsePart, falseParts } from '../expression/false-parts.ts';
import type { Reference } from '../expression/reference.ts';
import type { Comparison, Expression } from '../expression/syntax.ts';
import { isNothing, member } from '../expression/value.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { conditionContext } from './context.ts';
import type { Invocation, RunState } from './run.ts';

/** Longer values of a chain are cut. */
const MAX_VALUE = 60;

type Place = Pick<Reference, 'root' | 'path'>;

/** What a condition reads. */
interface Seen {
  state: RunState;
  context: object;
}

/**
 * Why a step's condition is false, as a clause: `the review did not pass`. `undefined` if it cannot be put in words; its
 * source is for those who write chains.
 * @param reader the step whose condition it is
 * @param fresh outcomes that were read again and replace the stored ones
 */
export function whyConditionIsFalse(
  state: RunState,
  reader: string,
  source: string,
  fresh?: ReadonlyMap<string, Outcome>,
): string | undefined {
  const seen = { state, context: conditionContext(state, reader, fresh) };
  const parts = falseParts(source, seen.context);
  const clauses = parts ? parts.map((part) => clauseOf(seen, part)) : [missingOutcome(seen, source)];
  const known = clauses.filter((clause) => clause !== undefined);
  return known.length === 0 || known.length < clauses.length ? undefined : [...new Set(known)].join(' and ');
}

/** A condition is false without an outcome that it mentions, even if the rest of it is true. */
function missingOutcome(seen: Seen, source: string): string | undefined {
  for (const reference of compileExpression(source).references) {
    const clause = withoutOutcome(seen, reference);
    if (clause !== undefined) return clause;
  }
  return undefined;
}

function clauseOf(seen: Seen, { part, wanted }: FalsePart): string | undefined {
  switch (part.kind) {
    case 'member': {
      const path = pathOf(part);
      return (
        path && (withoutOutcome(seen, path) ?? passedClause(seen, path, wanted) ?? truth(seen, path, wanted))
      );
    }
    case 'compare':
      return comparison(seen, part, wanted);
    case 'in':
      return membership(seen, part, wanted);
    default:
      return undefined;
  }
}

/** `CI was skipped`, if the condition reads an outcome that does not exist. */
function withoutOutcome(seen: Seen, { root, path }: Reference): string | undefined {
  const step = root === 'steps' && path[1] === 'outcome' ? stepAt(seen, path[0]) : undefined;
  return step && step.outcome === null ? `${nameOf(seen, step)} ${endedText(step.status)}` : undefined;
}

function passedClause(seen: Seen, { root, path }: Place, wanted: boolean): string | undefined {
  const step =
    root === 'steps' && path.slice(1).join('.') === 'outcome.passed' ? stepAt(seen, path[0]) : undefined;
  if (!step) return undefined;
  const { outcome } = step;
  const passed = valueAt(seen, { root, path });
  if (outcome?.outcome_kind === 'ci_result' && outcome.checks.length === 0 && passed === false)
    return 'no checks ran';
  const name = nameOf(seen, step);
  if (isNothing(passed)) return `${name} has no verdict`;
  if (!wanted) return `${name} passed`;
  return outcome?.outcome_kind === 'ci_result' ? `${name} failed` : `${name} did not pass`;
}

function truth(seen: Seen, path: Reference, wanted: boolean): string | undefined {
  const subject = subjectOf(seen, path);
  return subject && `${subject} is ${wanted ? 'not true' : 'true'}`;
}

/** How a comparison that is false, or should be, is said. */
const COMPARED: Readonly<Record<Comparison, readonly [string, string]>> = {
  '==': ['is not', 'is'],
  '!=': ['is', 'is not'],
  '<': ['is not below', 'is below'],
  '<=': ['is not at most', 'is at most'],
  '>': ['is not above', 'is above'],
  '>=': ['is not at least', 'is at least'],
};

function comparison(
  seen: Seen,
  { operator, left, right }: Extract<Expression, { kind: 'compare' }>,
  wanted: boolean,
): string | undefined {
  const isEquality = operator === '==' || operator === '!=';
  const [of, value] = isEquality && left.kind === 'literal' ? [right, left] : [left, right];
  const path = pathOf(of);
  if (!path || value.kind !== 'literal') return undefined;
  const missing = withoutOutcome(seen, path);
  if (missing !== undefined) return missing;
  const differs = wanted === (operator === '==');
  if (isEquality && path.path.at(-1) === 'verdict' && value.value === 'REQUEST_CHANGES') {
    const step = stepAt(seen, path.path[0]);
    return step && `${nameOf(seen, step)} ${differs ? 'requests no changes' : 'requests changes'}`;
  }
  const subject = subjectOf(seen, path);
  return subject && `${subject} ${COMPARED[operator][wanted ? 0 : 1]} ${literal(value.value)}`;
}

function membership(
  seen: Seen,
  { left, right }: Pick<Extract<Expression, { kind: 'and' | 'or' | 'in' }>, 'left' | 'right'>,
  wanted: boolean,
): string | undefined {
  const path = pathOf(left.kind === 'literal' ? right : left);
  if (!path) return undefined;
  const missing = withoutOutcome(seen, path);
  if (missing !== undefined) return missing;
  const subject = subjectOf(seen, path);
  if (subject === undefined) return undefined;
  if (left.kind === 'literal') return `${literal(left.value)} is ${wanted ? 'not in' : 'in'} ${subject}`;
  const values = right.kind === 'list' ? right.items.map((item) => item.kind === 'literal' && item) : [];
  const known = values.filter((item) => item !== false);
  if (known.length === 0 || known.length < values.length) return undefined;
  return `${subject} is ${wanted ? 'not ' : ''}${known.map(({ value }) => literal(value)).join(' or ')}`;
}

/** `the level of versions`, `the trigger's author`; `undefined` for what has no short name. */
function subjectOf(seen: Seen, { root, path }: Reference): string | undefined {
  const last = path.at(-1);
  if (typeof last !== 'string') return undefined;
  const noun = last.replaceAll('_', ' ');
  switch (root) {
    case 'steps': {
      const step = stepAt(seen, path[0]);
      return step && `the ${noun} of ${nameOf(seen, step)}`;
    }
    case 'trigger':
      return `the trigger's ${noun}`;
    case 'repo':
      return `the repository's ${noun}`;
    case 'inputs':
      return `the input ${last}`;
    default:
      return undefined;
  }
}

function valueAt({ context }: Seen, { root, path }: Place): unknown {
  return [root, ...path].reduce<unknown>((within, key) => member(within, key), context);
}

function stepAt({ state }: Seen, key: string | number | undefined): Invocation | undefined {
  return state.invocations.find((step) => (typeof key === 'number' ? step.stepIndex : step.stepId) === key);
}

/** `the review` or `CI`, unless the run has several; otherwise the step's id. */
function nameOf({ state }: Seen, step: Invocation): string {
  const noun = nounOf(state, step);
  const isOnly = state.invocations.filter((other) => nounOf(state, other) === noun).length === 1;
  return noun !== undefined && isOnly ? noun : `the step ${step.stepId}`;
}

/** By what the step runs, because a step that was skipped has no outcome. */
function nounOf({ run }: RunState, { stepIndex, outcome }: Invocation): string | undefined {
  const { kind, name } = run.definition.steps[stepIndex]?.uses ?? {};
  const isSkill = kind === 'skill';
  if (outcome?.outcome_kind === 'ci_result' || (isSkill && name === 'ci')) return 'CI';
  const isReview = isSkill && (name === 'pr-review' || name === 'codex-pr-review');
  return outcome?.outcome_kind === 'review_verdict' || isReview ? 'the review' : undefined;
}

function literal(value: string | number | boolean | null): string {
  return typeof value === 'string'
    ? `"${value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}…` : value}"`
    : String(value);
}

/** How a step ended, after its name. */
export function endedText(status: Invocation['status']): string {
  switch (status) {
    case 'pending':
    case 'running':
    case 'waiting_ci':
    case 'waiting_approval':
    case 'waiting_until':
      return 'has not ended';
    case 'completed':
      return 'has no outcome';
    case 'skipped':
      return 'was skipped';
    case 'failed':
      return 'failed';
    case 'timed_out':
      return 'timed out';
    case 'cancelled':
      return 'was cancelled';
    default:
      return unreachable(status);
  }
}
