import { unreachable } from '../../core/errors.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { tightened } from '../../domain/policy/countersign-rules.ts';
import { judgeMerge, type MergeDecision, type MergeFacts } from '../../domain/policy/merge-gate.ts';
import { answerOf, type OwnWrites } from '../../domain/run/answer.ts';
import {
  ask,
  askAgain,
  cannotAsk,
  type ToAsk,
  toAsk,
  WRITTEN_IN_MS,
  waitBeforeAsking,
  waitForAnswer,
  waitFurther,
} from '../../domain/run/question.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { SkillOf } from '../gates/judge-gates.ts';
import { pullRequestOf } from '../steps/step.ts';
import type { ApprovalAnswer, ApprovalComment, ApprovalContext, ApprovalResult } from './approval-context.ts';
import { readContributors } from './contributors.ts';
import { readMergeFacts } from './merge-facts.ts';
import { readReviews } from './reviews.ts';

/**
 * Asks the maintainers once, then polls for their answers. GitHub sends no event for a reaction
 * (octokit/webhooks.js#553), so an open question is polled by time, and at once on any event of its pull request.
 */
export async function pollApproval(context: ApprovalContext, skillOf: SkillOf): Promise<ApprovalAnswer> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return notYet(await askPeople(context));
  const comment = await context.approvalComment(approval.id);
  if (!comment) return notYet(waitForAnswer(approval, context.clock.now()));
  if ('asksNoMore' in comment) return notYet(await askPeople(context));
  if ('refused' in comment) {
    const because = `nobody could be asked, as the approval comment could not be written (a locked conversation or a missing permission is the usual cause): ${comment.refused}`;
    return notYet(cannotAsk(because));
  }
  const read = await readMergeFacts(context, comment, skillOf);
  const own = await readOwnWrites(context, approval, comment, read);
  const { pullRequest } = read;
  const answer = answerOf(read.question, approval, read, own);
  const { newId, timesAsked } = context;
  const now = context.clock.now();
  switch (answer.kind) {
    case 'already_merged':
      return { kind: 'already_merged', pullRequest, approval };
    case 'merging':
      return notYet(waitForAnswer(approval, now, WRITTEN_IN_MS));
    case 'void':
      return notYet({ kind: 'superseded', reason: answer.reason, approval: answer.approval });
    case 'our_edit':
      return { ...notYet(waitForAnswer(approval, now, WRITTEN_IN_MS)), unsettled: true };
    case 'comment_changed':
      return notYet(askAgain(context, answer, { now, newId, timesAsked }));
    case 'rejected':
      return notYet({ ...answer, kind: 'failed', retryable: false });
    case 'granted':
      return { ...answer, pullRequest };
    case 'open':
      return notYet(waitFurther(answer, now));
    default:
      return unreachable(answer);
  }
}

/** Asks the maintainers, unless it must wait for something first. */
export async function askPeople(context: ApprovalContext): Promise<ApprovalResult> {
  const read = await readToAsk(context);
  return 'kind' in read
    ? read
    : ask(context, read.question, { now: context.clock.now(), newId: context.newId });
}

/** What the maintainers are to be asked, or how the attempt ends because something comes first. */
export async function readToAsk(
  context: ApprovalContext,
): Promise<{ question: ToAsk } | Extract<ApprovalResult, { kind: 'waits' }>> {
  const { state, step, inputs, repo, session, clock } = context;
  const { settings, headSha } = state.run;
  const rules = tightened(settings.countersign, step.approval);
  const number = pullRequestOf(context);
  const prefetched = await context.reader.prefetched(repo, number, { headSha, recent: 'without checks' });
  const reader = prefetched.over(context.reader);
  const pullRequest = prefetched.pullRequest ?? (await reader.pullRequest(repo, number));
  const waitedMs = clock.now().getTime() - session.startedAt.getTime();
  const notYet = waitBeforeAsking(context, inputs, pullRequest, waitedMs);
  if (notYet) {
    const until = new Date(clock.now().getTime() + notYet.recheckInMs);
    return { kind: 'waits', for: 'until', until, reason: notYet.reason };
  }
  const reviews = await readReviews({ ...context, reader }, number, rules);
  const contributors = await readContributors({ ...context, reader }, pullRequest, headSha);
  const { author } = pullRequest;
  const { discussion } = prefetched;
  return { question: toAsk(rules, { ...reviews, author, headSha, discussion, contributors }) };
}

/**
 * The gate's current decision, without asking or recording anything.
 * @returns `undefined` if nobody was asked, or the approval comment is not visible yet; `busy` while this app
 * may be writing it
 */
export async function judgeApproval(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<{ decision: MergeDecision; pullRequest: PullRequest; approval: Approval } | 'busy' | undefined> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return undefined;
  const comment = await context.approvalComment(approval.id);
  if (!comment || 'refused' in comment || 'asksNoMore' in comment) return undefined;
  const { question, facts, pullRequest } = await readMergeFacts(context, comment, skillOf);
  if (facts.comment === 'edited' && (await mayBeOurEdit(context, approval, comment))) return 'busy';
  const decision = judgeMerge(question, facts);
  const { countersignedBy } = decision;
  return { decision, pullRequest, approval: { ...approval, countersignedBy } };
}

/** Reads what the app itself may have done to the pull request and to the comment. */
async function readOwnWrites(
  context: ApprovalContext,
  approval: Approval,
  comment: ApprovalComment,
  { facts, pullRequest }: { facts: MergeFacts; pullRequest: PullRequest },
): Promise<OwnWrites> {
  const { merged, headSha, baseRef } = pullRequest;
  const isAbout = headSha === approval.headSha && baseRef === approval.baseRef;
  const mergedForUs =
    merged && isAbout && ((await context.mergeBegun()) !== undefined || (await context.gate.isOpen()));
  const merge = merged && !mergedForUs ? await context.ownMerge() : undefined;
  return {
    mergedForUs,
    merge,
    mergedForOthers: merged && !mergedForUs && !merge && (await context.gate.isHeldByAnother()),
    mayBeOurEdit: facts.comment === 'edited' && (await mayBeOurEdit(context, approval, comment)),
  };
}

function notYet(result: ApprovalResult): Extract<ApprovalAnswer, { kind: 'not_yet' }> {
  return { kind: 'not_yet', result };
}

/**
 * The outbox runs in parallel. Its write between two of our reads must not look like another person's edit.
 */
async function mayBeOurEdit(
  context: ApprovalContext,
  { id }: Approval,
  { bodyHash }: ApprovalComment,
): Promise<boolean> {
  const now = await context.approvalComment(id);
  return now !== undefined && 'bodyHash' in now && (now.beingWritten || now.bodyHash !== bodyHash);
}
