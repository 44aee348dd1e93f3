import { unreachable } from '../../core/errors.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import {
  judgeMerge,
  justAsked,
  type MergeDecision,
  type MergeFacts,
  type MergeQuestion,
} from '../../domain/policy/merge-gate.ts';
import { mergeMethod } from '../../domain/policy/merge-method.ts';
import { type Answer, answerOf, type OwnWrites } from '../../domain/run/answer.ts';
import { type ToAsk, toAsk, waitBeforeAsking } from '../../domain/run/before-asking.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { SkillOf } from '../gates/judge-gates.ts';
import { pullRequestOf } from '../steps/step.ts';
import type { ApprovalAnswer, ApprovalComment, ApprovalContext, ApprovalResult } from './approval-context.ts';
import { readContributors } from './contributors.ts';
import { readMergeFacts } from './merge-facts.ts';
import { readRequestedChanges } from './requested-changes.ts';

/**
 * Asks the maintainers once, then polls for their answers. GitHub sends no event for a reaction
 * (octokit/webhooks.js#553), so an open question is polled by time, and at once on any event of its pull request.
 */
export async function pollApproval(context: ApprovalContext, skillOf: SkillOf): Promise<ApprovalAnswer> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return notYet(await askPeople(context));
  const comment = await context.approvalComment(approval.id);
  if (!comment) return notYet(wait(context, approval));
  if ('refused' in comment) {
    const because = `nobody could be asked, as the approval comment could not be written (a locked conversation or a missing permission is the usual cause): ${comment.refused}`;
    return notYet(stop(because));
  }
  const read = await readMergeFacts(context, comment, skillOf);
  const own = await readOwnWrites(context, approval, comment, read);
  const { pullRequest } = read;
  const answer = answerOf(question(context), approval, read, own);
  switch (answer.kind) {
    case 'already_merged':
      return { kind: 'already_merged', pullRequest, approval };
    case 'merging':
      return notYet(wait(context, approval, WRITTEN_IN_MS));
    case 'void':
      return notYet({ kind: 'superseded', reason: answer.reason, approval: answer.approval });
    case 'our_edit':
      return { ...notYet(wait(context, approval, WRITTEN_IN_MS)), unsettled: true };
    case 'comment_changed':
      return notYet(askAgain(context, answer));
    case 'rejected':
      return notYet({ ...answer, kind: 'failed', retryable: false });
    case 'granted':
      return { ...answer, pullRequest };
    case 'open':
      return notYet(waitFurther(context, answer));
    default:
      return unreachable(answer);
  }
}

/** Puts the question to the maintainers, unless something has to be waited for before that. */
export async function askPeople(context: ApprovalContext): Promise<ApprovalResult> {
  const { state, inputs, reader, repo, session, clock } = context;
  const { settings, headSha } = state.run;
  const number = pullRequestOf(context);
  const pullRequest = await reader.pullRequest(repo, number);
  const waitedMs = clock.now().getTime() - session.startedAt.getTime();
  const notYet = waitBeforeAsking(context, inputs, pullRequest, waitedMs);
  if (notYet) {
    const until = new Date(clock.now().getTime() + notYet.recheckInMs);
    return { kind: 'waits', for: 'until', until, reason: notYet.reason };
  }
  const requested = await readRequestedChanges(context, number);
  const contributors = await readContributors(context, pullRequest, headSha);
  return ask(context, toAsk(settings, pullRequest.author, requested, contributors));
}

/**
 * What the gate says at this moment, without asking or recording anything.
 * @returns `undefined` if nobody has been asked, or nobody can see the question yet; `busy` while this app may
 *   be writing to it
 */
