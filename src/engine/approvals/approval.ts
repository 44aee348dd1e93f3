import { unreachable } from '../../core/errors.ts';
import type { Explanation } from '../../domain/explanation/explanation.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import type { Conflict } from '../../domain/policy/conflict.ts';
import {
  judgeMerge,
  justAsked,
  type MergeDecision,
  type MergeFacts,
  type MergeQuestion,
  sameAnswer,
} from '../../domain/policy/merge-gate.ts';
import { mergedByChain } from '../../domain/run/plan.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { SkillOf } from '../gates/judge-gates.ts';
import { pullRequestOf } from '../steps/step.ts';
import type { ApprovalAnswer, ApprovalContext, ApprovalResult } from './approval-context.ts';
import { readMergeFacts, wasConflicting } from './merge-facts.ts';
import { mergeMethod } from './merge-method.ts';
import { type BeforeAsking, beforeAsking } from './preconditions.ts';

/**
 * Asks the maintainers once, then looks whether they answered. GitHub sends no event for a reaction
 * (octokit/webhooks.js#553), so an open question is looked at by time, and at once on any event of its pull request.
 */
export async function pollApproval(context: ApprovalContext, skillOf: SkillOf): Promise<ApprovalAnswer> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return { kind: 'not_yet', result: await askPeople(context) };
  const comment = await context.approvalComment(approval.id);
  if (!comment) return { kind: 'not_yet', result: wait(context, approval) };
  if ('refused' in comment) {
    const because = `nobody could be asked, as the approval comment could not be written (a locked conversation or a missing permission is the usual cause): ${comment.refused}`;
    return { kind: 'not_yet', result: stop(because) };
  }

  const { facts, pullRequest, conflict, authorship, decision } = await judgeQuestion(
    context,
    comment,
    skillOf,
  );
  const isAbout = pullRequest.headSha === approval.headSha && pullRequest.baseRef === approval.baseRef;
  if (pullRequest.merged && isAbout && ((await context.mergeBegun()) || (await context.gate.isOpen()))) {
    return { kind: 'already_merged', pullRequest, approval };
  }
  const own = pullRequest.merged ? await context.ownMerge() : undefined;
  // Another chain is merging at this moment: once its answer is here, it can be said who merged.
  const isOthers = pullRequest.merged && own === undefined && (await context.gate.isHeldByAnother());
  if (own?.underWay || isOthers) return { kind: 'not_yet', result: wait(context, approval, WRITTEN_IN_MS) };
  const looked: Approval = {
    ...approval,
    status: 'open',
    countersignedBy: decision.countersignedBy,
    authorship: authorship ?? approval.authorship,
    ...(isNews(approval, decision.why, facts.readAt)
      ? { lookedAt: facts.readAt, decision: decision.why }
      : {}),
  };
  if (decision.void) {
    const isOurs = own !== undefined && pullRequest.headSha === approval.headSha;
    const code = voidCode(pullRequest, approval, facts);
    return {
      kind: 'not_yet',
      result: {
        kind: 'superseded',
        reason: isOurs ? mergedByChain(own.merge) : reason(code, decision.why.summary),
        approval: { ...looked, status: 'void' },
      },
    };
  }
  if (facts.comment === 'edited' && (await mayBeOurEdit(context, approval, comment.bodyHash))) {
    return { kind: 'not_yet', result: wait(context, approval, WRITTEN_IN_MS), unsettled: true };
  }
  if (facts.comment !== 'as_written') {
    if (context.timesAsked >= MOST_QUESTIONS) {
      const because =
        facts.comment === 'not_ours'
          ? 'GitHub does not say that this app wrote its own approval comment'
          : 'the approval comment was changed or deleted again and again';
      return { kind: 'not_yet', result: stop(because) };
    }
    // A comment that says something else now cannot have been agreed to, before or after: a fresh one is asked.
    return {
      kind: 'not_yet',
      result: ask(context, { blockedBy: [], authorship: looked.authorship }, { ...looked, status: 'void' }),
    };
  }
  if (decision.rejectedBy.length > 0) {
    return {
      kind: 'not_yet',
      result: {
        kind: 'failed',
        reason: reason(
          'step.failed.rejected',
          `rejected by ${decision.rejectedBy.map(({ login }) => login).join(', ')}`,
          decision.rejectedBy.map(({ login }) => ({ kind: 'person', id: login, label: login })),
        ),
        retryable: false,
        approval: { ...looked, status: 'rejected', rejectedBy: decision.rejectedBy },
      },
    };
  }
  if (decision.why.status === 'met') {
    const approvalNow: Approval = { ...looked, status: 'countersigned' };
    return { kind: 'granted', proof: decision.proof, why: decision.why, approval: approvalNow, pullRequest };
  }
  return {
    kind: 'not_yet',
    result: isBlocking(conflict, context)
      ? waitForConflict(context, looked, conflict)
      : wait(context, looked),
  };
}

