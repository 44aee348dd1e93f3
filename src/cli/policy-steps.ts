import type { Chain, Step } from '../chain/chain.ts';
import { CountersignError } from '../core/errors.ts';
import { GitHubError } from '../github/github.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { type TrustContext, trustOf } from '../policy/trust.ts';
import type { Registry } from '../session/registry.ts';
import type { StepPolicy } from '../words/policy.ts';
import { gitHubSays } from '../words/policy.ts';

/**
 * What the policy says of each step of a chain, decided as a session decides it.
 * @param countersignOf what is known of the answer to a step's own question
 * @throws CountersignError when a step names what this version does not have.
 */
export function decideSteps(
  chain: Chain,
  context: TrustContext,
  { useOf, policy }: { useOf: Registry['useOf']; policy: PolicyEngine },
  countersignOf: (step: Step) => TrustContext['countersign'] = () => undefined,
): StepPolicy[] {
  return chain.steps.map((step) => {
    const use = useOf(step);
    const trust = trustOf({ ...context, countersign: countersignOf(step) });
    return {
      id: step.id,
      index: step.index,
      ...use,
      trust: trust.level,
      decision: policy.decide({ ...use, trust, gates: [], chain: chain.name }),
    };
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
