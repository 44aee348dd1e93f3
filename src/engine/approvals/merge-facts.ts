import type { Settings } from '../../domain/chain/settings.ts';
import { readsPaths } from '../../domain/chain/trigger-schema.ts';
import type { GateVerdict } from '../../domain/outcome/gate-verdict.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { acceptorsIn } from '../../domain/policy/accepted-findings.ts';
import type { SpokenAnswer } from '../../domain/policy/approval.ts';
import { NO_CONTRIBUTORS } from '../../domain/policy/authorship.ts';
import { actionOf } from '../../domain/policy/capability.ts';
import { type CountersignRules, needsReview, tightened } from '../../domain/policy/countersign-rules.ts';
import type { Discussion } from '../../domain/policy/discussion.ts';
import { gatesOfStep } from '../../domain/policy/gate/gates-of-step.ts';
import { lastVerdict, verdictsSoFar } from '../../domain/policy/gate/verdict.ts';
import type { ConfigurationStatus, MergeQuestion } from '../../domain/policy/merge-gate.ts';
import { commentStatus } from '../../domain/policy/own-comment.ts';
import { asBegan, type Rollout } from '../../domain/policy/rollout.ts';
import { isWatched, questionOf } from '../../domain/run/question.ts';
import { outcomesNow, type QuestionFacts, questionFacts } from '../../domain/run/question-facts.ts';
import type { CommentFacts, Prefetched, PullRequest } from '../../ports/github.ts';
import type { HowFresh } from '../configuration/configuration.ts';
import { judgeGates, type SkillOf } from '../gates/judge-gates.ts';
import { pullRequestNow } from '../runs/run-facts.ts';
import { configurationStatus } from '../runs/what-changed.ts';
import { pullRequestOf } from '../steps/step.ts';
import { readAnswerer, readSpeaker } from './answerers.ts';
import type { ApprovalComment, ApprovalContext } from './approval-context.ts';
import { readContributors } from './contributors.ts';
import { readReviews } from './reviews.ts';

type Read = QuestionFacts & { question: MergeQuestion; pullRequest: PullRequest };

/**
 * Reads everything that the merge gate judges, for this one attempt: in one query, as far as that shows it, and the rest from
 * REST. The pull request itself is read last and from REST, because an attacker would change it between the reads and the merge
 * call. GitHub does not say whether both of its APIs are equally up to date. If they disagree about the pull request,
 * everything is read from REST.
 */
export async function readMergeFacts(
  context: ApprovalContext,
  comment: ApprovalComment,
  skillOf: SkillOf,
): Promise<Read> {
  if (!isNews(context, comment)) return readFrom(context, NOTHING_PREFETCHED, comment, skillOf, undefined);
  const number = pullRequestOf(context);
  const about = {
    headSha: context.state.run.headSha,
    // Only REST names the app that a comment was written through, which is needed if the account is unknown.
    commentNodeId: comment.authorId === undefined ? undefined : comment.nodeId,
  };
  const begun = context.clock.now();
  const prefetched = await context.reader.prefetched(context.repo, number, about);
  const read = await readFrom(context, prefetched, comment, skillOf, prefetched.discussion ?? null, begun);
  const { pullRequest: before } = prefetched;
  if (!before || isSame(before, read.pullRequest)) return read;
  return readFrom(context, NOTHING_PREFETCHED, comment, skillOf, null);
}

/**
 * Whether something happened since the last recheck. A recheck by time finds most of it unchanged, for which REST's
 * answers do not count towards the hourly limit, but a query does.
 */
function isNews({ because, approval }: ApprovalContext, comment: ApprovalComment): boolean {
  if (because === 'event' || !approval) return true;
  return approval.watch === null ? comment.nodeId !== undefined : isWatched(approval);
}

/** Comments, pushes and edits change `updatedAt`. */
function isSame(one: PullRequest, other: PullRequest): boolean {
  return (
    one.state === other.state &&
    one.draft === other.draft &&
    one.repositoryId === other.repositoryId &&
    one.headSha === other.headSha &&
    one.baseRef === other.baseRef &&
    one.defaultBranch === other.defaultBranch &&
    one.updatedAt.getTime() === other.updatedAt.getTime()
  );
}

