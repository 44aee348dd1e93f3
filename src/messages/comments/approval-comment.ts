import { unreachable } from '../../core/errors.ts';
import type { ActionResult } from '../../domain/outcome/action-result.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { mergeMethod } from '../../domain/run/question.ts';
import { type Invocation, isMergeStep, isRunOver, type RunState, rulesAsked } from '../../domain/run/run.ts';
import { markOf } from '../check-run/check-state.ts';
import { moreNeeded, neededFor } from '../run/countersigns-needed.ts';
import { evidenceUrl, type Pages } from '../run/evidence.ts';
import { explanationList } from '../run/explanation-list.ts';
import { emoji, MAX_TITLE, nextStep, sentence } from '../run/run-sentence.ts';
import { mergeOf, type RunSummary, runSummary } from '../run/run-summary.ts';
import { whoMayAnswer } from '../run/who-may-answer.ts';
import { clipBytes, code, htmlComment, inline } from '../text/markdown.ts';
import { asSentence, capital, listed, plural, short, utc } from '../text/pretty.ts';
import { grounds } from './grounds.ts';
import { noticeLines } from './notice.ts';
import { refusalAhead, saidOnGitHub } from './on-github.ts';
import { aboutRun, type StatusView, stateCard, stateCards } from './state-cards.ts';
import { MAX_COMMENT_BYTES } from './status-comment.ts';
import { voidBecause } from './void-because.ts';

export interface ApprovalView {
  state: RunState;
  approval: Approval;
  /** The page of the run's check run on GitHub, once it is known. */
  checkRunUrl: string | null;
  pages: Pages;
  /** The newest runs of other chains, if the comment is the current one of the pull request. */
  others?: readonly StatusView[];
}

/** More are not named. */
const MAX_PEOPLE = 20;

/** For people's scripts, and for finding the comment again. The database takes precedence. */
function approvalMarker({ headSha, baseRef }: Approval): string {
  return htmlComment(`countersign:approval head=${headSha} base=${baseRef}`);
}

/** Distinguishes two approval comments for one head. The app finds its comment by it after a crash. */
export function questionMarker({ id }: Approval): string {
  return htmlComment(`countersign:question id=${id}`);
}

/**
 * The approval comment, and later its result. It mentions nobody: the comment is edited at every poll, and
 * each edit would notify them, so logins are shown as code.
 */
export function approvalComment(view: ApprovalView): string {
  const marker = `${approvalMarker(view.approval)}\n${questionMarker(view.approval)}`;
  const space = MAX_COMMENT_BYTES - Buffer.byteLength(marker) - 1;
  return `${marker}\n${clipBytes([...body(view), ...below(view)].join('\n\n'), space)}`;
}

/** Runs of which the result of an approval says everything while they continue. */
const TOLD: readonly RunSummary['kind'][] = ['waiting_countersign', 'countersigned', 'merged'];

/** What follows the question or its result. */
function below(view: ApprovalView): string[] {
  const { state, approval, others = [] } = view;
  const isTold =
    approval.status === 'open' ||
    isRunOver(state.run.status) ||
    TOLD.includes(runSummary(state, approval).kind);
  return [
    ...(isTold || approval.status === 'void' ? [] : [stateCard(view)]),
    ...(others.length === 0 ? [] : ['---', stateCards(others)]),
  ];
}

function body(view: ApprovalView): string[] {
  switch (view.approval.status) {
    case 'open':
      return open(view);
    case 'countersigned':
      return countersigned(view);
    case 'rejected':
      return rejected(view);
    case 'void':
      return mergeFailed(view) ? countersigned(view) : voided(view);
    default:
      return unreachable(view.approval.status);
  }
}

function open(view: ApprovalView): string[] {
  const { approval, state } = view;
  const rules = rulesAsked(state, approval);
  const more = moreNeeded(state, approval);
  const stop = rules.reject.length === 0 ? '' : `, or with ${emoji(rules.reject)} to reject`;
  return [
    ...(answered(view) ?? [
      `### ✍️ ${rules.step?.question === undefined ? mayIt(view) : inline(rules.step.question)}`,
      `Once approved, ${isMerge(view) ? willBe(view) : `the step ${stepOf(view)} runs for ${head(view)}. It merges nothing`}.`,
    ]),
    ...blocked(view),
    ...(isMerge(view) ? refusalAhead(approval) : []),
    `#### What was checked\n\n${grounds(state)}`,
    ...missing(view),
    `#### How to answer\n\nReact to this comment with ${emoji(rules.approve)} ${isMerge(view) ? 'to merge' : 'to approve'}${stop}.${isMerge(view) ? '' : ` ${otherAnswers(view)}`}`,
    `**Who may answer:** ${whoMayAnswer(rules)} ${countText(neededFor(state, approval), approval.countersignedBy)} The author, anybody who committed, co-wrote or pushed one of the commits, and bots cannot answer.`,
    ...(more === undefined ? [] : [`**Why more than usual:** ${more}`]),
    ...saidOnGitHub(approval, rules),
    ...noticeLines(approval),
    'This request and its answers expire with a push, another base branch, a return to draft, or when the pull request is closed.',
    aboutRun(view, ` · ${seen(approval)}`),
  ];
}

