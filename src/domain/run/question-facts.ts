import type { Step } from '../chain/chain.ts';
import { dependenciesOf } from '../chain/graph.ts';
import type { Settings } from '../chain/settings.ts';
import { bodyHash } from '../effect/body-hash.ts';
import { criterion, type Explanation } from '../explanation/explanation.ts';
import { asksAbout, compileExpression, evaluateCondition } from '../expression/condition.ts';
import type { GateVerdict } from '../outcome/gate-verdict.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { acceptanceCriteria, acceptorsIn } from '../policy/accepted-findings.ts';
import type { AnsweringPerson, Approval, AskedAuthorship } from '../policy/approval.ts';
import type { ApprovingReviews } from '../policy/approving-reviews.ts';
import { askedAuthorship, NO_CONTRIBUTORS } from '../policy/authorship.ts';
import { actionOf } from '../policy/capability.ts';
import { type Conflict, conflictCriteria, conflictOf, type Mergeability } from '../policy/conflict.ts';
import { type CountersignRules, tightened } from '../policy/countersign-rules.ts';
import type { Discussion, SaidOnGitHub } from '../policy/discussion.ts';
import { conditionOf, degraded } from '../policy/gate/verdict.ts';
import {
  type Answerer,
  approvedOnGitHubBy,
  type ConfigurationStatus,
  ineligibleBecause,
  type MergeFacts,
  type MergeQuestion,
} from '../policy/merge-gate.ts';
import { type QuestionWatch, reactionsSeen } from '../policy/question-watch.ts';
import { type RequestedChanges, requestedChangesCriterion } from '../policy/reviews-standing.ts';
import { mayAsk, type Rollout, rolloutInWords } from '../policy/rollout.ts';
import { stillExpected } from '../rule/step-rules.ts';
import { asConditionsSeeIt, conditionContext } from './context.ts';
import type { Invocation, Run, RunState } from './run.ts';
import { whyConditionIsFalse } from './why-condition-is-false.ts';

/** The step with the approval comment. */
export interface Asking {
  state: RunState;
  step: Step;
  invocation: Invocation;
}

/** The data that was read for one attempt at an approval comment. */
type ReadForQuestion = Pick<MergeFacts, 'readAt' | 'comment' | 'contributors' | 'reactors' | 'pausedBy'> & {
  pullRequest: MergeFacts['pullRequest'] & Mergeability;
  method: MergeQuestion['method'];
  /** Absent for a merge. */
  speakers: MergeFacts['speakers'];
  /** The configuration that governs the pull request now; `undefined` if this attempt did not read it. */
  governing:
    | { settings: Settings | undefined; status: ConfigurationStatus; rollout: Rollout | undefined }
    | undefined;
  /** The operator of this server has turned merging off. */
  mergingOff: boolean;
  /** Outcomes that replace the recorded ones, as `outcomesNow` returns them. */
  fresh: ReadonlyMap<string, Outcome>;
  gates: readonly GateVerdict[];
  rejections: { by: readonly AnsweringPerson[]; elsewhere: readonly Explanation[] };
  /** `undefined` if it does not matter here, or if this attempt did not read it. */
  requestedChanges: RequestedChanges | undefined;
  /** `undefined` if this attempt did not read them. */
  approvingReviews: ApprovingReviews<Answerer> | undefined;
  /** Those who accepted findings, as they are now; `undefined` if this attempt did not read them. */
  acceptors: readonly Answerer[] | undefined;
  /** `undefined` if this attempt did not ask for it; `null` if GitHub did not show it. */
  discussion: Discussion | null | undefined;
  /** The comment as the poller compares it; `undefined` if GitHub does not show it or names no global id. */
  shown:
    | {
        nodeId: string;
        body: string;
        counted: string[];
        reactions: readonly { id: number; content: string }[];
      }
    | undefined;
};

