import { z } from 'zod';
import { unreachable } from '../../core/errors.ts';
import type { EffectOf } from '../../domain/effect/effect.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { type Reason, type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { CAPABILITIES } from '../../domain/policy/capability.ts';
import { gateCheckName } from '../../domain/policy/gate-check.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import { mergedBy, mergeMethod, recheckInMs } from '../../domain/run/question.ts';
import { wasConflicting } from '../../domain/run/question-facts.ts';
import { commitText } from '../../messages/text/commit-text.ts';
import type { Person, PullRequest } from '../../ports/github.ts';
import type {
  ApprovalAnswer,
  ApprovalContext,
  ApprovalResult,
  Granted,
} from '../approvals/approval-context.ts';
import { notMergeable } from '../approvals/not-mergeable.ts';
import type { Note } from '../effects/merge.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { AnsweredAction } from './action.ts';
import { pullRequestInput, text } from './inputs.ts';

/**
 * How long the step waits after GitHub refused to merge, in milliseconds: the first time, and when it refuses
 * with the same message again. Each attempt visibly opens and closes the gate check. An event of the pull
 * request, such as a missing review, brings the next attempt forward.
 */
const REFUSED_RETRY_MS = 60_000;
const REFUSED_AGAIN_RETRY_MS = 600_000;
/**
 * The shortest pause before an event can cause the next attempt, in milliseconds: anybody can cause events,
 * for example by a comment.
 */
const REFUSED_GAP_MS = 30_000;

/**
 * How long, and how often, a merge is retried with an open gate if only the gate check is missing, in
 * milliseconds. GitHub can take a moment to see the green check, and refuses the merge until then. Each
 * attempt reads everything again, so the gate is never open on old facts.
 */
const SETTLING_MS = 10_000;
const SETTLING_RETRY_MS = 2_000;

/**
 * How long the gate stays open for the merge call if nothing closes it, in milliseconds. The call itself can
 * take 30 s.
 */
const MERGE_LEASE_MS = 40_000;

/**
 * With people or a queue: the longest pause between two polls while the gate is open, and the margin after
 * which it closes by itself.
 */
const OPEN_RECHECK_MS = 60_000;
const OPEN_MARGIN_MS = 60_000;

/** How soon the step is retried while the gate check is being written, in milliseconds. */
const BUSY_RETRY_MS = 1_000;

/** The result of an attempt, and whether the gate check stays green. */
interface Attempt {
  result: ApprovalResult;
  gate: 'open' | 'closed' | 'as_it_is' | { mergedAs: string; for: readonly string[] };
}

/** Merges the pull request of the run, or lets people or GitHub merge it, only after a countersign. */
export const ghMerge: AnsweredAction = {
  name: 'gh-merge',
  about: 'Merges the pull request of the run, once people have countersigned it.',
  permissions: ['contents: write', 'pull_requests: write', 'merge_queues: write'],
  input: z
    .strictObject({
      ...pullRequestInput,
      method: z
        .enum(['merge', 'squash', 'rebase', 'queue'])
        .optional()
        .describe(
          'Left out, `merge.method` of the settings. `queue` adds it to GitHub’s merge queue, which chooses the method and words the commit, so `title`, `message` and `trailers` cannot be given. With `merge.by: people` or `queue` in the settings, whoever merges chooses.',
        ),
      title: text(
        'The title of the merge commit. Left out: GitHub’s own, and for a squash the title and number of the pull request.',
        200,
      ).optional(),
      message: text(
        'The rest of the merge commit’s message. Left out: GitHub’s own. Values of expressions appear on one line, and cause no mention, reference or skipped workflow.',
        10_000,
      ).optional(),
      trailers: z
        .boolean()
        .optional()
        .describe(
          'Adds a line `Countersigned-by: login` for each person. Without `message`, these lines replace GitHub’s own message.',
        ),
      delete_branch: z
        .boolean()
        .optional()
        .describe(
          'Deletes the branch of the pull request once it is merged, if nobody has pushed to it since. A branch of a fork stays.',
        ),
    })
    .superRefine((given, context) => {
      if (given.method !== 'queue') return;
      for (const key of ['title', 'message', 'trailers'] as const)
        if (given[key] !== undefined && given[key] !== false)
          context.addIssue({
            code: 'custom',
            path: [key],
            message: `"${key}" has no effect with "method: queue": the merge queue words the commit`,
          });
    }),
  once: 'one merge for each run and head; after an uncertain answer, the pull request is read before anything else',
  capability: CAPABILITIES['gh-merge'],
  async onAnswer(context, answer) {
    const { result, gate } = await act(context, answer);
    if (gate === 'closed') {
      await context.gate.withdraw();
      if (mergedBy(context.inputs, context.state.run.settings) === 'queue')
        await context.mergeQueue.dequeue();
    }
    if (typeof gate === 'object') context.gate.settle(gate.mergedAs, gate.for);
    return result;
  },
};

