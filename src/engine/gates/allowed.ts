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
 * The handler behind the policy: at every look, before it asks, does or wishes for anything, it is held against what its run
 * may do at this moment. A role that was taken away since the last look counts at this one.
 */
export function allowed(
  step: Pick<Step, 'requiresApproval'>,
  handler: StepHandler,
  policy: PolicyEngine,
): StepHandler {
  const { capability } = handler;
  const asks = needsApproval(step, capability);
  return {
    ...handler,
    async run(context) {
      // Every run has the least, and a countersign gives the most: neither hangs on anything that is to be read.
      const needsFacts = !asks && !isTrusted(LEAST_TRUST.level, capability.minimumTrust);
      const facts = needsFacts
        ? await readTrustContext(context.reader, context.repo, context.state.run)
        : undefined;
      const moved = facts && headMoved(context, facts);
      if (moved) return { kind: 'superseded', reason: moved };
      const decision = decide(context, capability, policy, asks, facts ? trustOf(facts) : LEAST_TRUST);
      const goesOn = decision.verdict === 'allowed' || (decision.verdict === 'needs_confirmation' && asks);
      return goesOn
        ? handler.run(context)
        : { kind: 'failed', reason: blocked(capability, decision), retryable: false };
    },
  };
}

/**
 * Decides again once the step's question was answered with yes, on what the gate has just read: a condition besides the gate's
 * own, never in place of one.
 * @returns how the step ends when it may not go on.
 */
export function refusedAfterAll(
  context: StepContext,
  capability: Capability,
  policy: PolicyEngine,
  { approval, pullRequest }: { approval: Approval; pullRequest: PullRequest },
): StepResult | undefined {
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
  if (decision.verdict === 'allowed') return undefined;
  return {
    kind: 'failed',
    reason: blocked(capability, decision),
    retryable: false,
    approval: { ...approval, status: 'void' },
  };
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