/** The facts for the merge gate, and the parts that the approval stores. */
export interface QuestionFacts {
  facts: MergeFacts;
  conflict: Conflict;
  /** Whether the last attempt found a conflict. */
  conflicted: boolean;
  /** `undefined` if it was not read, or cannot be determined. */
  authorship: AskedAuthorship | undefined;
  /** `undefined` if this attempt did not read it. */
  reviews: SaidOnGitHub | undefined;
  /** `null` if the comment cannot be watched. */
  watch: QuestionWatch | null;
}

/** @param asked the approval as the last attempt left it */
export function questionFacts(
  asking: Asking,
  asked: Pick<Approval, 'reviews'> | undefined,
  read: ReadForQuestion,
): QuestionFacts {
  const { run } = asking.state;
  const { contributors, pullRequest, rejections, requestedChanges, approvingReviews, speakers } = read;
  const conflict = conflictNow(asking, read);
  const conflicted = wasConflicting(asking.invocation);
  const rules = tightened(run.settings.countersign, asking.step.approval);
  const facts: MergeFacts = {
    readAt: read.readAt,
    pullRequest: {
      state: pullRequest.state,
      merged: pullRequest.merged,
      draft: pullRequest.draft,
      headSha: pullRequest.headSha,
      baseRef: pullRequest.baseRef,
      author: pullRequest.author,
    },
    comment: read.comment,
    configuration: read.governing?.status ?? { kind: 'as_asked' },
    contributors,
    reactors: read.reactors,
    ...(speakers ? { speakers } : {}),
    rejectedBefore: rejections.by,
    ...(approvingReviews ? { approvingReviews } : {}),
    conditions: [
      ...mergingSwitch(asking.step, read),
      ...rolloutCriterion(read),
      ...conditionsNow(asking, read.fresh),
      ...read.gates.map(conditionOf),
      ...rejections.elsewhere,
      ...(requestedChanges ? [requestedChangesCriterion(requestedChanges, pullRequest.author.id)] : []),
      ...acceptances(asking, rules, read),
      ...conflictCriteria(conflict, conflicted, run.baseRef),
    ],
    pausedBy: read.pausedBy,
  };
  const { discussion = asked?.reviews?.discussion ?? null } = read;
  return {
    conflict,
    conflicted,
    reviews: approvingReviews && { approved_by: approvedOnGitHubBy(rules, facts), discussion },
    watch: watchOf(read, conflict.kind === 'unknown' ? conflicted : conflict.kind === 'conflict'),
    authorship:
      contributors && contributors !== NO_CONTRIBUTORS ? askedAuthorship(rules, contributors) : undefined,
    facts,
  };
}

function acceptances(
  { state }: Asking,
  rules: CountersignRules,
  { acceptors, contributors, pullRequest }: ReadForQuestion,
): Explanation[] {
  if (!acceptors) return [];
  return acceptanceCriteria(acceptorsIn(state.invocations), ({ id }) => {
    const now = acceptors.find((person) => person.id === id);
    return now
      ? ineligibleBecause(now, rules, { contributors, pullRequest })
      : 'is not on GitHub under that name any more';
  });
}

function watchOf({ shown, pullRequest }: ReadForQuestion, conflicts: boolean): QuestionWatch | null {
  if (!shown) return null;
  const { state, draft, headSha, baseRef } = pullRequest;
  return {
    node_id: shown.nodeId,
    counted: shown.counted,
    body: bodyHash(shown.body),
    reactions: reactionsSeen(shown.reactions, shown.counted),
    pull_request: { open: state === 'open', draft, head_sha: headSha, base_ref: baseRef, conflicts },
  };
}

