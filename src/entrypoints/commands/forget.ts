import { makeOutcome } from '../../domain/outcome/outcome.ts';
import type { ReviewVerdict } from '../../domain/outcome/review-verdict.ts';
import { reviewsOfHead } from './accept.ts';
import type { Command } from './command.ts';
import type { CommandContext } from './context.ts';
import { type Reply, replyFor } from './reply.ts';

/**
 * Forgets what people accepted of a rule, for the whole repository, so that its findings are shown again, those of this
 * head at once. No verdict changes: what was not shown counted all the same.
 */
export async function forgetRule(
  { rule }: Extract<Command, { verb: 'forget' }>,
  context: CommandContext,
): Promise<Reply> {
  const { deps, tx, event, pullRequest } = context;
  const { id, owner, name } = event.repository;
  const histories = await tx.acceptedFindings.history({ repositoryId: id });
  const history = histories.find((one) => one.rule === rule);
  if (!history) return replyFor({ kind: 'nothing_learned', rule, rules: histories.map((one) => one.rule) });
  await tx.acceptedFindings.forget({ repositoryId: id, rule }, event.actor, deps.clock.now());
  const on = new Set(history.accepted.map((one) => one.pullRequest)).size;
  const by = { kind: 'person', login: event.actor } as const;
  await tx.audit.record({
    kind: 'rule.forgotten',
    by,
    repository: { id, name: `${owner}/${name}` },
    pull_request: event.pull_request,
    head_sha: pullRequest.headSha,
    base_ref: pullRequest.baseRef,
    configuration_sha: null,
    run_id: null,
    rule,
    pull_requests: on,
  });
  for (const { state, invocation, review } of await reviewsOfHead(tx, event, pullRequest)) {
    if (!review.learned?.some((one) => one.rule === rule)) continue;
    await deps.engine.judge(tx, state.run.id, invocation.stepIndex, withoutLearned(review, rule), by);
  }
  return replyFor({ kind: 'rule_forgotten', rule, on });
}

function withoutLearned(review: ReviewVerdict, rule: string): ReviewVerdict {
  const { content_hash: _, learned = [], ...rest } = review;
  const left = learned.filter((one) => one.rule !== rule);
  return makeOutcome<'review_verdict'>({ ...rest, ...(left.length > 0 && { learned: left }) });
}
