import { CountersignError } from '../../core/errors.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import type { MandatoryGates } from '../../domain/gate/placed.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { notJudged, permissionOf, verdictKey } from '../../domain/policy/gate/verdict.ts';
import { type TrustContext, trustOf } from '../../domain/policy/trust.ts';
import type { Registry } from '../../engine/sessions/registry.ts';
import type { StepPolicy } from '../../messages/cli/policy.ts';
import { gitHubSays } from '../../messages/cli/policy.ts';
import { GitHubError } from '../../ports/github.ts';

/** Facts of a run that has started. For a run that could start there are none. */
export interface RunFacts {
  /** The countersign of a step's own approval, if it has one. */
  countersignOf(step: Step): TrustContext['countersign'];
  /** The newest verdict of each gate. */
  verdicts: readonly GateVerdict[];
}

const NO_RUN: RunFacts = { countersignOf: () => undefined, verdicts: [] };

/**
 * The policy's decision for each step of a chain, made as a session makes it, from the known facts.
 * @param mandatory the gates that the settings require
 * @throws CountersignError if a step names something that this version does not have
 */
export function decideSteps(
  chain: Chain,
  context: TrustContext,
  { useOf, policy }: { useOf: Registry['useOf']; policy: PolicyEngine },
  mandatory: readonly MandatoryGates[],
  { countersignOf, verdicts }: RunFacts = NO_RUN,
): StepPolicy[] {
  return chain.steps.map((step) => {
    const use = useOf(step);
    const countersign = countersignOf(step);
    const trust = trustOf({ ...context, countersign });
    const gates = gateResults(step, mandatory, verdicts, countersign !== undefined);
    return {
      id: step.id,
      index: step.index,
      ...use,
      trust: trust.level,
      decision: policy.decide({ ...use, trust, gates, chain: chain.name }),
    };
  });
}

function gateResults(
  step: Step,
  mandatory: readonly MandatoryGates[],
  verdicts: readonly GateVerdict[],
  countersigned: boolean,
): Explanation[] {
  const irreversible = actionOf(step.uses)?.irreversible === true;
  const { pre, post } = gatesOfStep(step, mandatory);
  return [...pre, ...post].map((placed) => {
    const key = verdictKey({ ...placed, gate: placed.gate.id, step: step.id });
    const found = verdicts.find((verdict) => verdictKey(verdict) === key);
    return found ? permissionOf(found, { irreversible, countersigned }) : notJudged(placed);
  });
}

/**
 * Turns errors of GitHub into errors with one sentence, because they are not bugs.
 * @throws CountersignError `cli.github`, or `missing` if GitHub answers "not found"
 */
export async function readingGitHub<T>(work: () => Promise<T>, missing?: CountersignError): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    if (missing && error.kind === 'not_found') throw missing;
    throw new CountersignError('cli.github', gitHubSays(error.message));
  }
}
