import type { Explanation } from '../explanation/explanation.ts';
import { type Reason, reason } from '../explanation/reason.ts';
import type { Approval, AskedAuthorship } from '../policy/approval.ts';
import { type ApprovingReviews, reviewCriterion } from '../policy/approving-reviews.ts';
import { askedAuthorship, type Contributors } from '../policy/authorship.ts';
import { actionOf } from '../policy/capability.ts';
import { conflictOf, type Mergeability } from '../policy/conflict.ts';
import { type CountersignRules, needsReview, tightened } from '../policy/countersign-rules.ts';
import type { Discussion, SaidOnGitHub } from '../policy/discussion.ts';
import type { MergedBy } from '../policy/gate-check.ts';
import {
  type Answerer,
  ineligibleBecause,
  justAsked,
  type MergeQuestion,
  refusesUnattributed,
} from '../policy/merge-gate.ts';
import { type RequestedChanges, requestedChangesCriterion } from '../policy/reviews-standing.ts';
import type { Answer } from './answer.ts';
import { type Asking, wasConflicting } from './question-facts.ts';

/** How an attempt ends at a question, with what becomes of the question. */
type QuestionResult = (
  | { kind: 'waits'; for: 'approval'; until: Date; reason: Reason }
  | { kind: 'failed'; reason: Reason; retryable: false }
) & {
  approval?: Approval;
  /** The question that `approval` replaces. */
  replaced?: Approval;
};

/** When and by which ids a question is asked. */
interface AskedWith {
  now: Date;
  newId(prefix: 'apr'): string;
  /** How often this run has asked already. */
  timesAsked: number;
}

/** How soon an update of the comment that is under way should be done, in milliseconds. */
export const WRITTEN_IN_MS = 1_000;
/** How often one run asks. If the comment keeps changing, new comments must not fill the pull request. */
const MAX_QUESTIONS = 5;

/** What the run asks the maintainers about. */
export function questionOf(
  { state: { run }, step }: Pick<Asking, 'state' | 'step'>,
  pullRequest: number,
  repo: { owner: string; name: string },
  inputs: Readonly<Record<string, unknown>>,
): MergeQuestion {
  return {
    runId: run.id,
    owner: repo.owner,
    repo: repo.name,
    pullRequest,
    headSha: run.headSha,
    baseRef: run.baseRef,
    method: mergeMethod(inputs, run.settings),
    by: mergedBy(inputs, run.settings),
    rules: tightened(run.settings.countersign, step.approval),
  };
}

type Method = MergeQuestion['method'];

/** From the step's `with: {method}`, otherwise from the settings. */
export function mergeMethod(
  { method }: Readonly<Record<string, unknown>>,
  settings: { merge: { method: Method } },
): Method {
  return method === 'merge' || method === 'squash' || method === 'rebase' ? method : settings.merge.method;
}

/**
 * Who merges. A step can name the merge queue. Where the settings leave the merge to people, it stays with them: a step tightens the
 * settings and never loosens them.
 */
export function mergedBy(
  { method }: Readonly<Record<string, unknown>>,
  { merge: { by = 'app' } }: { merge: { by?: MergedBy | undefined } },
): MergedBy {
  return method === 'queue' && by === 'app' ? 'queue' : by;
}

/** How long GitHub may compute whether there is a conflict before people are asked anyway, in milliseconds. */
const CONFLICT_UNKNOWN_MS = 60_000;
/** How soon to ask GitHub again while it computes whether there is a conflict, in milliseconds. */
export const ASK_AGAIN_MS = 3_000;
/** How often to check without an event, in milliseconds. A push to either branch causes one. */
const RECHECK_MS = 120_000;

/** Why people are not asked yet, and how soon to check again. */
interface NotYet {
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
  if (conflict.kind === 'unknown' && waitedMs < CONFLICT_UNKNOWN_MS)
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
  reviews: SaidOnGitHub | null;
}

/** What was read of the pull request before people are asked. */
interface ReadToAsk {
  author: { id: number; login: string };
  headSha: string;
  /** `undefined` if requested changes do not matter here. */
  requested: RequestedChanges | undefined;
  /** `undefined` if they were not read. */
  approving: ApprovingReviews<Answerer> | undefined;
  discussion: Discussion | undefined;
  contributors: Contributors | undefined;
}

