import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { conflictOf } from '../../domain/policy/conflict.ts';
import { mergeMethod } from '../../domain/run/question.ts';
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
  const conflict = conflictOf(pullRequest, mergeMethod(context.inputs, settings), baseRef);
  const [code, because] =
    conflict.kind === 'conflict'
      ? (['step.waiting.conflict', conflict.says] as const)
      : (['step.waiting.approval', readableMessage(message, baseRef)] as const);
  const summary = `not merging: ${because}`;
  const retryMs = retryInMs(summary);
  return {
    kind: 'waits',
    for: 'approval',
    until: new Date(context.clock.now().getTime() + retryMs),
    reason: reason(code, summary),
    approval: { ...approval, status: 'open', decision: criterion('unmet', summary, found.reasons) },
  };
}

function readableMessage(message: string, baseRef: string): string {
  return /through the merge queue/i.test(message)
    ? `${baseRef} takes changes only through its merge queue; \`merge: { by: queue }\` in the settings, or \`method: queue\` of the step, has the app use it`
    : `GitHub says: ${message}`;
}
