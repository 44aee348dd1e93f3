import { CountersignError } from '../../core/errors.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import type { PolicyEngine } from '../../domain/policy/engine.ts';
import { type Refusal, refusedBefore } from '../../domain/policy/permission.ts';
import { isTrusted, LEAST_TRUST } from '../../domain/policy/trust.ts';
import type { StepContext, StepHandler } from '../steps/step.ts';
import { readTrustContext } from './trust-facts.ts';

/**
 * Asks the policy whether the run may use the capability now. What was true at an earlier attempt does not
 * count: somebody's role may have changed.
 * @param asks whether the maintainers are asked before the step does anything
 * @returns how the step ends if it may not go on
 */
export async function notPermitted(
  { reader, repo, state: { run } }: StepContext,
  capability: Capability,
  policy: PolicyEngine,
  asks: boolean,
): Promise<Refusal | undefined> {
  // A countersign gives the highest trust and every run has the least. Neither depends on a fact.
  const needsFacts = !asks && !isTrusted(LEAST_TRUST.level, capability.minimumTrust);
  const facts = needsFacts ? await readTrustContext(reader, repo, run) : undefined;
  return refusedBefore({ capability, policy, run }, asks, facts);
}

/**
 * The handler behind the policy, for callers other than a step. Nobody is asked there. An outcome that may not
 * be read again throws, because the older outcome would count otherwise.
 */
export function permitted(handler: StepHandler, policy: PolicyEngine): StepHandler {
  const { capability, refresh } = handler;
  return {
    ...handler,
    run: async (context) => (await notPermitted(context, capability, policy, false)) ?? handler.run(context),
    ...(refresh && {
      refresh: async (context) => {
        const refusal = await notPermitted(context, capability, policy, false);
        if (refusal) throw new CountersignError('step.refused', refusal.reason.summary);
        return refresh(context);
      },
    }),
  };
}
