import { unreachable } from '../../core/errors.ts';
import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { type ReasonCode, reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { conflictBehindRefusal, conflictOf } from '../../domain/policy/conflict.ts';
import { ASK_AGAIN_MS, mergeMethod } from '../../domain/run/question.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { ApprovalContext, ApprovalResult } from './approval-context.ts';

/**
 * Handles a 405 from GitHub's merge call, which has many causes. A conflict is named, and the merge is not
 * retried until GitHub reports that it is gone, which requires a push to one of the branches. For any other
 * cause, GitHub's message is shown.
 * @param pullRequest as read after the refusal
 * @param retryInMs when to retry, in milliseconds, depending on the summary
 */
export function notMergeable(
  context: ApprovalContext,
  pullRequest: PullRequest,
  approval: Approval,
  found: Explanation,
  message: string,
  retryInMs: (summary: string) => number,
): ApprovalResult {
  const { baseRef, settings } = context.state.run;
  const known = conflictOf(pullRequest, mergeMethod(context.inputs, settings), baseRef);
  const conflict = conflictBehindRefusal(message, known, baseRef);
  switch (conflict.kind) {
    case 'conflict':
      return waits('step.waiting.conflict', conflict.says);
    case 'unknown':
      return waits(
        'step.waiting.conflict',
        `GitHub refused the merge, and is working out whether it conflicts with ${baseRef}`,
        ASK_AGAIN_MS,
      );
    case 'none':
      return waits('step.waiting.approval', readableMessage(message, baseRef));
    default:
      return unreachable(conflict);
  }

  function waits(code: ReasonCode, because: string, inMs?: number): ApprovalResult {
    const summary = `not merging: ${because}`;
    return {
      kind: 'waits',
      for: 'approval',
      until: new Date(context.clock.now().getTime() + (inMs ?? retryInMs(summary))),
      reason: reason(code, summary),
      approval: { ...approval, status: 'open', decision: criterion('unmet', summary, found.reasons) },
    };
  }
}

function readableMessage(message: string, baseRef: string): string {
  if (/through the merge queue/i.test(message))
    return `${baseRef} takes changes only through its merge queue; \`merge: { by: queue }\` in the settings, or \`method: queue\` of the step, has the app use it`;
  if (/conversation must be resolved/i.test(message))
    return `the branch ${baseRef} requires that every conversation is resolved, and GitHub says that some are not; once they are, this is tried again`;
  return `GitHub says: ${message}`;
}