/** Outcomes that were read again, after applying the rules and gates of their steps. */
export function outcomesNow(
  { run, verdicts = [] }: RunState,
  readAgain: ReadonlyMap<string, Outcome>,
): ReadonlyMap<string, Outcome> {
  const steps = new Map(run.definition.steps.map((step) => [step.id, step]));
  return new Map(
    [...readAgain].map(([id, outcome]) => {
      const expected = stillExpected(steps.get(id) ?? {}, outcome);
      const stepVerdicts = verdicts.filter(({ step }) => step === id);
      return [id, degraded(expected, stepVerdicts)];
    }),
  );
}

/** Whether the last attempt found a conflict. */
export function wasConflicting({ reason }: Pick<Invocation, 'reason'>): boolean {
  return reason?.code === 'step.waiting.conflict';
}

/** Whether the head in question conflicts with its base. Only for a step that merges it. */
function conflictNow(
  { state: { run }, step }: { state: { run: Pick<Run, 'headSha' | 'baseRef'> }; step: Step },
  { pullRequest, method }: Pick<ReadForQuestion, 'pullRequest' | 'method'>,
): Conflict {
  const isSame = pullRequest.headSha === run.headSha && pullRequest.baseRef === run.baseRef;
  return isSame && pullRequest.state === 'open' && actionOf(step.uses)?.merges
    ? conflictOf(pullRequest, method, run.baseRef)
    : { kind: 'none' };
}

/**
 * Whether merging is turned off. The approval comment stays open and is answered once merging is on again.
 */
function mergingSwitch(
  step: Step,
  { mergingOff, governing }: Pick<ReadForQuestion, 'mergingOff' | 'governing'>,
): Explanation[] {
  if (!actionOf(step.uses)?.merges) return [];
  const scope = governing?.settings?.mergingOff;
  return [
    ...(mergingOff
      ? [criterion('unmet', 'merging is switched off on this server (`COUNTERSIGN_MERGING=off`)')]
      : []),
    ...(scope
      ? [criterion('unmet', `merging is switched off in the settings of the ${scope} (\`merging: off\`)`)]
      : []),
  ];
}

/** The rollout was lowered since people were asked. Their answers count once it is raised again. */
function rolloutCriterion({ governing }: Pick<ReadForQuestion, 'governing'>): Explanation[] {
  const rollout = governing?.rollout;
  return rollout && !mayAsk(rollout.level) ? [criterion('unmet', rolloutInWords(rollout))] : [];
}

/** The step's own condition, and the current outcomes that it depends on. */
function conditionsNow(asking: Asking, fresh: ReadonlyMap<string, Outcome>): Explanation[] {
  const { step, state } = asking;
  const reasons = [...fresh]
    .filter(([id]) => needsPassed(asking, id))
    .map(([id, outcome]) =>
      criterion(
        asConditionsSeeIt(outcome, state).passed === true ? 'met' : 'unmet',
        `${id}: ${outcome.summary}`,
      ),
    );
  if (step.condition === undefined) return reasons;
  const holds = evaluateCondition(compileExpression(step.condition), conditionContext(state, step.id, fresh));
  if (holds) return [...reasons, criterion('met', 'every condition of the step still holds')];
  const because = whyConditionIsFalse(state, step.id, step.condition, fresh);
  const words = because === undefined ? '' : `: ${because}`;
  return [...reasons, criterion('unmet', `the step's condition no longer holds${words}`)];
}

/**
 * Whether the outcome of another step must have passed before this step may continue. An irreversible step
 * needs all of them. Any other step needs those that it depends on, unless a condition in between refers to
 * the outcome: such a condition may be for red CI, and held.
 */
function needsPassed({ step, state }: Asking, id: string): boolean {
  if (actionOf(step.uses)?.irreversible) return true;
  const { steps } = state.run.definition;
  const before = dependenciesOf(steps, step.id);
  const other = steps.find((candidate) => candidate.id === id);
  if (!other || !before.includes(id)) return false;
  const between = [step, ...steps.filter((candidate) => before.includes(candidate.id))];
  return !between.some(
    ({ condition }) => condition !== undefined && asksAbout(compileExpression(condition), other),
  );
}
