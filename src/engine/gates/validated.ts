import { canonicalJson } from '../../core/canonical.ts';
import type { Step } from '../../domain/chain/chain.ts';
import { type Reason, type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import { makeOutcome, type Outcome } from '../../domain/outcome/outcome.ts';
import type { RuleError } from '../../domain/rule/rule.ts';
import { RuleSet } from '../../domain/rule/rule-set.ts';
import type { StepHandler, StepResult } from '../steps/step.ts';

/** More can be read in the reason's evidence. */
const MAX_RULES_SAID = 3;

/**
 * The handler behind its step's rules. Inputs that break one of `validate:` fail the step at every look before it asks,
 * does or wishes for anything; an outcome that breaks one of `expect:` is none, so that nothing can build on it.
 */
export function validated(step: Step, handler: StepHandler): StepHandler {
  if (!step.validate && !step.expect) return handler;
  const inputRules = new RuleSet(step.validate ?? []);
  const outcomeRules = new RuleSet(step.expect ?? []);
  return {
    ...handler,
    async run(context) {
      const broken = inputRules.check(context.inputs);
      if (broken.length > 0) {
        // The inputs are those of the run: another attempt would have the same ones.
        const because = brokenBy('step.failed.invalid_input', 'its inputs break', broken);
        return { kind: 'failed', reason: because, retryable: false };
      }
      return expected(outcomeRules, await handler.run(context));
    },
  };
}

/**
 * An outcome that was read again, as the merge gate may judge it: one that breaks a rule of its step's `expect:` by now has
 * not passed, whatever it says itself.
 */
export function stillExpected(step: Step, outcome: Outcome): Outcome {
  const broken = new RuleSet(step.expect ?? []).check(outcome);
  if (broken.length === 0) return outcome;
  const { content_hash, ...rest } = outcome;
  return makeOutcome({ ...rest, passed: false, summary: sentence('its outcome by now breaks', broken) });
}

function expected(rules: RuleSet, result: StepResult): StepResult {
  if (result.kind !== 'done') return result;
  const broken = rules.check(result.outcome);
  if (broken.length === 0) return result;
  return {
    kind: 'failed',
    reason: brokenBy('step.failed.unexpected_outcome', 'its outcome breaks', broken),
    retryable: true,
    // Whoever asks why can read what was refused; what the step wished for on the strength of it is not done.
    blobs: [
      ...(result.blobs ?? []),
      { kind: 'log', name: 'refused-outcome.json', data: canonicalJson(result.outcome) },
    ],
    ...(result.approval ? { approval: result.approval } : {}),
  };
}

function brokenBy(code: ReasonCode, words: string, broken: readonly RuleError[]): Reason {
  const evidence = broken.map(({ rule_id, message }) => ({
    kind: 'rule' as const,
    id: rule_id,
    label: `${rule_id}: ${message}`,
  }));
  return reason(code, sentence(words, broken), evidence);
}

function sentence(words: string, broken: readonly RuleError[]): string {
  const said = broken.slice(0, MAX_RULES_SAID).map(({ rule_id, message }) => `${rule_id} (${message})`);
  const left = broken.length - said.length;
  const count = broken.length === 1 ? 'a rule' : `${broken.length} rules`;
  return `${words} ${count}: ${said.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}
