import { unreachable } from '../../core/errors.ts';
import { deliveryOf } from '../artifact/delivery.ts';
import type { Missing } from '../artifact/verification.ts';
import { merges } from '../chain/chain.ts';
import { dependenciesOf } from '../chain/graph.ts';
import type { EvidenceRef } from '../explanation/evidence.ts';
import { combined, criterion, type Explanation, labelOf } from '../explanation/explanation.ts';
import type { CiResult } from '../outcome/ci-result.ts';
import { isBlocking, placeInWords, SEVERITIES } from '../outcome/finding.ts';
import { findingId } from '../outcome/fingerprint.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { brokenOff, type ReviewVerdict } from '../outcome/review-verdict.ts';
import type { Approval } from '../policy/approval.ts';
import { actionOf } from '../policy/capability.ts';
import { refusedByGitHub } from '../policy/discussion.ts';
import { verdictCriterion } from '../policy/gate/verdict.ts';
import { levelOf } from '../policy/rollout.ts';
import { describeChoice } from '../skill/decision.ts';
import { chosenMerge, isWithheld } from './completed.ts';
import { actionOfStep, type Invocation, isRunOver, isStepOver, type Run, type RunState } from './run.ts';

/** Per node. People read the first few, and the outcome itself has them all. */
const MAX_REASONS = 20;

/**
 * The single answer to "why is this pull request (not) merging?", from the stored run (invariant I6). Only
 * steps that the merge depends on count: other steps (a label, a comment) cannot block it. For a chain that
 * merges nothing, all steps count.
 * @param approval the approval comment of the run, if there is one
 */
export function explain(state: RunState, approval: Approval | null): Explanation {
  const { run } = state;
  const stopped = hasStopped(run);
  const reasons = [
    ...(run.facts.governed
      ? [governedCriterion({ ...run.facts.governed, base: run.baseRef, sha: run.baseSha })]
      : []),
    ...(run.facts.parent ? [parentCriterion(run.facts.parent)] : []),
    ...rolloutCriteria(run),
    ...(run.settings.lifted ?? []).map((sentence) => criterion('met', sentence)),
    ...(stopped
      ? [criterion('unmet', withoutPrefix(run.reason?.summary ?? `the run was ${run.status}`))]
      : []),
    ...(run.paused && !isRunOver(run.status)
      ? [criterion('unmet', 'the pull request is paused until somebody resumes it')]
      : []),
    ...stepsOnTheWay(state)
      .filter((step) => !(stopped && step.status === 'cancelled'))
      .map((step) =>
        withArtifacts(step, withGates(state, step, withChoice(step, stepExplanation(state, step, approval)))),
      ),
    ...rateLimitCriteria(state),
    ...deliveryExplanation(state),
  ];
  const merged = mergedAs(state);
  // A step that failed and was allowed to (`on_failure: continue`) did not prevent the merge.
  if (merged !== undefined && !stopped) return criterion('met', merged, reasons);
  const status = combined(reasons);
  return criterion(status, headline(run, status, reasons), reasons);
}

/** What the rollout keeps the run from. */
function rolloutCriteria(run: Run): Explanation[] {
  const level = levelOf(run);
  switch (level) {
    case 'enforce':
      return [];
    case 'comment':
      return [criterion('met', 'rollout was comment when the run began: it comments, and asks nobody')];
    case 'off':
    case 'observe':
      return [
        criterion('met', `rollout was ${level} when the run began: it writes nothing, and asks nobody`),
      ];
    default:
      return unreachable(level);
  }
}

/** The run whose step this run is. */
function parentCriterion({ run, chain, step }: NonNullable<Run['facts']['parent']>): Explanation {
  return criterion(
    'met',
    `run by the step ${step} of ${chain}`,
    [],
    [{ kind: 'run', id: run, label: chain }],
  );
}

/** The branch whose configuration governs a pull request, if that is not its base. */
export function governedCriterion({
  branch,
  sha,
  base,
  because,
}: {
  branch: string;
  sha: string;
  base: string;
  because: string;
}): Explanation {
  return criterion(
    'met',
    `configuration of ${branch} at ${sha.slice(0, 7)}, as ${base} is not protected: ${because}`,
  );
}

/**
 * One criterion for all steps that wait for GitHub's rate limit, because they wait for nearly the same time.
 */
function rateLimitCriteria({ invocations }: RunState): Explanation[] {
  const waiting = invocations.filter(
    (step) => !isStepOver(step.status) && step.reason?.code === 'step.waiting.rate_limit',
  );
  return [...new Set(waiting.map((step) => step.reason?.summary ?? ''))].map((summary) =>
    criterion('pending', summary),
  );
}

