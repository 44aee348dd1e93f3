import { z } from 'zod';
import { reason } from '../../domain/explanation/reason.ts';
import { actionComment } from '../../messages/comments/action-comment.ts';
import { prose } from '../../messages/text/markdown.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { subjectInput, text } from './inputs.ts';
import { issueNumber, noSubject } from './target.ts';

export const ghComment = plainAction({
  name: 'gh-comment',
  about: 'Writes a comment on the pull request or issue.',
  permissions: ['issues: write'],
  input: z.strictObject({
    ...subjectInput,
    body: text('The comment, in Markdown. Values of expressions appear as plain text.'),
  }),
  once: 'one comment for each run and step',
  plan(context) {
    const issue = issueNumber(context);
    if (issue === undefined) return noSubject('gh-comment');
    const body = context.text('body', (value) => prose(value)) ?? '';
    if (body.trim() === '') return EMPTY;
    const { run } = context.state;
    const comment = actionComment(run.id, context.step.id, body);
    return {
      kind: 'does',
      summary: `commented on #${issue}`,
      details: { issue },
      effects: [
        {
          key: keyOf('comment', context),
          effect: {
            kind: 'comment',
            ...placeOfEffect(run),
            issue,
            marker: comment.marker,
            body: comment.text,
          },
        },
      ],
    };
  },
});

const EMPTY = {
  kind: 'failed',
  reason: reason('step.failed.invalid_input', 'gh-comment cannot run with its inputs: "body" is empty'),
  retryable: false,
} as const;