async function act(context: ApprovalContext, answer: ApprovalAnswer): Promise<Attempt> {
  switch (answer.kind) {
    case 'not_yet':
      return { result: answer.result, gate: answer.unsettled ? 'as_it_is' : 'closed' };
    case 'already_merged': {
      const sha = answer.pullRequest.mergeCommitSha ?? '';
      await context.confirmMerge(sha);
      return {
        result: await merged(context, answer.pullRequest, answer.approval, sha, answer.pullRequest.mergedBy),
        gate: { mergedAs: sha, for: answer.approval.countersignedBy },
      };
    }
    case 'granted':
      return openAndMerge(context, answer);
    default:
      return unreachable(answer);
  }
}

/** Opens the gate check, then merges or lets people or GitHub merge. */
async function openAndMerge(context: ApprovalContext, answer: Granted): Promise<Attempt> {
  const { proof } = answer;
  if (!proof) throw new Error(`run ${context.state.run.id} has no proof that it may merge`);
  const by = proof.question.by;
  const refusedAt = by === 'app' ? await context.mergeRefusedAt() : undefined;
  const quietUntil = (refusedAt?.getTime() ?? 0) + REFUSED_GAP_MS;
  const quietMs = quietUntil - context.clock.now().getTime();
  if (quietMs > 0 && context.approval?.decision && !(await context.gate.isOpen())) {
    const { decision } = context.approval;
    // Until the next attempt, what GitHub said last still holds.
    const code = wasConflicting(context.invocation) ? 'step.waiting.conflict' : 'step.waiting.approval';
    const because = reason(code, decision.summary);
    return { result: waits(context, { ...answer.approval, decision }, quietMs, because), gate: 'closed' };
  }
  const untilRecheck = Math.min(recheckInMs(openFor(context, answer.approval)), OPEN_RECHECK_MS);
  const opened = await context.gate.open(
    proof,
    by === 'app' ? MERGE_LEASE_MS : untilRecheck + OPEN_MARGIN_MS,
  );
  switch (opened.kind) {
    case 'busy':
      return { result: waits(context, answer.approval, BUSY_RETRY_MS, BEING_WRITTEN), gate: 'as_it_is' };
    case 'refused': {
      const because = `the gate check could not be written: ${opened.because}`;
      return { result: notNow(context, answer.approval, answer.why, because), gate: 'closed' };
    }
    case 'open':
      break;
    default:
      return unreachable(opened);
  }
  switch (by) {
    case 'app':
      return merge(context, proof, answer, opened);
    case 'people': {
      await context.gate.note(opened.note);
      const because = reason('step.waiting.merge_button', answer.why.summary);
      return { result: waits(context, answer.approval, untilRecheck, because), gate: 'open' };
    }
    case 'queue':
      await context.gate.note(opened.note);
      return enqueue(context, proof, answer, untilRecheck);
    default:
      return unreachable(by);
  }
}

const BEING_WRITTEN = reason('step.waiting.approval', 'countersigned; the gate check is just being written');