/** How many of the required artifacts there are, unless all. The steps themselves name the missing ones. */
function deliveryExplanation({ invocations }: RunState): Explanation[] {
  const verifications = invocations.flatMap(({ verification }) => verification ?? []);
  const delivery = deliveryOf(verifications);
  if (delivery === undefined || delivery === 'passed') return [];
  const isIncomplete = verifications.some(({ missing_required }) => missing_required.length > 0);
  return [criterion(isIncomplete ? 'unmet' : 'met', `delivery: ${delivery}`)];
}

/** The steps that a merge depends on, and the merge itself. All steps of a chain that merges nothing. */
export function stepsOnTheWay({ run, invocations }: RunState): Invocation[] {
  const { steps } = run.definition;
  const merging = steps.filter(({ uses }) => actionOf(uses)?.merges).map((step) => step.id);
  const wanted = new Set([...merging, ...merging.flatMap((id) => dependenciesOf(steps, id))]);
  return merging.length === 0 ? invocations : invocations.filter((step) => wanted.has(step.stepId));
}

function headline(run: Run, status: Explanation['status'], reasons: readonly Explanation[]): string {
  // In step order: a later problem is often a consequence of an earlier one, such as a skipped step.
  const first = reasons.find((reason) => reason.status !== 'met')?.summary ?? 'nothing is known yet';
  if (!merges(run.definition))
    return status === 'met' ? 'every step is done; this chain merges nothing' : `not done: ${first}`;
  switch (status) {
    case 'met':
      return 'nothing stands in the way; merging';
    case 'pending':
      return `not merging yet: ${first}`;
    case 'unmet':
    case 'unknown':
      if (hasStopped(run)) return `stopped: ${first}`;
      return isRunOver(run.status) ? `not merged: ${first}` : `not merging: ${first}`;
    default:
      return unreachable(status);
  }
}

/** The summary of the step that merged; `undefined` if none has. */
function mergedAs({ run, invocations }: RunState): string | undefined {
  const isDone = ({ status, outcome }: Invocation) => status === 'completed' && outcome?.passed === true;
  return invocations.find((step) => actionOfStep(run, step)?.merges && isDone(step))?.outcome?.summary;
}

function hasStopped({ status }: Run): boolean {
  return status === 'cancelled' || status === 'aborted';
}

/** The criterion that decides, without the prefix that every summary of a decision has. */
function decisive(decision: Explanation): string {
  const reason = decision.reasons.find(({ status }) => status === decision.status);
  return withoutPrefix((reason ?? decision).summary);
}

function withoutPrefix(summary: string): string {
  return summary.replace(/^not (?:merging|going on): /, '');
}

function stepExplanation(state: RunState, step: Invocation, approval: Approval | null): Explanation {
  const asked = approval?.invocationId === step.id ? approval.decision : null;
  const because = step.reason?.code === 'step.waiting.rate_limit' ? undefined : step.reason?.summary;
  const withReason = (words: string) =>
    `${step.stepId} ${words}${because === undefined ? '' : `: ${because}`}`;
  switch (step.status) {
    case 'pending':
      return criterion('pending', `${step.stepId} has not started`);
    case 'running':
      return criterion('pending', `${step.stepId} is running`);
    case 'waiting_ci':
      return criterion('pending', withReason('waits for CI'), [], pointers(step));
    case 'waiting_until':
      return step.reason?.code === 'step.waiting.conflict'
        ? criterion('unmet', withReason('is held up'))
        : criterion('pending', withReason('waits'), [], pointers(step));
    case 'waiting_approval':
      // The last poll is older than the outage. It is shown below, but does not decide.
      if (step.reason?.code === 'step.waiting.github')
        return criterion('pending', withReason('waits'), asked?.reasons);
      if (asked === null) return criterion('pending', `${step.stepId} waits for a countersign`);
      return withGitHub(state, step, approval, askedCriterion(step.stepId, asked));
    case 'completed':
      return step.outcome === null
        ? criterion('unknown', `${step.stepId} is done, but its outcome is not known`)
        : outcomeCriterion(state, step.stepId, step.outcome, asked);
    case 'skipped':
      return skippedCriterion(state, step);
    case 'failed':
      if (step.reason?.decision)
        return criterion('unmet', withReason('failed'), step.reason.decision.reasons);
      return step.reason?.code === 'step.failed.incomplete'
        ? criterion('unknown', withReason('is incomplete'), [], pointers(step))
        : criterion('unmet', withReason('failed'), asked?.reasons ?? [], pointers(step));
    case 'timed_out':
      return criterion('unmet', `${step.stepId} took longer than it may`, asked?.reasons ?? []);
    case 'cancelled':
      return criterion('unmet', withReason('was cancelled'), asked?.reasons ?? []);
    default:
      return unreachable(step.status);
  }
}

