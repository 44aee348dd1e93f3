import { isDeepStrictEqual } from 'node:util';
import { aboutRun } from '../../domain/audit/entry.ts';
import type { EventOf } from '../../domain/event/event.ts';
import { type Acceptance, judgedAgain } from '../../domain/outcome/accept.ts';
import { type Finding, placeInWords, SEVERITIES } from '../../domain/outcome/finding.ts';
import { findingId, fingerprintHash } from '../../domain/outcome/fingerprint.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { type CountersignRules, teamsNamed } from '../../domain/policy/countersign-rules.ts';
import { degraded } from '../../domain/policy/gate/verdict.ts';
import { ineligibleBecause } from '../../domain/policy/merge-gate.ts';
import { stillExpected } from '../../domain/rule/step-rules.ts';
import { childRunId } from '../../domain/run/child.ts';
import { rulesOfMerges } from '../../domain/run/rules-of-merges.ts';
import { type Invocation, isRunOver, type RunState } from '../../domain/run/run.ts';
import { reviewWithAccepted } from '../../engine/steps/judged-findings.ts';
import type { HeadOf } from '../../ports/accepted-findings.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Command } from './command.ts';
import { overtaken, remember } from './command-order.ts';
import type { CommandContext } from './context.ts';
import type { CommandResult } from './replies.ts';
import { type Reply, replyFor } from './reply.ts';

/** A step of a run for the head whose outcome is a review. */
interface Reviewed {
  state: RunState;
  invocation: Invocation;
  review: ReviewVerdict;
  /** Whose acceptance counts for the run: those who may countersign each of its merges. Never empty. */
  rules: readonly CountersignRules[];
}

/** The reviews of the newest run of each chain for this head, and of the runs that their steps began. */
export async function reviewsOfHead(
  { runs }: Pick<ReadTx, 'runs'>,
  { repository, pull_request }: EventOf<'command.issued'>,
  { headSha }: Pick<PullRequest, 'headSha'>,
): Promise<Reviewed[]> {
  const all = await runs.current({ repositoryId: repository.id, pullRequest: pull_request });
  const newest = new Map<string, RunState>();
  const seen = new Set<string>();
  // A run comes before those that it began, and after its successor.
  for (const run of all.toReversed().toSorted((a, b) => depthOf(a) - depthOf(b))) {
    if (run.headSha !== headSha) continue;
    const parent = run.facts.parent && newest.get(run.facts.parent.run);
    const isCurrent = run.facts.parent
      ? parent?.invocations.some(({ sessionId }) => sessionId !== null && childRunId(sessionId) === run.id)
      : all.find(({ chain, facts }) => chain === run.chain && !facts.parent)?.id === run.id;
    if (!isCurrent || seen.has(run.id)) continue;
    seen.add(run.id);
    const state = await runs.load(run.id);
    if (state) newest.set(run.id, state);
  }
  return [...newest.values()].flatMap((state) => {
    const { parent } = state.run.facts;
    const root = (parent && newest.get(parent.above.at(-1) ?? parent.run)) ?? state;
    const rules = rulesOfMerges(root.run);
    return state.invocations.flatMap((invocation) =>
      invocation.outcome?.outcome_kind === 'review_verdict'
        ? [{ state, invocation, review: invocation.outcome, rules }]
        : [],
    );
  });
}

function depthOf({ facts }: RunState['run']): number {
  return facts.parent ? 1 + facts.parent.above.length : 0;
}

/** The teams that decide who may accept. */
export function teamsToAccept(reviewed: readonly Reviewed[]): string[] {
  return [...new Set(reviewed.flatMap(({ rules }) => rules.flatMap(teamsNamed)))];
}

/**
 * Accepts a finding for this head, for somebody who may countersign the merge. The verdicts of its reviews are judged again, and
 * their runs go on from there. Nothing merges by it: a countersign is needed all the same (I1), and the gate reads again
 * whether that person may countersign.
 */
