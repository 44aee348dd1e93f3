import { type Reason, type ReasonCode, reason } from '../explanation/reason.ts';
import { makeOutcome, type Outcome } from '../outcome/outcome.ts';
import type { RuleError, WrittenRule } from './rule.ts';
import { RuleSet } from './rule-set.ts';

/** The rules of a step: for its inputs before it runs, and for its outcome after. */
interface WithRules {
  validate?: readonly WrittenRule[] | undefined;
  expect?: readonly WrittenRule[] | undefined;
}

/** The rules that a sentence names; the reason's evidence has all of them. */
const MAX_RULES_NAMED = 3;

/**
 * The step's rules, compiled.
 * @throws CountersignError for unusable rules; the parser of chains refuses those
 */
export function rulesOfStep({ validate = [], expect = [] }: WithRules): {
  brokenInputs(inputs: object): Reason | undefined;
  brokenOutcome(outcome: Outcome): Reason | undefined;
} {
  const [inputRules, outcomeRules] = [new RuleSet(validate), new RuleSet(expect)];
  return {
    brokenInputs: (inputs) =>
      brokenBy('step.failed.invalid_input', 'its inputs break', inputRules.check(inputs)),
    brokenOutcome: (outcome) =>
      brokenBy('step.failed.unexpected_outcome', 'its outcome breaks', outcomeRules.check(outcome)),
  };
}

/**
 * An outcome that was read again, for the merge gate. If it now breaks a rule of its step's `expect:`, it
 * counts as not passed.
 */
export function stillExpected({ expect = [] }: WithRules, outcome: Outcome): Outcome {
  const broken = new RuleSet(expect).check(outcome);
  if (broken.length === 0) return outcome;
  const { content_hash, ...rest } = outcome;
  return makeOutcome({ ...rest, passed: false, summary: sentence('its outcome by now breaks', broken) });
}

function brokenBy(code: ReasonCode, words: string, broken: readonly RuleError[]): Reason | undefined {
  if (broken.length === 0) return undefined;
  const evidence = broken.map(({ rule_id, message }) => ({
    kind: 'rule' as const,
    id: rule_id,
    label: `${rule_id}: ${message}`,
  }));
  return reason(code, sentence(words, broken), evidence);
}

function sentence(words: string, broken: readonly RuleError[]): string {
  const named = broken.slice(0, MAX_RULES_NAMED).map(({ rule_id, message }) => `${rule_id} (${message})`);
  const left = broken.length - named.length;
  const count = broken.length === 1 ? 'a rule' : `${broken.length} rules`;
  return `${words} ${count}: ${named.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