export function toAsk(
  rules: CountersignRules,
  { author, headSha, requested, approving, discussion, contributors }: ReadToAsk,
): ToAsk {
  const because = (person: Answerer) =>
    ineligibleBecause(person, rules, { pullRequest: { author }, contributors });
  const counted = approving?.known ? approving.by.filter((person) => because(person) === undefined) : [];
  const criteria = [
    ...(needsReview(rules) ? [reviewCriterion(headSha, approving, because)] : []),
    ...(requested ? [requestedChangesCriterion(requested, author.id)] : []),
  ];
  return {
    blockedBy: [
      ...criteria.filter(({ status }) => status !== 'met'),
      ...refusesUnattributed(rules, contributors),
    ],
    authorship: contributors ? askedAuthorship(rules, contributors) : null,
    reviews: approving
      ? { approved_by: counted.map(({ login }) => login).sort(), discussion: discussion ?? null }
      : null,
  };
}

/** Asks, and waits for an answer. */
export function ask(
  { state: { run }, step, invocation }: Asking,
  { blockedBy, authorship, reviews }: ToAsk,
  { now, newId }: Pick<AskedWith, 'now' | 'newId'>,
): QuestionResult {
  const approval: Approval = {
    id: newId('apr'),
    runId: run.id,
    invocationId: invocation.id,
    headSha: run.headSha,
    baseRef: run.baseRef,
    status: 'open',
    askedAt: now,
    lookedAt: now,
    decision: justAsked({ merges: actionOf(step.uses)?.merges === true }, blockedBy),
    countersignedBy: [],
    rejectedBy: [],
    answers: [],
    authorship,
    ...(reviews ? { reviews } : {}),
    watch: null,
  };
  return waitForAnswer(approval, now);
}

/** Asks with a new comment, because nobody can have agreed to what the old one says now. */
export function askAgain(
  asking: Asking,
  { by, approval }: Extract<Answer, { kind: 'comment_changed' }>,
  asked: AskedWith,
): QuestionResult {
  if (asked.timesAsked < MAX_QUESTIONS) {
    const { authorship, reviews = null } = approval;
    return { ...ask(asking, { blockedBy: [], authorship, reviews }, asked), replaced: approval };
  }
  return cannotAsk(
    by === 'unknown_author'
      ? 'GitHub does not say that this app wrote its own approval comment'
      : 'the approval comment was changed or deleted again and again',
  );
}

export function cannotAsk(because: string): QuestionResult {
  return { kind: 'failed', reason: reason('step.failed.error', because), retryable: false };
}

/** With a conflict, the question stays open: resolving it on the base branch leaves its answers valid. */
export function waitFurther(
  { approval, conflict }: Extract<Answer, { kind: 'open' }>,
  now: Date,
): QuestionResult {
  if (!conflict) return waitForAnswer(approval, now, isWatched(approval) ? WATCHED_MS : undefined);
  const waiting = waitForAnswer(approval, now, conflict.isKnown ? undefined : ASK_AGAIN_MS);
  return { ...waiting, reason: reason('step.waiting.conflict', conflict.says) };
}

export function waitForAnswer(approval: Approval, now: Date, recheckAfterMs?: number): QuestionResult {
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
 * Whether only the poller needs to watch the question, because nobody has answered and nothing blocks it. An
 * answer that does not suffice is rechecked by time: a role or a review can change without a new reaction.
 */
export function isWatched({ watch, decision, answers }: Approval): boolean {
  return watch?.reactions === '' && decision?.status === 'pending' && answers.length === 0;
}

/**
 * How long a question that the poller watches waits without a recheck, in milliseconds. It only limits the harm
 * of a poller that does not notice something.
 */
const WATCHED_MS = 30 * 86_400_000;

/**
 * How long until the next recheck, in milliseconds, by how long the question has been open: for a question that
 * the poller cannot watch, or that somebody answered without effect. Rechecks get rarer, because for a question
 * left open for days a few seconds rarely matter.
 */
export function recheckInMs(openForMs: number): number {
  if (openForMs < 120_000) return 3_000;
  if (openForMs < 900_000) return 10_000;
  if (openForMs < 7_200_000) return 30_000;
  if (openForMs < 86_400_000) return 120_000;
  return 600_000;
}

/**
 * How long until the poller reads the comment again, in milliseconds, by how long the question has been open.
 * Slightly less than 5 s, 60 s and 5 min, so that the answer is seen by then.
 */
export function pollInMs(openForMs: number): number {
  if (openForMs < 120_000) return 3_000;
  if (openForMs < 3_600_000) return 4_500;
  if (openForMs < 86_400_000) return 55_000;
  return 285_000;
}