async function merge(
  context: ApprovalContext,
  proof: MergeProof,
  { approval, pullRequest, why: decision }: Granted,
  opened: { since: Date; note: Note },
): Promise<Attempt> {
  const message = messageOf(context, proof, pullRequest);
  const result = await context.merge(proof, approval, message, opened.note);
  switch (result.kind) {
    case 'merged':
      return {
        result: await merged(context, pullRequest, approval, result.sha, null, result.made),
        gate: { mergedAs: result.sha, for: approval.countersignedBy },
      };
    case 'head_moved':
      // Not retried: the push starts a new run with its own approval comment.
      return {
        result: {
          kind: 'superseded',
          reason: reason('run.cancelled.superseded', 'the head moved while it was being merged'),
          approval: { ...approval, status: 'void' },
        },
        gate: 'closed',
      };
    case 'not_mergeable': {
      const now = await context.reader.pullRequest(context.repo, proof.question.pullRequest);
      if (now.merged && now.headSha === approval.headSha && now.baseRef === approval.baseRef) {
        // Auto-merge or a person merged first, while the gate was open for our call.
        const sha = now.mergeCommitSha ?? '';
        return {
          result: await merged(context, now, approval, sha, now.mergedBy),
          gate: { mergedAs: sha, for: approval.countersignedBy },
        };
      }
      const isSettling =
        lacksGateCheck(result.message, approval.baseRef) &&
        context.clock.now().getTime() - opened.since.getTime() < SETTLING_MS;
      const retryIn = (summary: string) => {
        if (isSettling) return SETTLING_RETRY_MS;
        return context.approval?.decision?.summary === summary ? REFUSED_AGAIN_RETRY_MS : REFUSED_RETRY_MS;
      };
      return {
        result: notMergeable(context, now, approval, decision, result.message, retryIn),
        gate: isSettling ? 'open' : 'closed',
      };
    }
    case 'refused': {
      const because = `GitHub refused the merge (${result.status}): ${result.message}`;
      return { result: failed('step.failed.not_mergeable', because, approval), gate: 'closed' };
    }
    default:
      return unreachable(result);
  }
}

/** What the merge commit says. A rebase keeps the messages of the commits, so GitHub ignores it. */
function messageOf(
  context: ApprovalContext,
  { question, countersignedBy }: MergeProof,
  { title, number }: PullRequest,
): { title?: string; message?: string } {
  if (question.method === 'rebase') return {};
  const lines = (text: string | undefined) => text?.replaceAll(/\r\n?/g, '\n').trim() ?? '';
  const asked = lines(context.text('title', commitText)).split('\n', 1)[0];
  const usual = question.method === 'squash' ? `${title} (#${number})` : undefined;
  const named = asked || usual;
  const body = lines(context.text('message', commitText));
  const trailers =
    context.inputs.trailers === true ? countersignedBy.map((login) => `Countersigned-by: ${login}`) : [];
  const parts = [body, trailers.join('\n')].filter((part) => part !== '');
  return {
    ...(named === undefined ? {} : { title: named }),
    ...(parts.length === 0 ? {} : { message: parts.join('\n\n') }),
  };
}

/**
 * The head's branch, if the step deletes it: not that of a fork, nor one that pull requests are merged into by default. GitHub itself
 * retargets pull requests into a branch that is deleted after its merge:
 * https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/proposing-changes-to-your-work-with-pull-requests/about-branches#working-with-branches
 */
function branchToDelete(
  { inputs, state: { run } }: ApprovalContext,
  { headRef, headRepositoryId, repositoryId, defaultBranch }: PullRequest,
): { key: string; effect: EffectOf<'branch_deletion'> }[] {
  const isOwn = headRepositoryId === repositoryId && headRef !== defaultBranch && headRef !== run.baseRef;
  if (inputs.delete_branch !== true || !isOwn) return [];
  return [
    {
      key: `branch_deletion:${run.id}`,
      effect: {
        kind: 'branch_deletion',
        ...placeOfEffect(run),
        branch: headRef,
        sha: run.headSha,
      },
    },
  ];
}

