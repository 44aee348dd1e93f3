import type { Settings } from '../chain/settings.ts';
import type { Explanation } from '../explanation/explanation.ts';
import { type Reason, reason } from '../explanation/reason.ts';
import type { AskedAuthorship } from '../policy/approval.ts';
import { askedAuthorship, type Contributors } from '../policy/authorship.ts';
import { actionOf } from '../policy/capability.ts';
import { conflictOf, type Mergeability } from '../policy/conflict.ts';
import { refusesUnattributed } from '../policy/merge-gate.ts';
import { mergeMethod } from '../policy/merge-method.ts';
import { type RequestedChanges, requestedChangesCriterion } from '../policy/reviews-standing.ts';
import { type Asking, wasConflicting } from './question-facts.ts';

/** How long GitHub may compute whether there is a conflict before people are asked anyway, in milliseconds. */
const WORKING_OUT_MS = 60_000;
/** How soon to ask GitHub again while it computes, in milliseconds. */
const ASK_AGAIN_MS = 3_000;
/** How often to check without an event, in milliseconds. A push to either branch causes one. */
const RECHECK_MS = 120_000;

/** Why people are not asked yet, and how soon to check again. */
export interface NotYet {
  reason: Reason;
  recheckInMs: number;
}

/**
 * Why asking about a merge would waste people's time now, or `undefined` if it would not. Nobody is asked
 * about a merge that conflicts, because resolving the conflict makes another head with its own approval
 * comment.
 * @param waitedMs for how long the session has waited
 */
export function waitBeforeAsking(
  { state: { run }, step, invocation }: Asking,
  inputs: Readonly<Record<string, unknown>>,
  pullRequest: Mergeability & { headSha: string; baseRef: string; draft: boolean },
  waitedMs: number,
): NotYet | undefined {
  if (!actionOf(step.uses)?.merges) return undefined;
  const { headSha, baseRef, settings } = run;
  // A pull request with another head or base says nothing about this head. The event of the change ends its
  // run.
  const isSame = pullRequest.headSha === headSha && pullRequest.baseRef === baseRef;
  const conflict = isSame
    ? conflictOf(pullRequest, mergeMethod(inputs, settings), baseRef)
    : ({ kind: 'none' } as const);
  const workingOut = (what: string) => `GitHub is working out whether it ${what} with ${baseRef}`;
  if (isSame && pullRequest.draft) {
    const because = 'the pull request is a draft: people are asked once it is ready';
    return { reason: reason('step.waiting.draft', because), recheckInMs: RECHECK_MS };
  }
  if (conflict.kind === 'conflict')
    return { reason: reason('step.waiting.conflict', conflict.says), recheckInMs: RECHECK_MS };
  // After a conflict, the step waits until GitHub reports that there is none.
  if (conflict.kind === 'unknown' && wasConflicting(invocation))
    return {
      reason: reason('step.waiting.conflict', workingOut('still conflicts')),
      recheckInMs: ASK_AGAIN_MS,
    };
  // A server that never answers must not prevent the approval comment. GitHub itself refuses to merge a
  // conflict.
  if (conflict.kind === 'unknown' && waitedMs < WORKING_OUT_MS)
    return {
      reason: reason('step.waiting.mergeability', workingOut('conflicts')),
      recheckInMs: ASK_AGAIN_MS,
    };
  if (run.paused && invocation.status === 'waiting_until') {
    const because = 'the pull request is paused; `/countersign resume` goes on';
    return { reason: reason('step.waiting.paused', because), recheckInMs: RECHECK_MS };
  }
  return undefined;
}

/** Details of the approval comment: what already blocks the step, and who contributed to the commits. */
export interface ToAsk {
  blockedBy: readonly Explanation[];
  authorship: AskedAuthorship | null;
}

/** @param requested `undefined` if requested changes do not matter here */
export function toAsk(
  { countersign }: Pick<Settings, 'countersign'>,
  author: { id: number },
  requested: RequestedChanges | undefined,
  contributors: Contributors | undefined,
): ToAsk {
  const changes = requested ? [requestedChangesCriterion(requested, author.id)] : [];
  return {
    blockedBy: [
      ...changes.filter(({ status }) => status !== 'met'),
      ...refusesUnattributed(countersign, contributors),
    ],
    authorship: contributors ? askedAuthorship(countersign, contributors) : null,
  };
}