export async function acceptFinding(
  command: Extract<Command, { verb: 'accept' }>,
  context: CommandContext,
): Promise<Reply> {
  const { deps, tx } = context;
  const named = await findNamed(command, context);
  if ('refusal' in named) return named.refusal;
  const { finding, hash, having, head, by } = named;
  const { because } = command;
  const id = findingId(finding);
  const isThere = having.every(({ review }) =>
    (review.accepted ?? []).some((one) => one.by.id === by.id && fingerprintHash(one.finding) === hash),
  );
  if (isThere) return replyFor({ kind: 'accepted_already', id });
  const { rule, severity } = worst(having, hash) ?? finding;
  await tx.acceptedFindings.put({
    ...head,
    finding: hash,
    rule,
    severity,
    by,
    because,
    at: deps.clock.now(),
  });
  await tx.audit.record({
    kind: 'finding.accepted',
    ...aboutRun(having[0].state.run, { kind: 'person', login: by.login }),
    finding: hash,
    rule,
    severity,
    place: placeInWords(finding),
    because,
  });
  const acceptances = await judgeAll(context, having, head);
  const left = distinct(having.flatMap(({ review }) => judgedAgain(review, acceptances).findings));
  return replyFor({ kind: 'finding_accepted', id, head: head.headSha, left: left.map(described) });
}

/**
 * Takes back that somebody accepted a finding for this head. Everybody who may countersign the merge may do so, not only the
 * person who accepted it. The verdict then blocks a merge that still waits; one that is done is not undone.
 */
export async function withdrawFinding(
  command: Extract<Command, { verb: 'withdraw' }>,
  context: CommandContext,
): Promise<Reply> {
  const { tx } = context;
  const named = await findNamed(command, context);
  if ('refusal' in named) return named.refusal;
  const { finding, hash, having, head, by } = named;
  const id = findingId(finding);
  const accepted = (await tx.acceptedFindings.ofHead(head)).find((one) => one.finding === hash);
  if (!accepted) return replyFor({ kind: 'not_accepted', id });
  await tx.acceptedFindings.remove(head, hash);
  await tx.audit.record({
    kind: 'acceptance.withdrawn',
    ...aboutRun(having[0].state.run, { kind: 'person', login: by.login }),
    finding: hash,
    rule: accepted.rule,
    place: placeInWords(finding),
    accepted_by: accepted.by.login,
  });
  await judgeAll(context, having, head);
  return replyFor({ kind: 'finding_withdrawn', id, head: head.headSha });
}

/** A finding of this head's reviews that the person may accept, or whose acceptance they may withdraw. */
interface NamedFinding {
  finding: Finding;
  hash: string;
  /** The reviews that have it. */
  having: readonly [Reviewed, ...Reviewed[]];
  head: HeadOf;
  by: Acceptance['by'];
}

/** Finds what the command is about, and whether this person may give it, or says why not. */
async function findNamed(
  { verb, finding: given }: Extract<Command, { verb: 'accept' | 'withdraw' }>,
  context: CommandContext,
): Promise<NamedFinding | { refusal: Reply }> {
  const { tx, event, pullRequest, respondent } = context;
  const refusal = (result: CommandResult) => ({ refusal: replyFor(result) });
  const reviewed = await reviewsOfHead(tx, event, pullRequest);
  if (reviewed.length === 0) return refusal({ kind: 'no_review', head: pullRequest.headSha });
  const all = distinct(reviewed.flatMap(({ review }) => findingsOf(review)));
  const matching = all.filter((finding) => fingerprintHash(finding).startsWith(given));
  const [finding, another] = matching;
  if (another) return refusal({ kind: 'several_findings', given, findings: matching.map(described) });
  const [first, ...others] = reviewed.filter(({ review }) =>
    findingsOf(review).some((other) => fingerprintHash(other).startsWith(given)),
  );
  if (!finding || !first) return refusal({ kind: 'no_such_finding', given, findings: all.map(described) });
  const hash = fingerprintHash(finding);
  const having = [first, ...others] as const;
  const because = respondent
    ? having
        .flatMap(({ rules }) => rules.map((one) => ineligibility(respondent, one, pullRequest)))
        .find((one) => one !== undefined)
    : 'could not be found on GitHub';
  if (!respondent || because !== undefined)
    return refusal({
      kind: 'may_not_accept',
      verb,
      id: findingId(finding),
      login: event.actor,
      because: because ?? '',
    });
  const { headSha } = pullRequest;
  const ordered = { kind: 'acceptance', verb, headSha, finding: hash } as const;
  const newer = await overtaken(context, ordered);
  if (newer) return refusal(newer);
  await remember(context, ordered);
  const head = { repositoryId: event.repository.id, pullRequest: event.pull_request, headSha };
  const { id, login } = respondent.person;
  return { finding, hash, having, head, by: { id, login } };
}