/** What happens next, if enough people have approved and can still take that back. */
function answered({ state, approval }: ApprovalView): string[] | undefined {
  const where = runSummary(state, approval);
  switch (where.kind) {
    case 'ready_to_merge':
    case 'countersigned':
    case 'waiting_github':
      return where.by.length === 0
        ? undefined
        : [
            `### ${markOf(where)} ${inline(sentence(where, state, approval), MAX_TITLE)}`,
            nextStep(where, state, approval) ?? '',
          ];
    default:
      return undefined;
  }
}

/** What the last poll found that is not met. The check run has everything. */
function missing({ approval: { decision }, state: { run }, pages }: ApprovalView): string[] {
  const reasons = (decision?.reasons ?? []).filter(({ status }) => status !== 'met');
  if (!decision || reasons.length === 0) return [];
  const list = explanationList({ ...decision, reasons }, (ref) => evidenceUrl(ref, run, pages));
  return [`#### What is missing\n\n${list}`];
}

function seen({ askedAt, lookedAt }: Approval): string {
  return lookedAt === null ? `asked ${utc(askedAt)}` : `last change seen ${utc(lookedAt)}`;
}

function mayIt(view: ApprovalView): string {
  return isMerge(view) ? 'Approve this merge?' : `Approve the step ${stepOf(view)}?`;
}

/** The other ways to answer, which do not exist for a merge. */
function otherAnswers({ state, approval }: ApprovalView): string {
  const step = state.invocations.find(({ id }) => id === approval.invocationId)?.stepId ?? '';
  const [approve, reject] = ['approve', 'reject'].map((verb) => code(`/countersign ${verb} ${step}`));
  return `You can also press Approve on the check run, or write ${approve} or ${reject} in a new comment. Your last answer counts.`;
}

function blocked({ approval: { decision }, state: { run } }: ApprovalView): string[] {
  if (run.paused) return ['> **On hold:** the pull request is paused.'];
  return decision?.status === 'unmet' ? [`> **On hold:** ${inline(asSentence(decision.summary), 400)}`] : [];
}

function voided(view: ApprovalView): string[] {
  return [
    '### ⏭️ This approval request has expired',
    voidedSentences(view),
    'Reactions to this comment no longer count.',
    ...next(view),
  ];
}

function voidedSentences(view: ApprovalView): string {
  return `It asked whether ${requestedAction(view)}. ${voidBecause(view.state, view.approval)}`;
}

/** What became of a question, in sentences; `undefined` while it is open. */
export function answeredInWords(view: ApprovalView): string | undefined {
  const { approval } = view;
  switch (approval.status) {
    case 'open':
      return undefined;
    case 'countersigned':
      return countersignedSentence(view);
    case 'rejected':
      return rejectedSentence(view);
    case 'void':
      return mergeFailed(view) ? countersignedSentence(view) : voidedSentences(view);
    default:
      return unreachable(approval.status);
  }
}

function countersignedSentence(view: ApprovalView): string {
  return `It asked whether ${requestedAction(view)}, and ${people(view.approval.countersignedBy)} countersigned.`;
}

function countersigned(view: ApprovalView): string[] {
  const { approval, state } = view;
  const by = people(approval.countersignedBy);
  const merged = mergeOf(state);
  const failed = mergeFailed(view);
  if (merged) {
    return [
      '### 🎉 Countersigned and merged',
      `${capital(wasMerged(view, merged))}, countersigned by ${by}.`,
      grounds(state),
      aboutRun(view),
    ];
  }
  if (failed) {
    return [
      '### ❌ Countersigned, but not merged',
      `Countersigned by ${by}. ${inline(asSentence(failed.reason?.summary ?? 'no reason is recorded'), 400)}`,
      ...next(view),
    ];
  }
  return [
    '### ✍️ Countersigned',
    `Countersigned by ${by}: ${isMerge(view) ? 'merging' : `the step ${stepOf(view)} continues`}.`,
  ];
}

