import { unreachable } from '../../core/errors.ts';
import { combined, criterion, type Explanation } from '../explanation/explanation.ts';
import type { Capability } from './capability.ts';
import { isTrusted, type Trust } from './trust.ts';

/** One use of a capability by a step, with every fact that the decision needs. */
export interface PolicyRequest {
  capability: Capability;
  /** The maintainers are asked before the step does anything. */
  needsApproval: boolean;
  trust: Trust;
  /**
   * The state of the step's gates; each must be met. A session leaves them out and judges them itself, after
   * the policy has allowed the step.
   */
  gates?: readonly Explanation[];
  /** The chain's name, for the remedy in a message. */
  chain: string;
}

/** `unknown`: not decidable yet. Callers must treat it as denied (I5). */
export const VERDICTS = ['allowed', 'needs_confirmation', 'denied', 'unknown'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface PolicyDecision {
  verdict: Verdict;
  why: Explanation;
}

/**
 * Decides what a run may do. All facts are in the request and none is read here, so that a decision can be
 * repeated and `policy simulate` shows what would be decided. The policy can only refuse: a merge that it
 * allows still has to pass the merge gate, which does not ask the policy.
 */
export interface PolicyEngine {
  decide(request: PolicyRequest): PolicyDecision;
}

/**
 * The engine that ships: it compares trust, requires a confirmation where the capability says so, and every
 * gate.
 */
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

/**
 * A countersign raises the trust to the highest level, so a step that asks for one first will have enough.
 */
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

/** Only a countersign counts as a person's confirmation, and only a countersign makes a run privileged. */
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

/** Advice if trust is missing. A gate's own explanation says what the gate needs. */
function remedy({ capability, needsApproval, trust, chain }: PolicyRequest): string[] {
  const { minimumTrust: needed } = capability;
  if (needsApproval || isTrusted(trust.level, needed)) return [];
  const countersign = 'give the step `requires_approval: true` on the governing branch';
  return isTrusted(trust.ifDispatched, needed)
    ? [
        `to get there: somebody with maintain access comments \`/countersign fire ${chain}\`, or ${countersign}`,
      ]
    : [`to get there: ${countersign}, and have it countersigned`];
}
