import { dependenciesOf } from '../../domain/chain/graph.ts';
import type { Settings } from '../../domain/chain/settings.ts';
import { bodyHash } from '../../domain/effect/body-hash.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { asksAbout, compileExpression, evaluateCondition } from '../../domain/expression/condition.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { AskedAuthorship, SpokenAnswer } from '../../domain/policy/approval.ts';
import { askedAuthorship, NO_CONTRIBUTORS } from '../../domain/policy/authorship.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import { type Conflict, conflictCriteria, conflictOf } from '../../domain/policy/conflict.ts';
import type { CountersignRules } from '../../domain/policy/countersign-rules.ts';
import { degraded } from '../../domain/policy/gate/degraded.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { conditionOf, lastVerdict } from '../../domain/policy/gate/verdict.ts';
import type { ConfigurationStatus, MergeFacts } from '../../domain/policy/merge-gate.ts';
import { isOwnComment } from '../../domain/policy/own-comment.ts';
import { requestedChangesCriterion } from '../../domain/policy/reviews-standing.ts';
import { stillExpected } from '../../domain/rule/step-rules.ts';
import { asConditionsSeeIt, conditionContext } from '../../domain/run/context.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { HowFresh } from '../configuration/configuration.ts';
import { judgeGates, type SkillOf, verdictsSoFar } from '../gates/judge-gates.ts';
import { pullRequestNow } from '../runs/on-pull-request.ts';
import { configurationStatus } from '../runs/what-changed.ts';
import { pullRequestOf } from '../steps/step.ts';
import { readAnswerer, readSpeaker } from './answerers.ts';
import type { ApprovalComment, ApprovalContext } from './approval-context.ts';
import { readContributors } from './contributors.ts';
import { mergeMethod } from './merge-method.ts';
import { readRequestedChanges } from './requested-changes.ts';

/**
 * Reads everything the merge gate judges, fresh, for this one attempt. The pull request itself is read last: it is
 * what an attacker would move between the reads and the merge call.
 */