/**
 * How long reading may take without making the proof older, in milliseconds: about as long as GitHub takes for long lists.
 * Each request can wait for a minute, so that an answer could otherwise be withdrawn long before the merge.
 */
const READING_MS = 30_000;

const NOTHING_PREFETCHED: Prefetched = { over: (rest) => rest, pullRequest: undefined };

async function readFrom(
  context: ApprovalContext,
  prefetched: Prefetched,
  comment: ApprovalComment,
  skillOf: SkillOf,
  discussion: Discussion | null | undefined,
  begun = context.clock.now(),
): Promise<Read> {
  const { repo, state, step } = context;
  const rules = tightened(state.run.settings.countersign, step.approval);
  const number = pullRequestOf(context);
  const found = await prefetched.over(context.reader).comment(repo, comment.githubId);
  const spoken = spokenAnswers(context);
  const reacted = mayHaveReactions(found, rules);
  const answered = reacted || (spoken ?? []).length > 0;
  // Somebody answered, so from now on a person is waiting.
  const rest = answered ? context.urgentReader : context.reader;
  const reader = prefetched.over(rest);
  const now = { ...context, reader };
  // Most attempts find no reaction and cost two requests. Everything else is read if there is a
  // reaction, an event, or an unmet condition. Otherwise an attempt without news would report that nothing
  // blocks the step.
  const thorough = answered || context.because === 'event' || context.approval?.decision?.status === 'unmet';
  const [reactions, refreshed] = await Promise.all([
    reacted ? reader.reactions(repo, comment.githubId) : [],
    thorough ? readOutcomesAgain(now, skillOf) : new Map<string, Outcome>(),
  ]);
  const fresh = outcomesNow(state, refreshed);
  const gates = await gatesOfQuestion(now, thorough, skillOf, fresh);
  // Read for every attempt after an event or with a possible merge, in the latter case from GitHub without
  // caches.
  const governing = thorough
    ? await readGoverning(now, prefetched.pullRequest, { fresh: answered })
    : undefined;
  const counted = reactions.filter(({ content }) => counts(rules).includes(content));
  const anybody = counted.length > 0 || (spoken ?? []).length > 0;
  // A needed review is missing in every attempt, also in one without news, which must not say anything else.
  const { requested: requestedChanges, approving: approvingReviews } =
    thorough || needsReview(rules)
      ? await readReviews(now, number, rules)
      : { requested: undefined, approving: undefined };
  const accepting = thorough && actionOf(step.uses)?.merges ? acceptorsIn(state.invocations) : [];
  const isApproved = approvingReviews?.known === true && approvingReviews.by.length > 0;
  // Without an answer, nobody must be compared with the authors. But commits that the settings refuse block
  // the step by themselves.
  const refuses = thorough && rules.unattributed === 'refuse';
  const contributors =
    anybody || refuses || isApproved || accepting.length > 0
      ? await readContributors(
          now,
          governing?.before ?? prefetched.pullRequest ?? (await rest.pullRequest(repo, number)),
          state.run.headSha,
        )
      : NO_CONTRIBUTORS;
  const reactors = await Promise.all(
    counted.map(async ({ person, content }) => ({
      ...(await readAnswerer(reader, repo, person, rules)),
      content,
    })),
  );
  const speakers =
    spoken && (await Promise.all(spoken.map((answer) => readSpeaker(reader, repo, answer, rules))));
  const acceptors = await Promise.all(
    accepting.map(({ person }) => readSpeaker(reader, repo, { person, says: 'approve' }, rules)),
  );
  const rejections = actionOf(step.uses)?.merges
    ? await context.earlierRejections()
    : { by: [], elsewhere: [] };
  const pullRequest = await rest.pullRequest(repo, number);
  const question = questionOf(context, number, repo, context.inputs);
  const facts = questionFacts(context, context.approval, {
    readAt: new Date(Math.min(context.clock.now().getTime(), begun.getTime() + READING_MS)),
    comment: commentStatus(found, comment, context.appId),
    pullRequest,
    method: question.method,
    contributors,
    reactors,
    speakers: speakers?.flat(),
    governing: governing && {
      settings: governing.settings,
      status: governing.statusFor(pullRequest),
      rollout: governing.rollout,
    },
    mergingOff: context.mergingOff,
    fresh,
    gates,
    rejections,
    requestedChanges: thorough ? requestedChanges : undefined,
    approvingReviews,
    acceptors: thorough && actionOf(step.uses)?.merges ? acceptors.flat() : undefined,
    discussion,
    shown: found?.nodeId
      ? { nodeId: found.nodeId, body: found.body, counted: counts(rules), reactions }
      : undefined,
    pausedBy: await context.pausedBy(),
  });
  return { ...facts, question, pullRequest };
}

