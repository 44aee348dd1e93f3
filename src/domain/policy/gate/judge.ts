import type { Json } from '../../../core/canonical.ts';
import { CountersignError, unreachable } from '../../../core/errors.ts';
import { type CompiledExpression, evaluateCondition } from '../../expression/condition.ts';
import { withoutBraces } from '../../expression/template.ts';
import { Budget, LimitReached, member, toJson } from '../../expression/value.ts';
import { freezeAt } from '../../gate/freeze.ts';
import type { GateCriterion } from '../../gate/gate.ts';
import type { Criterion } from '../../outcome/gate-verdict.ts';
import { type FactName, type Facts, factOf, isFactName, PR_FACTS } from '../facts/fact.ts';
import { compileCriterion, factsIn, PR } from './criterion.ts';

/** The facts and context that criteria are judged on. */
export interface GateInputs {
  facts: Facts;
  /** `steps`, `trigger` and `repo`, as conditions read them. */
  context: Record<string, unknown>;
  now: Date;
}

/**
 * One criterion: its inputs, and its judgement, which is a pure function of them. They are separate so that a
 * caller that already judged equal inputs need not do it again.
 */
export interface Question {
  inputs: Json;
  judge(): Criterion;
}

/** @throws CountersignError if it cannot be judged; the gate then blocks */
export function question(criterion: GateCriterion, inputs: GateInputs): Question {
  switch (criterion.kind) {
    case 'expression':
      return expressionQuestion(criterion, inputs);
    case 'codeowners':
      return codeownersQuestion(criterion, inputs);
    case 'freeze':
      return freezeQuestion(criterion, inputs);
    default:
      return unreachable(criterion);
  }
}

function expressionQuestion(
  { id, if: source, because }: Extract<GateCriterion, { kind: 'expression' }>,
  { facts, context }: GateInputs,
): Question {
  const compiled = compileCriterion(source);
  const names = factsIn(compiled);
  const seen = { ...context, [PR]: knownValues(facts, names) };
  const values = compiled.references.map(({ root, path }) => {
    const name = [root, ...path].join('.');
    return { name, value: valueAt(seen, [root, ...path]) ?? null };
  });
  const unread = names.flatMap((name) => {
    const fact = factOf(facts, name);
    return fact.known ? [] : [{ name, ...fact }];
  });
  return {
    inputs: { values, unread: unread.map(({ name, because }) => `${name}: ${because}`) },
    judge: () => {
      // An unknown fact means not passed, whatever the expression is: `not pr.draft` must not pass because
      // reading it failed.
      const passed = unread.length === 0 && evaluateCondition(compiled, seen);
      return {
        id,
        description: because ?? withoutBraces(source),
        passed,
        evidence:
          unread.length > 0
            ? unread.map(({ name, because }) => `pr.${name} is not known: ${because}`).join('; ')
            : clip(evidenceOf(values, facts)),
        may_change: !passed && mayChange(compiled, facts, names),
      };
    },
  };
}

/**
 * Whether another result is possible while the head stays the same, judging by the current state of each
 * fact.
 */
function mayChange(compiled: CompiledExpression, facts: Facts, names: readonly FactName[]): boolean {
  const outlooks = names.map((name) => {
    const fact = factOf(facts, name);
    if (!fact.known) return fact.lasting ? 'never' : 'later';
    return PR_FACTS[name].settled ? 'settled' : 'later';
  });
  return compiled.references.length > 0 && !outlooks.includes('never') && outlooks.includes('later');
}

function codeownersQuestion({ id }: { id: string }, { facts }: GateInputs): Question {
  const fact = factOf(facts, 'codeowners_approved');
  return {
    inputs: fact.known ? { approved: fact.value, evidence: fact.evidence ?? '' } : { because: fact.because },
    judge: () => ({
      id,
      description: 'approval by code owners',
      passed: fact.known && fact.value === true,
      evidence: fact.known ? clip(fact.evidence ?? '') : `not known: ${fact.because}`,
      may_change: fact.known ? fact.value !== true : !fact.lasting,
    }),
  };
}

function freezeQuestion(
  { id, freeze }: Extract<GateCriterion, { kind: 'freeze' }>,
  { now }: GateInputs,
): Question {
  const { frozen, until } = freezeAt(freeze, now);
  return {
    inputs: { frozen, until },
    judge: () => ({
      id,
      description: `no freeze: ${freeze.reason}`,
      passed: !frozen,
      evidence: frozen ? `frozen until ${until} (${freeze.time_zone ?? 'UTC'})` : 'not frozen now',
      may_change: frozen,
    }),
  };
}

function knownValues(facts: Facts, names: readonly FactName[]): Record<string, Json> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const fact = factOf(facts, name);
      return fact.known ? [[name, fact.value]] : [];
    }),
  );
}

function valueAt(context: object, path: readonly (string | number)[]): Json | undefined {
  const value = path.reduce<unknown>((within, key) => member(within, key), context);
  try {
    return toJson(value, new Budget());
  } catch (error) {
    // A value that is left out of the inputs could change unnoticed, and an outdated verdict would stay
    // valid.
    if (error instanceof LimitReached)
      throw new CountersignError('gate.too_large', `${path.join('.')} is too large to be judged`);
    throw error;
  }
}

function evidenceOf(values: readonly { name: string; value: Json }[], facts: Facts): string {
  return values
    .map(({ name, value }) => {
      const [root, fact] = name.split('.');
      const found = root === PR && isFactName(fact) ? factOf(facts, fact) : undefined;
      const more = found?.known && found.evidence !== undefined ? ` (${found.evidence})` : '';
      return `${name} is ${clip(formatValue(value), MAX_VALUE)}${more}`;
    })
    .join('; ');
}

function formatValue(value: Json): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value) && value.length > MAX_ENTRIES)
    return `${JSON.stringify(value.slice(0, MAX_ENTRIES))} and ${value.length - MAX_ENTRIES} more`;
  return JSON.stringify(value);
}

const MAX_ENTRIES = 10;
const MAX_VALUE = 200;
const MAX_EVIDENCE = 1_000;

function clip(text: string, length = MAX_EVIDENCE): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