async function enqueue(
  context: ApprovalContext,
  proof: MergeProof,
  { approval, why: decision }: Granted,
  untilRecheck: number,
): Promise<Attempt> {
  const result = await context.mergeQueue.enqueue(proof);
  switch (result.kind) {
    case 'queued': {
      const because = reason('step.waiting.merge_queue', decision.summary);
      return { result: waits(context, approval, untilRecheck, because), gate: 'open' };
    }
    case 'dropped': {
      const because =
        'the merge queue took it out again; its own page on GitHub says why, and `/countersign rerun` adds it once more';
      return { result: notNow(context, approval, decision, because), gate: 'closed' };
    }
    case 'refused': {
      const because = `GitHub does not add it to the merge queue: ${result.message}`;
      return { result: notNow(context, approval, decision, because), gate: 'closed' };
    }
    default:
      return unreachable(result);
  }
}

function notNow(
  context: ApprovalContext,
  approval: Approval,
  decision: Explanation,
  because: string,
): ApprovalResult {
  const explanation = criterion('unmet', `not merging: ${because}`, decision.reasons);
  return waits(
    context,
    { ...approval, decision: explanation },
    REFUSED_RETRY_MS,
    reason('step.waiting.approval', because),
  );
}

function openFor({ clock }: ApprovalContext, { askedAt }: Approval): number {
  return clock.now().getTime() - askedAt.getTime();
}

function waits(context: ApprovalContext, approval: Approval, inMs: number, because: Reason): ApprovalResult {
  return {
    kind: 'waits',
    for: 'approval',
    until: new Date(context.clock.now().getTime() + inMs),
    reason: because,
    approval: { ...approval, status: 'open' },
  };
}

function failed(code: ReasonCode, because: string, approval: Approval): ApprovalResult {
  return {
    kind: 'failed',
    reason: reason(code, because),
    retryable: false,
    approval: { ...approval, status: 'void' },
  };
}

/**
 * The row of the merge says how and for whom it was merged. If two merge steps ask at the same time, one
 * merges, and the other finds the pull request merged, perhaps with its own approval unanswered, which is
 * then void.
 */
async function merged(
  context: ApprovalContext,
  pullRequest: PullRequest,
  approval: Approval,
  sha: string,
  mergedBy: Person | null,
  /** The merge that this attempt has made. */
  own?: EffectOf<'merge'>,
): Promise<ApprovalResult> {
  const { run, invocations } = context.state;
  const made = own ?? (await context.mergeBegun());
  const other = invocations.find(({ id }) => id === made?.invocation_id && id !== approval.invocationId);
  const people = made?.countersigned_by ?? approval.countersignedBy;
  const person = mergedBy?.type === 'User' ? mergedBy.login : undefined;
  const who = other ? ` by the step ${other.stepId}` : person === undefined ? '' : ` by ${person}`;
  const by = `${who}, countersigned by ${people.join(', ')}`;
  return {
    kind: 'done',
    outcome: makeOutcome<'action_result'>({
      outcome_kind: 'action_result',
      summary: `merged into ${run.baseRef} as ${sha.slice(0, 7)}${by}`,
      passed: true,
      action: 'gh-merge',
      details: {
        sha,
        head_sha: run.headSha,
        method: made?.method ?? mergeMethod(context.inputs, run.settings),
        countersigned_by: people,
        ...(other ? { merged_by_step: other.stepId } : {}),
        ...(person === undefined ? {} : { merged_by: person }),
      },
    }),
    desiredEffects: branchToDelete(context, pullRequest),
    approval: { ...approval, status: other ? 'void' : 'countersigned' },
  };
}

/** Whether GitHub refused a merge because it does not see the gate check as green. */
function lacksGateCheck(message: string, baseRef: string): boolean {
  return /required status check/i.test(message) && message.includes(gateCheckName(baseRef));
}