export async function readMergeFacts(
  looking: ApprovalContext,
  comment: ApprovalComment,
  skillOf: SkillOf,
): Promise<{
  facts: MergeFacts;
  pullRequest: PullRequest;
  conflict: Conflict;
  /** `undefined` when it was not read, or cannot be known. */
  authorship: AskedAuthorship | undefined;
}> {
  const { repo, state } = looking;
  const rules: CountersignRules = state.run.settings.countersign;
  const number = pullRequestOf(looking);
  const found = await looking.reader.comment(repo, comment.githubId);
  const counts = [...rules.approve, ...rules.reject];
  const shown = found?.reactions ?? {};
  // An answer without any counts says nothing; a comment that is gone has no reactions to read.
  const reacted =
    found !== undefined &&
    (Object.keys(shown).length === 0 || counts.some((content) => (shown[content] ?? 0) > 0));
  const spoken = spokenAnswers(looking);
  const answered = reacted || (spoken ?? []).length > 0;
  // Somebody answered: from here on a person waits.
  const context = answered ? { ...looking, reader: looking.urgentReader } : looking;
  const { reader } = context;
  // Most looks find no reaction: those cost two conditional requests. Everything else is read when there is one, and as
  // long as something holds the question up, so that a look without news does not say that nothing does.
  const thorough = answered || context.because === 'event' || context.approval?.decision?.status === 'unmet';
  const [reactions, fresh] = await Promise.all([
    reacted ? reader.reactions(repo, comment.githubId) : [],
    thorough ? readVolatileOutcomes(context, skillOf) : new Map<string, Outcome>(),
  ]);
  const gates = await mergeGates(context, thorough, skillOf, fresh);
  // Read with every look that may end in a merge, and then all of it from GitHub; and with those that something happened before.
  const governing = thorough ? await readGoverning(context, number, { fresh: answered }) : undefined;
  const counted = reactions.filter((reaction) => counts.includes(reaction.content));
  const anybody = counted.length > 0 || (spoken ?? []).length > 0;
  // Without an answer nobody need be told from the writers; but commits that the settings refuse hold the question up by themselves.
  const refuses = thorough && rules.unattributed === 'refuse';
  const contributors =
    anybody || refuses
      ? await readContributors(context, await reader.pullRequest(repo, number), state.run.headSha)
      : NO_CONTRIBUTORS;
  const reactors = await Promise.all(
    counted.map(async ({ person, content }) => ({
      ...(await readAnswerer(reader, repo, person, rules)),
      content,
    })),
  );
  const speakers =
    spoken && (await Promise.all(spoken.map((answer) => readSpeaker(reader, repo, answer, rules))));
  const rejections = actionOf(context.step.uses)?.merges
    ? await context.earlierRejections()
    : { by: [], elsewhere: [] };
  const requested = thorough ? await readRequestedChanges(context, number) : undefined;
  const pullRequest = await reader.pullRequest(repo, number);
  const conflict = conflictNow(context, pullRequest);
  return {
    pullRequest,
    conflict,
    authorship:
      contributors && contributors !== NO_CONTRIBUTORS ? askedAuthorship(rules, contributors) : undefined,
    facts: {
      readAt: context.clock.now(),
      pullRequest: {
        state: pullRequest.state,
        merged: pullRequest.merged,
        draft: pullRequest.draft,
        headSha: pullRequest.headSha,
        baseRef: pullRequest.baseRef,
        author: pullRequest.author,
      },
      comment: !found
        ? 'missing'
        : !isOwnComment(found, { appId: context.appId, accountId: comment.authorId })
          ? 'not_ours'
          : bodyHash(found.body) === comment.bodyHash
            ? 'as_written'
            : 'edited',
      configuration: governing ? governing.standing(pullRequest) : { kind: 'as_asked' },
      contributors,
      reactors,
      ...(speakers ? { speakers: speakers.flat() } : {}),
      rejectedBefore: rejections.by,
      conditions: [
        ...mergingSwitch(context, governing?.settings),
        ...conditionsNow(context, fresh),
        ...gates.map(conditionOf),
        ...rejections.elsewhere,
        ...(requested ? [requestedChangesCriterion(requested, pullRequest.author.id)] : []),
        ...conflictCriteria(conflict, wasConflicting(context), state.run.baseRef),
      ],
      pausedBy: await context.pausedBy(),
    },
  };
}

/** Whether it could be merged as far as its commits go; of another head than the run's, and of a step that merges nothing, nothing is said. */
function conflictNow(context: ApprovalContext, pullRequest: PullRequest): Conflict {
  const { headSha, baseRef } = context.state.run;
  const isSame = pullRequest.headSha === headSha && pullRequest.baseRef === baseRef;
  return isSame && pullRequest.state === 'open' && actionOf(context.step.uses)?.merges
    ? conflictOf(pullRequest, mergeMethod(context), baseRef)
    : { kind: 'none' };
}

/** Whether the last look found a conflict. */
export function wasConflicting({ invocation }: ApprovalContext): boolean {
  return invocation.reason?.code === 'step.waiting.conflict';
}

/** What was said to the question in words; `undefined` for a merge, whatever is recorded: nothing in words reaches its gate. */
function spokenAnswers({ step, approval }: ApprovalContext): readonly SpokenAnswer[] | undefined {
  return actionOf(step.uses)?.merges ? undefined : (approval?.answers ?? []);
}

/**
 * The run keeps the chain and the settings that it was begun and its question was asked under; somebody may have changed them
 * since. What governs is read before the pull request, and held against it once that is read, last of all.
 */
async function readGoverning(
  context: ApprovalContext,
  number: number,
  how: HowFresh,
): Promise<{ settings: Settings | undefined; standing(pullRequest: PullRequest): ConfigurationStatus }> {
  const { reader, repo, state, step } = context;
  const before = await reader.pullRequest(repo, number);
  const now = await context.configurationNow(before, how);
  const listed = now.chain?.trigger.filter.paths
    ? await reader.pullRequestFiles(repo, number)
    : { files: [], truncated: true };
  const standing = (pullRequest: PullRequest): ConfigurationStatus =>
    pullRequest.defaultBranch === before.defaultBranch
      ? configurationStatus(state.run, step.id, {
          ...now,
          pullRequest: pullRequestNow(pullRequest, listed),
        })
      : { kind: 'unreadable', because: 'the default branch changed during this look' };
  return { settings: now.configuration?.settings, standing };
}