function counts({ approve, reject }: CountersignRules): string[] {
  return [...approve, ...reject];
}

/** An answer of GitHub without counts says nothing, so reactions must be read. A deleted comment has none. */
function mayHaveReactions(found: CommentFacts | undefined, rules: CountersignRules): boolean {
  if (found === undefined) return false;
  const shown = found.reactions;
  return Object.keys(shown).length === 0 || counts(rules).some((content) => (shown[content] ?? 0) > 0);
}

/**
 * The answers by command or button. `undefined` for a merge, whatever is stored: they never reach its gate.
 */
function spokenAnswers({ step, approval }: ApprovalContext): readonly SpokenAnswer[] | undefined {
  return actionOf(step.uses)?.merges ? undefined : (approval?.answers ?? []);
}

/**
 * The run stores the chain and settings that it started and asked with. They may have changed since. They are
 * read before the pull request, and compared after that is read, last of all.
 */
export async function readGoverning(
  context: ApprovalContext,
  known: PullRequest | undefined,
  how: HowFresh,
): Promise<{
  before: PullRequest;
  settings: Settings | undefined;
  rollout: Rollout | undefined;
  statusFor(pullRequest: PullRequest): ConfigurationStatus;
}> {
  const { reader, repo, state, step } = context;
  const number = pullRequestOf(context);
  const before = known ?? (await reader.pullRequest(repo, number));
  const now = await context.configurationNow(before, { ...how, reader });
  const listed =
    now.chain && readsPaths(now.chain)
      ? await reader.pullRequestFiles(repo, number)
      : { files: [], truncated: true };
  return {
    before,
    settings: now.configuration?.settings,
    rollout: now.configuration && asBegan(state.run, now.configuration.rollout),
    statusFor: (pullRequest) =>
      pullRequest.defaultBranch === before.defaultBranch
        ? configurationStatus(state.run, step.id, {
            ...now,
            pullRequest: pullRequestNow(pullRequest, listed),
          })
        : { kind: 'unreadable', because: 'the default branch changed during this poll' },
  };
}

/** Outcomes that can change for the same head, as CI's can. */
async function readOutcomesAgain(
  context: ApprovalContext,
  skillOf: SkillOf,
): Promise<ReadonlyMap<string, Outcome>> {
  const fresh = new Map<string, Outcome>();
  for (const invocation of context.state.invocations) {
    const step = context.state.run.definition.steps[invocation.stepIndex];
    const refresh = step && invocation.outcome ? skillOf(step.uses.name)?.refresh : undefined;
    const outcome = step && (await refresh?.({ ...context, invocation, step }));
    if (outcome) fresh.set(invocation.stepId, outcome);
  }
  return fresh;
}

/**
 * The gates of an irreversible action, judged on current facts. An attempt without an answer cannot end in
 * the action, so it uses the last verdicts. The first attempt has none.
 */
async function gatesOfQuestion(
  context: ApprovalContext,
  thorough: boolean,
  skillOf: SkillOf,
  fresh: ReadonlyMap<string, Outcome>,
): Promise<GateVerdict[]> {
  // The gates of any other step were judged before people were asked.
  if (!actionOf(context.step.uses)?.irreversible) return [];
  const { pre } = gatesOfStep(context.step, context.state.run.settings.gates);
  const known = verdictsSoFar(context.state, context.judged);
  const before = pre.flatMap((placed) => lastVerdict(known, placed, context.step.id) ?? []);
  return thorough || before.length < pre.length ? judgeGates(context, pre, skillOf, fresh) : before;
}
