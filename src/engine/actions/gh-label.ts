import { z } from 'zod';
import { listOrOne } from '../../domain/chain/shape.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { subjectInput } from './inputs.ts';
import { issueNumber, noSubject } from './target.ts';

export const ghLabel = plainAction({
  name: 'gh-label',
  about: 'Adds labels to the pull request or issue. Labels that it has stay.',
  permissions: ['issues: write'],
  input: z.strictObject({
    ...subjectInput,
    labels: listOrOne(z.string().min(1).max(100)).describe('One label, or a list of labels.'),
  }),
  once: 'one request for each run and step; a label that is there already stays as it is',
  plan(context, { labels }) {
    const issue = issueNumber(context);
    if (issue === undefined) return noSubject('gh-label');
    const { run } = context.state;
    return {
      kind: 'does',
      summary: `added ${labels.length === 1 ? 'the label' : 'the labels'} ${labels.join(', ')} to #${issue}`,
      details: { issue, labels },
      effects: [
        {
          key: keyOf('label', context),
          effect: {
            kind: 'label',
            ...placeOfEffect(run),
            issue,
            labels,
          },
        },
      ],
    };
  },
});