/** Judges every review that has the finding again. @returns what is accepted for the head now */
async function judgeAll(
  context: CommandContext,
  having: readonly Reviewed[],
  head: HeadOf,
): Promise<readonly Acceptance[]> {
  const acceptances = await context.tx.acceptedFindings.ofHead(head);
  for (const one of having) await judge(context, one, acceptances);
  return acceptances;
}

/** Judges one review again. A run of a step of another run, which is over, is run again with that step. */
async function judge(
  { deps, tx, event }: CommandContext,
  { state, invocation, review }: Reviewed,
  acceptances: readonly Acceptance[],
): Promise<void> {
  const { run, verdicts = [] } = state;
  const actor = { kind: 'person', login: event.actor } as const;
  const step = run.definition.steps[invocation.stepIndex];
  const ignored = run.settings.review?.ignore ?? [];
  const outcome: Outcome = degraded(
    stillExpected(step ?? {}, reviewWithAccepted(review, acceptances, ignored)),
    verdicts.filter((verdict) => verdict.step === invocation.stepId),
  );
  if (isDeepStrictEqual(outcome, review)) return;
  if (!run.facts.parent || !isRunOver(run.status)) {
    await deps.engine.judge(tx, run.id, invocation.stepIndex, outcome, actor);
    return;
  }
  const { above, run: nearest } = run.facts.parent;
  const root = await tx.runs.load(above.at(-1) ?? nearest);
  const below = above.length === 0 ? run : await childBelow(tx, run, above);
  const began = root?.invocations.find(({ stepId }) => stepId === below?.facts.parent?.step);
  if (root && began)
    await deps.engine.signal(tx, root.run.id, { kind: 'rerun', stepIndex: began.stepIndex }, actor);
}

/** The run directly below the first one. */
async function childBelow(
  { runs }: Pick<ReadTx, 'runs'>,
  { facts }: RunState['run'],
  above: readonly string[],
): Promise<RunState['run'] | undefined> {
  const id = above.length === 1 ? facts.parent?.run : above.at(-2);
  return id === undefined ? undefined : (await runs.load(id))?.run;
}

function ineligibility(
  { person, contributors }: NonNullable<CommandContext['respondent']>,
  rules: CountersignRules,
  { author }: Pick<PullRequest, 'author'>,
): string | undefined {
  const teams = teamsNamed(rules).filter((team) => person.teams.includes(team));
  return ineligibleBecause({ ...person, teams }, rules, { pullRequest: { author }, contributors });
}

function findingsOf({ findings, accepted = [] }: ReviewVerdict): Finding[] {
  return [...findings, ...accepted.map(({ finding }) => finding)];
}

/** Each once. Several runs can have the same finding. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [fingerprintHash(finding), finding])).values()];
}

/** As the person could see it in the worst case: two reviews can weigh it differently. */
function worst(having: readonly Reviewed[], hash: string): Finding | undefined {
  const found = having
    .flatMap(({ review }) => findingsOf(review))
    .filter((one) => fingerprintHash(one) === hash);
  return found.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))[0];
}

function described(finding: Finding): { id: string; place: string } {
  return { id: findingId(finding), place: placeInWords(finding) };
}
