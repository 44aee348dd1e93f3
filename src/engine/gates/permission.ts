import type { Step } from '../../domain/chain/chain.ts';
import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import type { Capability } from '../../domain/policy/capability.ts';
import type { PolicyDecision, PolicyEngine } from '../../domain/policy/engine.ts';
import { isTrusted, LEAST_TRUST, type Trust, type TrustContext, trustOf } from '../../domain/policy/trust.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { StepContext, StepHandler, StepResult } from '../steps/step.ts';
import { readTrustContext } from './trust-facts.ts';

/** Whether the maintainers are asked before the step does anything: the chain wants it, or what the step does does. */
export function needsApproval(step: Pick<Step, 'requiresApproval'>, { confirmation }: Capability): boolean {
  return step.requiresApproval || confirmation === 'person';
}

/**
 * Whether the policy lets the run use the capability at this moment. A role that was taken away since the last attempt counts at
 * this one.
 * @param asks whether the maintainers are asked before the step does anything
 * @returns how the step ends if it may not go on
 */
export async function notPermitted(
  context: StepContext,
  capability: Capability,
  policy: PolicyEngine,
  asks: boolean,
): Promise<StepResult | undefined> {
  // Every run has the least, and a countersign gives the most: neither hangs on anything that is to be read.
  const needsFacts = !asks && !isTrusted(LEAST_TRUST.level, capability.minimumTrust);
  const facts = needsFacts
    ? await readTrustContext(context.reader, context.repo, context.state.run)
    : undefined;
  const moved = facts && headMoved(context, facts);
  if (moved) return { kind: 'superseded', reason: moved };
  const decision = decide(context, capability, policy, asks, facts ? trustOf(facts) : LEAST_TRUST);
  const goesOn = decision.verdict === 'allowed' || (decision.verdict === 'needs_confirmation' && asks);
  return goesOn ? undefined : { kind: 'failed', reason: blocked(capability, decision), retryable: false };
}

/** The handler behind the policy, where something else than a step uses it, and so nobody is asked. */
export function permitted(handler: StepHandler, policy: PolicyEngine): StepHandler {
  return {
    ...handler,
    run: async (context) =>
      (await notPermitted(context, handler.capability, policy, false)) ?? handler.run(context),
  };
}

/**
 * Decides again once the maintainers countersigned, on what the merge gate has just read: a condition besides the gate's own, never
 * instead of one.
 * @returns why the step may not go on
 */
export function notPermittedAfterAll(
  context: StepContext,
  capability: Capability,
  policy: PolicyEngine,
  { approval, pullRequest }: { approval: Approval; pullRequest: PullRequest },
): Reason | undefined {
  const { repository, headSha } = context.state.run;
  const trust = trustOf({
    repository,
    headSha,
    origin: {
      kind: 'pull_request',
      headRepository: pullRequest.headRepository,
      headSha: pullRequest.headSha,
      author: {
        login: pullRequest.author.login,
        role: undefined,
        association: pullRequest.authorAssociation,
        isPerson: pullRequest.author.type === 'User',
      },
    },
    dispatcher: undefined,
    countersign: { headSha: approval.headSha, by: approval.countersignedBy },
  });
  const decision = decide(context, capability, policy, true, trust);
  return decision.verdict === 'allowed' ? undefined : blocked(capability, decision);
}

function decide(
  { state }: StepContext,
  capability: Capability,
  policy: PolicyEngine,
  asks: boolean,
  trust: Trust,
): PolicyDecision {
  return policy.decide({ capability, needsApproval: asks, trust, chain: state.run.chain });
}

function blocked({ name }: Capability, { why }: PolicyDecision): Reason {
  const open = why.reasons.filter(({ status }) => status !== 'met');
  const evidence = open.map(({ summary }) => ({ kind: 'policy' as const, id: name, label: summary }));
  return reason('gate.blocked.policy', why.summary, evidence, why);
}

/** Somebody pushed, and its event may be late: what was fired was fired for the head before. The run is not failed but over. */
function headMoved({ state }: StepContext, { origin }: TrustContext): Reason | undefined {
  const { headSha } = state.run;
  if (origin?.kind !== 'pull_request' || origin.headSha === headSha) return undefined;
  const [then, now] = [headSha.slice(0, 7), origin.headSha.slice(0, 7)];
  return reason('run.cancelled.superseded', `the head moved from ${then} to ${now}`, [
    { kind: 'commit', id: origin.headSha, label: now },
  ]);
}