export async function judgeApproval(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<{ decision: MergeDecision; pullRequest: PullRequest; approval: Approval } | 'busy' | undefined> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return undefined;
  const comment = await context.approvalComment(approval.id);
  if (!comment || 'refused' in comment) return undefined;
  const { facts, pullRequest } = await readMergeFacts(context, comment, skillOf);
  if (facts.comment === 'edited' && (await mayBeOurEdit(context, approval, comment))) return 'busy';
  const decision = judgeMerge(question(context), facts);
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

/** A new comment: nobody can have agreed to what the old one says now. */
function askAgain(
  context: ApprovalContext,
  { by, approval }: Extract<Answer, { kind: 'comment_changed' }>,
): ApprovalResult {
  if (context.timesAsked < MOST_QUESTIONS)
    return ask(context, { blockedBy: [], authorship: approval.authorship }, approval);
  return stop(
    by === 'unknown_author'
      ? 'GitHub does not say that this app wrote its own approval comment'
      : 'the approval comment was changed or deleted again and again',
  );
}

/** With a conflict, the question stays open: resolving it on the base branch leaves its answers valid. */
function waitFurther(
  context: ApprovalContext,
  { approval, conflict }: Extract<Answer, { kind: 'open' }>,
): ApprovalResult {
  if (!conflict) return wait(context, approval);
  const waiting = wait(context, approval, conflict.isKnown ? undefined : WORKING_OUT_MS);
  return { ...waiting, reason: reason('step.waiting.conflict', conflict.says) };
}

/** How soon GitHub is asked again whether there still is a conflict, in milliseconds. */
const WORKING_OUT_MS = 3_000;

/** How soon an update of the comment that is under way should be done, in milliseconds. */
const WRITTEN_IN_MS = 1_000;

/** The outbox works beside the looks: what it writes between two reads of ours must not pass for somebody else's edit. */
async function mayBeOurEdit(
  context: ApprovalContext,
  { id }: Approval,
  { bodyHash }: ApprovalComment,
): Promise<boolean> {
  const now = await context.approvalComment(id);
  return now !== undefined && !('refused' in now) && (now.beingWritten || now.bodyHash !== bodyHash);
}

/** How often one run asks: somebody or something that keeps changing the comment must not fill the pull request with them. */
const MOST_QUESTIONS = 5;

function stop(because: string): ApprovalResult {
  return { kind: 'failed', reason: reason('step.failed.error', because), retryable: false };
}

function question(context: ApprovalContext): MergeQuestion {
  const { run } = context.state;
  return {
    runId: run.id,
    owner: context.repo.owner,
    repo: context.repo.name,
    pullRequest: pullRequestOf(context),
    headSha: run.headSha,
    baseRef: run.baseRef,
    method: mergeMethod(context.inputs, run.settings),
    by: run.settings.merge.by ?? 'app',
    rules: run.settings.countersign,
  };
}

function ask(
  context: ApprovalContext,
  { blockedBy, authorship }: ToAsk,
  previous?: Approval,
): ApprovalResult {
  const now = context.clock.now();
  const { run } = context.state;
  const approval: Approval = {
    id: context.newId('apr'),
    runId: run.id,
    invocationId: context.invocation.id,
    headSha: run.headSha,
    baseRef: run.baseRef,
    status: 'open',
    askedAt: now,
    lookedAt: now,
    decision: justAsked({ merges: actionOf(context.step.uses)?.merges === true }, blockedBy),
    countersignedBy: [],
    rejectedBy: [],
    answers: [],
    authorship,
  };
  return { ...wait(context, approval), ...(previous ? { replaced: previous } : {}) };
}

function wait(
  context: ApprovalContext,
  approval: Approval,
  recheckAfterMs?: number,
): Extract<ApprovalResult, { kind: 'waits' }> {
  const now = context.clock.now();
  const openForMs = now.getTime() - approval.askedAt.getTime();
  return {
    kind: 'waits',
    for: 'approval',
    until: new Date(now.getTime() + (recheckAfterMs ?? recheckInMs(openForMs))),
    reason: reason(
      'step.waiting.approval',
      approval.decision?.summary ?? 'waiting for a maintainer to countersign',
      [{ kind: 'commit', id: approval.headSha, label: approval.headSha.slice(0, 7) }],
    ),
    approval,
  };
}

/**
 * How long until the next look, in milliseconds, by how long the question has been open. Looks are conditional
 * requests, which cost nothing of GitHub's hourly limit while nothing changed; they get rarer because the answer of
 * a question left open for days is rarely a matter of seconds.
 */
export function recheckInMs(openForMs: number): number {
  if (openForMs < 120_000) return 3_000;
  if (openForMs < 900_000) return 10_000;
  if (openForMs < 7_200_000) return 30_000;
  if (openForMs < 86_400_000) return 120_000;
  return 600_000;
}
