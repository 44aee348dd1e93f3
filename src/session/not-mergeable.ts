import type { Approval } from '../policy/approval.ts';
import { conflictOf } from '../policy/conflict.ts';
import { reason } from '../run/reason.ts';
import { type Why, why } from '../run/why.ts';
import { pullRequestOf } from './merge-facts.ts';
import { mergeMethod } from './merge-method.ts';
import type { StepContext, StepResult } from './step.ts';

/** How long GitHub may take to make a pull request mergeable before it is tried again, in milliseconds. */
const RETRY_MS = 60_000;

/**
 * After GitHub refused to merge with a 405, which stands for many reasons. A conflict is named, and the merge is not tried again
 * until GitHub says that it is gone; only a push to one of the branches can do that. Anything else is said in GitHub's words.
 */
export async function notMergeable(
  context: StepContext,
  approval: Approval,
  found: Why,
  message: string,
): Promise<StepResult> {
  const { baseRef } = context.state.run;
  const pullRequest = await context.reader.pullRequest(context.repo, pullRequestOf(context));
  const conflict = conflictOf(pullRequest, mergeMethod(context), baseRef);
  const [code, because] =
    conflict.kind === 'conflict'
      ? (['step.waiting.conflict', conflict.says] as const)
      : (['step.waiting.approval', `GitHub says: ${message}`] as const);
  const summary = `not merging: ${because}`;
  return {
    kind: 'waits',
    for: 'approval',
    until: new Date(context.clock.now().getTime() + RETRY_MS),
    reason: reason(code, summary),
    approval: { ...approval, status: 'open', decision: why('unmet', summary, found.reasons) },
  };
}