/** What people can do once the run has ended, and where its details are. */
function next(view: ApprovalView): string[] {
  const { state, approval } = view;
  if (!isRunOver(state.run.status)) return [];
  const step = nextStep(runSummary(state, approval), state, approval);
  return [...(step === undefined ? [] : [`**Next:** ${step}`]), aboutRun(view)];
}

/** The merge step, if it failed after the countersign because GitHub refused. */
function mergeFailed({ state, approval }: ApprovalView): Invocation | undefined {
  return state.invocations.find(
    (step) =>
      step.id === approval.invocationId &&
      (step.status === 'failed' || step.status === 'timed_out') &&
      approval.countersignedBy.length >= neededFor(state, approval),
  );
}

function rejected(view: ApprovalView): string[] {
  const by = view.approval.rejectedBy.map(({ login }) => login);
  return [
    `### ✋ Rejected by ${by.length === 0 ? 'a maintainer' : inline(listed(by.slice(0, MAX_PEOPLE), 'and'))}`,
    rejectedSentence(view),
    isMerge(view) && by.length > 0
      ? `Only ${people(by)} can take that back for ${code(view.approval.headSha.slice(0, 7))}, by countersigning when Countersign asks again.`
      : '',
    ...next(view),
  ].filter((part) => part !== '');
}

function rejectedSentence(view: ApprovalView): string {
  const by = view.approval.rejectedBy.map(({ login }) => login);
  return `${by.length === 0 ? 'A maintainer' : people(by)} rejected ${rejectedAction(view)}.`;
}

const PASSIVE = { squash: 'squash-merged', merge: 'merged', rebase: 'rebased and merged' } as const;
type Method = keyof typeof PASSIVE;

function willBe(view: ApprovalView): string {
  return `${head(view)} is **${PASSIVE[methodOf(view)]}** into ${code(view.approval.baseRef)}`;
}

function requestedAction(view: ApprovalView): string {
  if (!isMerge(view)) return `the step ${stepOf(view)} may run for ${head(view)}`;
  return `${head(view)} may be ${PASSIVE[methodOf(view)]} into ${code(view.approval.baseRef)}`;
}

function rejectedAction(view: ApprovalView): string {
  const { approval } = view;
  return isMerge(view)
    ? `the merge of ${head(view)} into ${code(approval.baseRef)}`
    : `the step ${stepOf(view)} for ${head(view)}`;
}

function wasMerged(view: ApprovalView, { details }: ActionResult): string {
  const commit =
    typeof details.sha === 'string' && details.sha !== '' ? ` as ${code(short(details.sha))}` : '';
  const into = `into ${code(view.approval.baseRef)}${commit}`;
  // The person who pressed the button chose the method.
  return typeof details.merged_by === 'string'
    ? `${head(view)} was merged ${into} by ${code(details.merged_by)}`
    : `${head(view)} was ${PASSIVE[methodOf(view)]} ${into}`;
}

/** Any step can ask for approval, but only one of them merges. */
function isMerge({ state, approval }: ApprovalView): boolean {
  return isMergeStep(
    state.run,
    state.invocations.find(({ id }) => id === approval.invocationId),
  );
}

function stepOf({ state, approval }: ApprovalView): string {
  return code(state.invocations.find(({ id }) => id === approval.invocationId)?.stepId ?? '');
}

function head({ approval }: ApprovalView): string {
  return `commit ${code(short(approval.headSha))}`;
}

/** From the step's `with: {method}`, otherwise from the settings, like the merge itself. */
function methodOf({ state, approval }: ApprovalView): Method {
  const step = state.invocations.find(({ id }) => id === approval.invocationId);
  const inputs = step && state.run.definition.steps[step.stepIndex]?.with;
  return mergeMethod(inputs ?? {}, state.run.settings);
}

function countText(count: number, given: readonly string[]): string {
  const needed = count === 1 ? 'One countersign is needed.' : `${plural(count, 'countersign')} are needed.`;
  return given.length === 0 ? needed : `${needed} Given so far: ${people(given)}.`;
}

function people(logins: readonly string[]): string {
  return listed(
    logins.slice(0, MAX_PEOPLE).map((login) => code(login)),
    'and',
  );
}