/** Whether somebody has merging switched off; the question stays, and is answered when it is on again. */
function mergingSwitch({ step, mergingOff }: ApprovalContext, settings: Settings | undefined): Explanation[] {
  if (!actionOf(step.uses)?.merges) return [];
  return [
    ...(mergingOff
      ? [criterion('unmet', 'merging is switched off on this server (`COUNTERSIGN_MERGING=off`)')]
      : []),
    ...(settings?.mergingOff
      ? [
          criterion(
            'unmet',
            `merging is switched off in the settings of the ${settings.mergingOff} (\`merging: off\`)`,
          ),
        ]
      : []),
  ];
}

async function readVolatileOutcomes(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<Map<string, Outcome>> {
  const fresh = new Map<string, Outcome>();
  for (const invocation of context.state.invocations) {
    const step = context.state.run.definition.steps[invocation.stepIndex];
    const refresh = step && invocation.outcome ? skillOf(step.uses.name)?.refresh : undefined;
    if (!refresh) continue;
    const outcome = await refresh({ ...context, invocation, step: step ?? context.step });
    if (step && outcome)
      fresh.set(invocation.stepId, stillDegraded(context, invocation.stepId, stillExpected(step, outcome)));
  }
  return fresh;
}

/** What a gate has lessened stays so when it is read again. */
function stillDegraded({ state }: ApprovalContext, stepId: string, outcome: Outcome): Outcome {
  return degraded(
    outcome,
    (state.verdicts ?? []).filter(({ step }) => step === stepId),
  );
}

/**
 * The gates of an irreversible action, judged on what is true in this attempt. A look that cannot end in one, because nobody has answered,
 * goes by what was found before; the first one has nothing to go by yet.
 */
async function mergeGates(
  context: ApprovalContext,
  thorough: boolean,
  skillOf: SkillOf,
  fresh: ReadonlyMap<string, Outcome>,
): Promise<GateVerdict[]> {
  // Those of any other step were judged before anybody was asked.
  if (!actionOf(context.step.uses)?.irreversible) return [];
  const { pre } = gatesOfStep(context.step, context.state.run.settings.gates);
  const known = verdictsSoFar(context);
  const before = pre.flatMap((placed) => lastVerdict(known, placed, context.step.id) ?? []);
  return thorough || before.length < pre.length ? judgeGates(context, pre, skillOf, fresh) : before;
}

/**
 * Whether the outcome of another step must be a yes before this one may go on. An irreversible one wants all of them. Any other step wants those
 * it depends on, unless a condition on the way there asks about the outcome: such a condition may be for red CI, and was true.
 */
function restsOn({ step, state }: ApprovalContext, id: string): boolean {
  if (actionOf(step.uses)?.irreversible) return true;
  const { steps } = state.run.definition;
  const before = dependenciesOf(steps, step.id);
  const other = steps.find((candidate) => candidate.id === id);
  if (!other || !before.includes(id)) return false;
  const onTheWay = [step, ...steps.filter((candidate) => before.includes(candidate.id))];
  return !onTheWay.some(
    ({ condition }) => condition !== undefined && asksAbout(compileExpression(condition), other),
  );
}

/** The step's own condition, and what the outcomes that it rests on say now. */
function conditionsNow(context: ApprovalContext, fresh: ReadonlyMap<string, Outcome>): Explanation[] {
  const { step, state } = context;
  const reasons = [...fresh]
    .filter(([id]) => restsOn(context, id))
    .map(([id, outcome]) =>
      criterion(
        asConditionsSeeIt(outcome, state).passed === true ? 'met' : 'unmet',
        `${id}: ${outcome.summary}`,
      ),
    );
  if (step.condition === undefined) return reasons;
  const holds = evaluateCondition(compileExpression(step.condition), conditionContext(state, step.id, fresh));
  reasons.push(
    holds
      ? criterion('met', 'every condition of the step still holds')
      : criterion('unmet', `the step's condition does not hold any more: \`${step.condition}\``),
  );
  return reasons;
}