/** Puts the question to the maintainers, unless something has to be waited for before that. */
export async function askPeople(context: ApprovalContext): Promise<ApprovalResult> {
  const before = await beforeAsking(context, mergeMethod(context));
  return before.kind === 'wait' ? before.result : ask(context, before);
}

function isBlocking(conflict: Conflict, context: ApprovalContext): boolean {
  return conflict.kind === 'conflict' || (conflict.kind === 'unknown' && wasConflicting(context));
}

/** A question that is open already stays: what resolves the conflict on the base branch leaves the answers to it valid. */
function waitForConflict(context: ApprovalContext, approval: Approval, conflict: Conflict): ApprovalResult {
  const isKnown = conflict.kind === 'conflict';
  const waiting = wait(context, approval, isKnown ? undefined : WORKING_OUT_MS);
  const because = isKnown
    ? conflict.says
    : (approval.decision?.summary ?? 'GitHub is working out whether it conflicts');
  return { ...waiting, reason: reason('step.waiting.conflict', because) };
}

/** How soon GitHub is asked again whether there still is a conflict, in milliseconds. */
const WORKING_OUT_MS = 3_000;

async function judgeQuestion(
  context: ApprovalContext,
  comment: Parameters<typeof readMergeFacts>[1],
  skillOf: SkillOf,
): Promise<Awaited<ReturnType<typeof readMergeFacts>> & { decision: MergeDecision }> {
  const read = await readMergeFacts(context, comment, skillOf);
  return { ...read, decision: judgeMerge(question(context), read.facts) };
}

/**
 * What the gate says at this moment, without asking or recording anything.
 * @returns `undefined` when nobody has been asked, or nobody can see the question yet; `busy` while this app may be writing to it.
 */
export async function judgeApproval(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<{ decision: MergeDecision; pullRequest: PullRequest; approval: Approval } | 'busy' | undefined> {
  const { approval } = context;
  if (!approval || approval.status === 'void') return undefined;
  const comment = await context.approvalComment(approval.id);
  if (!comment || 'refused' in comment) return undefined;
  const { decision, pullRequest, facts } = await judgeQuestion(context, comment, skillOf);
  if (facts.comment === 'edited' && (await mayBeOurEdit(context, approval, comment.bodyHash))) return 'busy';
  const { countersignedBy } = decision;
  return { decision, pullRequest, approval: { ...approval, countersignedBy } };
}

/** How soon an update of the comment that is under way should be done, in milliseconds. */
const WRITTEN_IN_MS = 1_000;

/** The outbox works beside the looks: what it writes between two reads of ours must not pass for somebody else's edit. */
async function mayBeOurEdit(
  context: ApprovalContext,
  approval: Approval,
  bodyHash: string,
): Promise<boolean> {
  const now = await context.approvalComment(approval.id);
  return now !== undefined && !('refused' in now) && (now.beingWritten || now.bodyHash !== bodyHash);
}

/** How often one run asks: somebody or something that keeps changing the comment must not fill the pull request with them. */
const MOST_QUESTIONS = 5;

function stop(because: string): ApprovalResult {
  return { kind: 'failed', reason: reason('step.failed.error', because), retryable: false };
}

function voidCode(pullRequest: PullRequest, approval: Approval, { configuration }: MergeFacts): ReasonCode {
  if (pullRequest.merged) return 'run.cancelled.merged_elsewhere';
  if (pullRequest.state === 'closed') return 'run.cancelled.closed';
  if (pullRequest.draft) return 'run.cancelled.draft';
  if (pullRequest.baseRef !== approval.baseRef) return 'run.cancelled.retargeted';
  if (pullRequest.headSha !== approval.headSha || configuration.kind !== 'changed')
    return 'run.cancelled.superseded';
  switch (configuration.what) {
    case 'settings':
      return 'run.cancelled.settings_changed';
    case 'chain':
      return 'run.cancelled.chain_changed';
    case 'trigger':
      return 'run.cancelled.not_triggered';
    default:
      return unreachable(configuration.what);
  }
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
    method: mergeMethod(context),
    by: run.settings.merge.by ?? 'app',
    rules: run.settings.countersign,
  };
}

function ask(
  context: ApprovalContext,
  { blockedBy, authorship }: Pick<Extract<BeforeAsking, { kind: 'ask' }>, 'blockedBy' | 'authorship'>,
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

/** How often the comment says anew when it was last looked at although nothing changed, in milliseconds. */
const SAY_SO_EVERY_MS = 3_600_000;

/** Whether people should see this look: each that is shown is an edit of the comment. */
function isNews(approval: Approval, decision: Explanation, now: Date): boolean {
  const said = approval.lookedAt?.getTime() ?? 0;
  return !sameAnswer(approval.decision, decision) || now.getTime() - said >= SAY_SO_EVERY_MS;
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
