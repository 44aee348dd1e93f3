import { criterion, type Explanation } from '../../domain/explanation/explanation.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { Approval } from '../../domain/policy/approval.ts';
import { conflictOf } from '../../domain/policy/conflict.ts';
import { mergeMethod } from '../../domain/run/question.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { ApprovalContext, ApprovalResult } from './approval-context.ts';

/**
 * After GitHub refused to merge with a 405, which stands for many reasons. A conflict is named, and the merge is not tried again
 * until GitHub says that it is gone; only a push to one of the branches can do that. Anything else is said in GitHub's words.
 * @param pullRequest as read after the refusal
 * @param retryInMs when to look again, in milliseconds, by what is said of it
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
      : (['step.waiting.approval', inWords(message, baseRef)] as const);
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

function inWords(message: string, baseRef: string): string {
  return /through the merge queue/i.test(message)
    ? `${baseRef} takes changes only through its merge queue; \`merge: { by: queue }\` in the settings has the app use it`
    : `GitHub says: ${message}`;
}