/** A chain can have several steps that merge, of which conditions choose one. The others then block nothing. */
function skippedCriterion(state: RunState, step: Invocation): Explanation {
  if (isWithheld(step)) return criterion('unmet', `${step.stepId} ${step.reason?.summary}`);
  const isChoice =
    step.reason?.code === 'step.skipped.condition' && actionOfStep(state.run, step)?.merges === true;
  const chosen = isChoice ? chosenMerge(state) : undefined;
  return chosen
    ? criterion('met', `${skippedWords(step)}; ${chosen.stepId} merges instead`)
    : criterion('unmet', skippedWords(step));
}

/** `merge was skipped because the review did not pass`. */
function skippedWords({ stepId, reason }: Invocation): string {
  if (reason === null) return `${stepId} was skipped`;
  const isItsOwn = reason.code === 'step.skipped.condition' || reason.code === 'step.skipped.dependency';
  return `${stepId} was skipped${isItsOwn ? ' because ' : ': '}${reason.summary}`;
}

/** A step with an approval comment, from the last poll. */
function askedCriterion(id: string, asked: Explanation): Explanation {
  switch (asked.status) {
    case 'met':
      // Approved, but not executed yet. It no longer waits for a person.
      return criterion('pending', `${id}: ${asked.summary}`, asked.reasons);
    case 'pending':
      return criterion('pending', `${id} waits for a countersign (${decisive(asked)})`, asked.reasons);
    case 'unmet':
    case 'unknown':
      return criterion(asked.status, `${id} is held up: ${decisive(asked)}`, asked.reasons);
    default:
      return unreachable(asked.status);
  }
}

/** Adds why GitHub would refuse the merge, which the app does not judge. */
function withGitHub(
  { run }: RunState,
  step: Invocation,
  approval: Approval | null,
  answer: Explanation,
): Explanation {
  if (!approval?.reviews || !actionOfStep(run, step)?.merges) return answer;
  const refusals = refusedByGitHub(approval.reviews, run.baseRef).map((because) =>
    criterion('pending', because),
  );
  return { ...answer, reasons: [...answer.reasons, ...refusals] };
}

/** Adds the chosen skill to a step's criterion. */
function withChoice({ stepId, choice }: Invocation, answer: Explanation): Explanation {
  if (!choice) return answer;
  return { ...answer, reasons: [criterion('met', `${stepId} ${describeChoice(choice)}`), ...answer.reasons] };
}

/** Adds the verdicts of a step's gates. For an irreversible step, the last poll already contains them. */
function withGates({ run, verdicts = [] }: RunState, step: Invocation, answer: Explanation): Explanation {
  if (actionOfStep(run, step)?.irreversible) return answer;
  const stepVerdicts = verdicts.filter((verdict) => verdict.step === step.stepId);
  return { ...answer, reasons: [...answer.reasons, ...atMost(stepVerdicts.map(verdictCriterion), 'gate')] };
}

/**
 * Adds the missing artifacts to a step's criterion. Optional ones block nothing. A step that was cancelled
 * with its run has an obvious reason for missing artifacts, and one that failed because of them already says
 * so.
 */
function withArtifacts({ status, reason, verification }: Invocation, answer: Explanation): Explanation {
  const isAlreadyReported = reason?.code === 'step.failed.missing_artifact';
  if (verification === null || status === 'cancelled' || isAlreadyReported) return answer;
  const missingCriterion = (kind: 'required' | 'optional') => (missing: Missing) =>
    criterion(
      kind === 'required' ? 'unmet' : 'met',
      `${kind === 'required' ? 'expected' : 'optional'} artifact ${missing.id}: ${missing.because}`,
      [],
      [missing.path],
    );
  const reasons = [
    ...verification.missing_required.map(missingCriterion('required')),
    ...verification.missing_optional.map(missingCriterion('optional')),
  ];
  return { ...answer, reasons: [...answer.reasons, ...atMost(reasons, 'artifact')] };
}

