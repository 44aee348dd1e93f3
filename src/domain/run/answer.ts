import { isDeepStrictEqual } from 'node:util';
import { unreachable } from '../../core/errors.ts';
import type { Explanation } from '../explanation/explanation.ts';
import { type Reason, type ReasonCode, reason } from '../explanation/reason.ts';
import type { Approval } from '../policy/approval.ts';
import {
  judgeMerge,
  type MergeFacts,
  type MergeProof,
  type MergeQuestion,
  sameAnswer,
} from '../policy/merge-gate.ts';
import { mergedByChain, type OwnMerge } from './plan.ts';
import type { QuestionFacts } from './question-facts.ts';

/** This app's own writes, which GitHub's data does not explain. */
export interface OwnWrites {
  /** The pull request is merged as asked, and this run has begun the merge or has its gate open. */
  mergedForUs: boolean;
  /** The merge of this head by this app, whichever run made it; `underWay` until its result is known. */
  merge: { merge: OwnMerge; underWay: boolean } | undefined;
  /** The pull request is merged, and another run has the gate open. */
  mergedForOthers: boolean;
  /** The approval comment differs from what was stored, and an update of ours may be the cause. */
  mayBeOurEdit: boolean;
}

/** The result of one attempt at an approval comment. `approval` is its new state. */
export type Answer =
  | { kind: 'already_merged' }
  /** A merge is in progress. Its result will say who merged. */
  | { kind: 'merging' }
  | { kind: 'void'; reason: Reason; approval: Approval }
  | { kind: 'our_edit' }
  /**
   * The comment does not show the question, so nobody can have agreed to it there: somebody changed or deleted the comment, or this
   * app wrote there that the merge was rejected, with which a reaction may agree.
   */
  | { kind: 'comment_changed'; by: 'unknown_author' | 'somebody' | 'us'; approval: Approval }
  | { kind: 'rejected'; reason: Reason; approval: Approval }
  | { kind: 'granted'; proof: MergeProof | undefined; why: Explanation; approval: Approval }
  /** Still open. `conflict`: it also waits until GitHub reports no conflict. */
  | { kind: 'open'; approval: Approval; conflict?: { says: string; isKnown: boolean } };

export function answerOf(
  question: MergeQuestion,
  asked: Approval,
  { facts, conflict, authorship, reviews = asked.reviews, conflicted, watch }: QuestionFacts,
  own: OwnWrites,
): Answer {
  if (own.mergedForUs) return { kind: 'already_merged' };
  if (own.merge?.underWay || own.mergedForOthers) return { kind: 'merging' };
  const wasRejected = asked.status === 'rejected';
  // A rejection is about the head. Deleting or editing the comment, or closing the pull request, takes nothing back.
  const asksNoMore = wasRejected ? 'rejected' : 'void';
  const decision = judgeMerge(question, facts);
  const approval: Approval = {
    ...asked,
    status: 'open',
    countersignedBy: decision.countersignedBy,
    authorship: authorship ?? asked.authorship,
    watch,
    // Each decision that is shown edits the comment, so one that says the same is not.
    ...(sameAnswer(asked.decision, decision.why) &&
    asked.lookedAt &&
    isDeepStrictEqual(reviews, asked.reviews)
      ? {}
      : { lookedAt: facts.readAt, decision: decision.why, ...(reviews ? { reviews } : {}) }),
  };
  if (decision.void) {
    const ours = facts.pullRequest.headSha === asked.headSha ? own.merge?.merge : undefined;
    const because = ours ? mergedByChain(ours) : reason(voidCode(asked, facts), decision.why.summary);
    return { kind: 'void', reason: because, approval: { ...approval, status: asksNoMore } };
  }
  if (facts.comment === 'edited' && own.mayBeOurEdit) return { kind: 'our_edit' };
  if (facts.comment !== 'as_written') {
    const by = facts.comment === 'not_ours' ? 'unknown_author' : 'somebody';
    return { kind: 'comment_changed', by, approval: { ...approval, status: asksNoMore } };
  }
  const { rejectedBy } = decision;
  if (rejectedBy.length > 0) {
    const logins = rejectedBy.map(({ login }) => login);
    const because = reason(
      'step.failed.rejected',
      `rejected by ${logins.join(', ')}`,
      logins.map((login) => ({ kind: 'person', id: login, label: login })),
    );
    return { kind: 'rejected', reason: because, approval: { ...approval, status: 'rejected', rejectedBy } };
  }
  if (wasRejected) {
    const takenBack: Approval = { ...approval, status: 'void', countersignedBy: [], rejectedBy: [] };
    return { kind: 'comment_changed', by: 'us', approval: takenBack };
  }
  if (decision.why.status === 'met') {
    const { proof, why } = decision;
    return { kind: 'granted', proof, why, approval: { ...approval, status: 'countersigned' } };
  }
  if (conflict.kind === 'conflict')
    return { kind: 'open', approval, conflict: { says: conflict.says, isKnown: true } };
  if (conflict.kind === 'unknown' && conflicted) {
    const says = approval.decision?.summary ?? 'GitHub is working out whether it conflicts';
    return { kind: 'open', approval, conflict: { says, isKnown: false } };
  }
  return { kind: 'open', approval };
}

function voidCode(asked: Approval, { pullRequest, configuration }: MergeFacts): ReasonCode {
  if (pullRequest.merged) return 'run.cancelled.merged_elsewhere';
  if (pullRequest.state === 'closed') return 'run.cancelled.closed';
  if (pullRequest.draft) return 'run.cancelled.draft';
  if (pullRequest.baseRef !== asked.baseRef) return 'run.cancelled.retargeted';
  if (pullRequest.headSha !== asked.headSha || configuration.kind !== 'changed')
    return 'run.cancelled.superseded';
  switch (configuration.what) {
    case 'settings':
      return 'run.cancelled.settings_changed';
    case 'chain':
      return 'run.cancelled.chain_changed';
    case 'rollout':
      return 'run.cancelled.rollout';
    case 'trigger':
      return 'run.cancelled.not_triggered';
    default:
      return unreachable(configuration.what);
  }
}
