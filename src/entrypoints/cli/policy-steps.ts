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
import type { StepPolicy } from '../../messages/policy.ts';
import { gitHubSays } from '../../messages/policy.ts';
import { GitHubError } from '../../ports/github.ts';

/** What is known of a run that has begun; nothing is, of one that could begin. */
export interface Known {
  /** The answer to a step's own question, if it is a yes. */
  countersignOf(step: Step): TrustContext['countersign'];
  /** The newest verdict of each gate. */
  verdicts: readonly GateVerdict[];
}

const NOTHING: Known = { countersignOf: () => undefined, verdicts: [] };

/**
 * What the policy says of each step of a chain, decided as a session decides it, with what is known of the step's gates.
 * @param mandatory the gates that the settings ask for
 * @throws CountersignError when a step names what this version does not have.
 */
export function decideSteps(
  chain: Chain,
  context: TrustContext,
  { useOf, policy }: { useOf: Registry['useOf']; policy: PolicyEngine },
  mandatory: readonly MandatoryGates[],
  { countersignOf, verdicts }: Known = NOTHING,
): StepPolicy[] {
  return chain.steps.map((step) => {
    const use = useOf(step);
    const countersign = countersignOf(step);
    const trust = trustOf({ ...context, countersign });
    const gates = gatesKnown(step, mandatory, verdicts, countersign !== undefined);
    return {
      id: step.id,
      index: step.index,
      ...use,
      trust: trust.level,
      decision: policy.decide({ ...use, trust, gates, chain: chain.name }),
    };
  });
}

function gatesKnown(
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
 * What GitHub does not answer is no bug of ours, and a sentence.
 * @throws CountersignError `cli.github`, and `missing` in the place of GitHub's "not found".
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