function outcomeCriterion(
  state: RunState,
  id: string,
  outcome: Outcome,
  asked: Explanation | null,
): Explanation {
  const summary = `${id}: ${outcome.summary}`;
  switch (outcome.outcome_kind) {
    case 'review_verdict':
      return criterion(verdict(outcome), summary, reviewReasons(outcome));
    case 'ci_result':
      return noChecks(outcome)
        ? noChecksCriterion(id, state.run.settings.ci.no_checks === 'allow')
        : criterion(verdict(outcome), summary, checkReasons(outcome));
    case 'gate_verdict':
      return criterion(
        verdict(outcome),
        summary,
        outcome.criteria.map(({ passed, description, evidence }) =>
          criterion(passed ? 'met' : 'unmet', description, [], [evidence].filter(Boolean)),
        ),
      );
    case 'action_result':
      return criterion(verdict(outcome), summary, asked?.reasons ?? []);
    case 'flow_control_verdict':
      return criterion(verdict(outcome), summary, [
        criterion(
          outcome.should_continue ? 'met' : 'unmet',
          `${outcome.should_continue ? 'the chain goes on' : 'the chain ends here'}: ${outcome.reason}`,
        ),
      ]);
    default:
      return criterion(verdict(outcome), summary);
  }
}

/** A missing verdict never counts as met (invariant I5). */
function verdict(outcome: Outcome): Explanation['status'] {
  return outcome.passed === null ? 'unknown' : outcome.passed ? 'met' : 'unmet';
}

function noChecks(outcome: CiResult): boolean {
  return outcome.passed === null && outcome.checks.length === 0;
}

function noChecksCriterion(id: string, allowed: boolean): Explanation {
  return allowed
    ? criterion('met', `${id}: no checks ran; the settings allow that`)
    : criterion('unmet', `${id}: no checks ran, and the settings ask for some`);
}

function reviewReasons(outcome: ReviewVerdict): Explanation[] {
  return atMost(
    [
      ...brokenOff(outcome.analyzers).map((summary) => criterion('unknown', summary)),
      ...outcome.findings
        .filter(isBlocking)
        .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
        .map((finding) =>
          criterion(
            'unmet',
            `${finding.severity}: ${finding.description}`,
            [],
            [placeInWords(finding), `finding ${findingId(finding)}`],
          ),
        ),
      ...(outcome.accepted ?? []).map(({ finding, by, because }) =>
        criterion(
          'met',
          `${by.login} accepted for this commit: ${finding.severity}: ${finding.description} Reason: ${because}`,
          [],
          [placeInWords(finding), `finding ${findingId(finding)}`],
        ),
      ),
    ],
    'finding',
  );
}

function checkReasons(outcome: CiResult): Explanation[] {
  const open = outcome.checks.filter((check) => check.state === 'failed' || check.state === 'pending');
  return atMost(
    open.map((check) =>
      criterion(check.state === 'failed' ? 'unmet' : 'pending', `${check.name}: ${check.conclusion}`),
    ),
    'check',
  );
}

function atMost(reasons: Explanation[], noun: string): Explanation[] {
  const left = reasons.length - MAX_REASONS;
  if (left <= 0) return reasons;
  const rest = combined(reasons.slice(MAX_REASONS));
  return [
    ...reasons.slice(0, MAX_REASONS),
    criterion(rest, `and ${left} more ${noun}${left === 1 ? '' : 's'}`),
  ];
}

/** Without people, because the sentence names them. */
function pointers(step: Invocation): EvidenceRef[] {
  const evidence = (step.reason?.evidence ?? []).filter(({ kind }) => kind !== 'person');
  return evidence.slice(0, MAX_REASONS);
}

const MARKS: Readonly<Record<Explanation['status'], string>> = {
  met: '✔',
  unmet: '✘',
  pending: '…',
  unknown: '?',
};

/** The tree as indented lines, for terminals, and for replies in a code block. */
export function explainText(tree: Explanation): string {
  return lines(tree, '').join('\n');
}

function lines(node: Explanation, indent: string): string[] {
  const evidence =
    node.evidence.length === 0 ? '' : ` (${node.evidence.map((one) => plainLine(labelOf(one))).join(', ')})`;
  return [
    `${indent}${MARKS[node.status]} ${plainLine(node.summary)}${evidence}`,
    ...node.reasons.flatMap((reason) => lines(reason, `${indent}  `)),
  ];
}

/**
 * Untrusted text as one line that is safe for a terminal. Control characters can move the cursor, rename the
 * window or hide a line; direction marks can make `exe.txt` look like `txt.exe`. They become a visible `�`.
 */
export function plainLine(text: string): string {
  return text
    .replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '\uFFFD');
}
