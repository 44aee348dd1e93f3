import { reason } from '../../domain/explanation/reason.ts';
import { makeOutcome } from '../../domain/outcome/outcome.ts';
import { CAPABILITIES } from '../../domain/policy/capability.ts';
import { actionComment } from '../../messages/comments/action-comment.ts';
import { prose } from '../../messages/text/markdown.ts';
import type { StepContext, StepHandler } from '../steps/step.ts';
import { issueNumber } from './target.ts';

/** Writes a comment on the pull request or issue, once per run and step. */
export const ghComment: StepHandler = {
  name: 'gh-comment',
  capability: CAPABILITIES['gh-comment'],
  async run(context: StepContext) {
    const issue = issueNumber(context);
    const body = context.text('body', (value) => prose(value));
    if (issue === undefined || body === undefined || body.trim() === '') {
      return {
        kind: 'failed',
        reason: reason('step.failed.error', 'gh-comment needs `with: {pr: <number>, body: <text>}`'),
        retryable: false,
      };
    }
    const { run } = context.state;
    const { marker, text } = actionComment(run.id, context.step.id, body);
    return {
      kind: 'done',
      outcome: makeOutcome<'action_result'>({
        outcome_kind: 'action_result',
        // Stored before the request to GitHub, which may reject it. So it only says that the comment was
        // requested.
        summary: `asks for a comment on #${issue}`,
        passed: true,
        action: 'gh-comment',
        details: { issue },
      }),
      desiredEffects: [
        {
          key: `comment:${run.id}:${context.step.id}`,
          effect: {
            kind: 'comment',
            installation_id: run.installationId,
            owner: context.repo.owner,
            repo: context.repo.name,
            issue,
            marker,
            body: text,
          },
        },
      ],
    };
  },
};
