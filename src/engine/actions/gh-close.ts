import { z } from 'zod';
import { CLOSING_REASONS } from '../../domain/effect/effect.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { actionComment } from '../../messages/comments/action-comment.ts';
import { prose } from '../../messages/text/markdown.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { StepContext } from '../steps/step.ts';
import { keyOf, type Plan, plainAction } from './action.ts';
import { invalidInput, subjectInput, text } from './inputs.ts';
import { issueNumber, noSubject } from './target.ts';

export const ghClose = plainAction({
  name: 'gh-close',
  about:
    'Closes the pull request or issue, with a comment if `comment` says one. What is closed already stays as it is. The step fails for a pull request that is merged.',
  permissions: ['issues: write', 'pull_requests: write'],
  input: z.strictObject({
    ...subjectInput,
    comment: text(
      'A comment that says why, in Markdown. Values of expressions appear as plain text.',
    ).optional(),
    reason: z
      .enum(CLOSING_REASONS)
      .optional()
      .describe('Why an issue is closed. Left out, `completed`. GitHub knows no reason for a pull request.'),
  }),
  once: 'one comment and one request for each run and step; what is closed by then stays as it is',
  async plan(context, { reason: given }) {
    const issue = issueNumber(context);
    if (issue === undefined) return noSubject('gh-close');
    const { run } = context.state;
    const isPullRequest = run.pullRequest !== null;
    if (isPullRequest && given !== undefined)
      return invalidInput('gh-close', '"reason" is for issues: GitHub closes a pull request without one');
    const found = await standing(context, issue);
    if (found !== 'open') return found;
    const words = context.text('comment', (value) => prose(value)) ?? '';
    const at = {
      ...placeOfEffect(run),
      issue,
    };
    const comment = actionComment(run.id, context.step.id, words);
    const why = isPullRequest ? null : (given ?? 'completed');
    return {
      kind: 'does',
      summary: `closed #${issue}`,
      details: { issue, ...(why === null ? {} : { reason: why }) },
      effects: [
        ...(words.trim() === ''
          ? []
          : [
              {
                key: keyOf('comment', context),
                effect: { kind: 'comment' as const, ...at, marker: comment.marker, body: comment.text },
              },
            ]),
        {
          key: keyOf('closing', context),
          effect: { kind: 'closing', ...at, reason: why },
        },
      ],
    };
  },
});

/** `open`, or what the step does instead. */
async function standing(
  { state: { run }, repo, reader }: StepContext,
  issue: number,
): Promise<'open' | Plan> {
  const found =
    run.pullRequest === null
      ? { merged: false, ...(await reader.issue(repo, issue)) }
      : await reader.pullRequest(repo, issue);
  if (found.merged) {
    const merged = `gh-close cannot close #${issue}: it is merged`;
    return { kind: 'failed', reason: reason('step.failed.error', merged), retryable: false };
  }
  if (found.state === 'open') return 'open';
  return { kind: 'does', summary: `#${issue} is closed already`, details: { issue }, effects: [] };
}
