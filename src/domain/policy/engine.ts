import { unreachable } from '../../core/errors.ts';
import { combined, criterion, type Explanation } from '../explanation/explanation.ts';
import type { Capability } from './capability.ts';
import { isTrusted, type Trust } from './trust.ts';

/** One use of a capability by a step, with all that bears on it. */
export interface PolicyRequest {
  capability: Capability;
  /** The maintainers are asked before the step does anything. */
  needsApproval: boolean;
  trust: Trust;
  /**
   * What is known of the step's gates: each must be met. Left out by a session, which judges them itself, after it was told
   * that the step may be done.
   */
  gates?: readonly Explanation[];
  /** The chain's name, for telling how to get there. */
  chain: string;
}

/** `unknown`: nobody can say yet, and whoever must act on it takes it for a no (I5). */
export const VERDICTS = ['allowed', 'needs_confirmation', 'denied', 'unknown'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface PolicyDecision {
  verdict: Verdict;
  why: Explanation;
}

/**
 * Says what a run may do. It gets every fact with the request and reads none itself, so that a decision can be repeated and
 * `policy simulate` says what would be decided. It can only refuse: what it allows to be merged still has to pass the merge
 * gate, which does not ask it.
 */
export interface PolicyEngine {
  decide(request: PolicyRequest): PolicyDecision;
}

/** The engine that ships: trust against need, a confirmation where there must be one, and every gate. */
export const builtInPolicy: PolicyEngine = {
  decide(request) {
    const reasons = [trustReason(request), confirmationReason(request), ...(request.gates ?? [])];
    const { name } = request.capability;
    const status = combined(reasons);
    switch (status) {
      case 'met':
        return { verdict: 'allowed', why: criterion('met', `${name} is allowed`, reasons) };
      case 'pending':
        return {
          verdict: 'needs_confirmation',
          why: criterion('pending', `${name} is allowed once somebody confirms it`, reasons),
        };
      case 'unknown':
        return {
          verdict: 'unknown',
          why: criterion('unknown', `whether ${name} is allowed is not known yet`, reasons),
        };
      case 'unmet': {
        const because = reasons.find((reason) => reason.status === 'unmet')?.summary ?? 'no reason is known';
        const remedies = remedy(request).map((words) => criterion('pending', words));
        return {
          verdict: 'denied',
          why: criterion(status, `${name} is not allowed: ${because}`, [...reasons, ...remedies]),
        };
      }
      default:
        return unreachable(status);
    }
  },
};

/** A countersign for the head raises the trust to the highest, so a step that asks for one first has what it needs by then. */
function trustReason({ capability, needsApproval, trust }: PolicyRequest): Explanation {
  const { minimumTrust: needed } = capability;
  const facts = [...trust.facts];
  if (isTrusted(trust.level, needed)) {
    return criterion('met', `it needs ${needed} trust; this run has ${trust.level}`, facts);
  }
  return needsApproval
    ? criterion('pending', `it needs ${needed} trust, which a countersign for this head gives`, facts)
    : criterion('unmet', `it needs ${needed} trust; this run has only ${trust.level}`, facts);
}

/** A countersign is what a person confirms with, and nothing else makes a run privileged. */
function confirmationReason({ capability, needsApproval, trust }: PolicyRequest): Explanation {
  const { confirmation } = capability;
  if (!needsApproval) {
    return confirmation === 'none'
      ? criterion('met', 'nobody has to confirm it')
      : criterion('unmet', 'it must be countersigned, and nobody is asked');
  }
  return trust.level === 'privileged'
    ? criterion('met', 'it is countersigned')
    : criterion('pending', 'it must be countersigned first');
}

/** What would help where trust is missing; what a gate wants, the gate says. */
function remedy({ capability, needsApproval, trust, chain }: PolicyRequest): string[] {
  const { minimumTrust: needed } = capability;
  if (needsApproval || isTrusted(trust.level, needed)) return [];
  const countersign = 'give the step `requires_approval: true` on the base branch';
  return isTrusted(trust.ifDispatched, needed)
    ? [
        `to get there: somebody with maintain access comments \`/countersign fire ${chain}\`, or ${countersign}`,
      ]
    : [`to get there: ${countersign}, and have it countersigned`];
}
