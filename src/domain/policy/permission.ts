import { type Reason, reason } from '../explanation/reason.ts';
import type { Capability } from './capability.ts';
import type { PolicyDecision, PolicyEngine } from './engine.ts';
import { LEAST_TRUST, type Origin, type TrustContext, trustOf } from './trust.ts';

/** A step that wants to use a capability, and who decides about that. */
export interface Use {
  capability: Capability;
  policy: PolicyEngine;
  run: { repository: string; headSha: string; chain: string };
}

/** The result of a step that the policy refuses. */
export type Refusal =
  | { kind: 'failed'; reason: Reason; retryable: false }
  | { kind: 'superseded'; reason: Reason };

/** Whether the maintainers are asked before the step does anything: the chain or the capability wants it. */
export function needsApproval(
  step: { requiresApproval: boolean },
  { confirmation }: Pick<Capability, 'confirmation'>,
): boolean {
  return step.requiresApproval || confirmation === 'person';
}

/**
 * Why the step may not begin, or `undefined` if it may.
 * @param asks whether the maintainers are asked before the step does anything
 * @param facts `undefined` if nothing had to be read, because every run has the trust that is needed
 */
export function refusedBefore(use: Use, asks: boolean, facts: TrustContext | undefined): Refusal | undefined {
  const moved = facts && headMoved(use.run.headSha, facts.origin);
  if (moved) return { kind: 'superseded', reason: moved };
  const { capability, policy, run } = use;
  const trust = facts ? trustOf(facts) : LEAST_TRUST;
  const decision = policy.decide({ capability, needsApproval: asks, trust, chain: run.chain });
  const goesOn = decision.verdict === 'allowed' || (decision.verdict === 'needs_confirmation' && asks);
  return goesOn ? undefined : { kind: 'failed', reason: blocked(capability, decision), retryable: false };
}

/**
 * Decides again after the countersign, with the pull request that the merge gate has just read. The merge gate
 * must agree as well.
 * @returns why the step may not go on, or `undefined` if it may
 */
export function refusedAfter(
  { capability, policy, run }: Use,
  countersign: { headSha: string; countersignedBy: readonly string[] },
  pullRequest: {
    headRepository: string | null;
    headSha: string;
    author: { login: string; type: string };
    authorAssociation: string;
  },
): Reason | undefined {
  const trust = trustOf({
    repository: run.repository,
    headSha: run.headSha,
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
    countersign: { headSha: countersign.headSha, by: countersign.countersignedBy },
  });
  const decision = policy.decide({ capability, needsApproval: true, trust, chain: run.chain });
  return decision.verdict === 'allowed' ? undefined : blocked(capability, decision);
}

function blocked({ name }: Capability, { why }: PolicyDecision): Reason {
  const open = why.reasons.filter(({ status }) => status !== 'met');
  const evidence = open.map(({ summary }) => ({ kind: 'policy' as const, id: name, label: summary }));
  return reason('gate.blocked.policy', why.summary, evidence, why);
}

/** Somebody pushed, and the event may be late. The run was for the earlier head, so it is over, not failed. */
function headMoved(headSha: string, origin: Origin | undefined): Reason | undefined {
  if (origin?.kind !== 'pull_request' || origin.headSha === headSha) return undefined;
  const [then, now] = [headSha.slice(0, 7), origin.headSha.slice(0, 7)];
  return reason('run.cancelled.superseded', `the head moved from ${then} to ${now}`, [
    { kind: 'commit', id: origin.headSha, label: now },
  ]);
}
