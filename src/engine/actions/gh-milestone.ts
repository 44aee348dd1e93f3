import { z } from 'zod';
import type { Milestone } from '../../ports/github.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { invalidInput, subjectInput } from './inputs.ts';
import { issueNumber, noSubject } from './target.ts';

const error = '"milestone" is the title or the number of an open milestone';
/** As many as a sentence can hold. */
const MAX_LISTED = 10;

export const ghMilestone = plainAction({
  name: 'gh-milestone',
  about: 'Sets the milestone of the pull request or issue, instead of the one that it has.',
  permissions: ['issues: write'],
  input: z.strictObject({
    ...subjectInput,
    milestone: z
      .union(
        [z.int({ error }).positive({ error }), z.string({ error }).min(1, { error }).max(255, { error })],
        {
          error,
        },
      )
      .describe('The title of an open milestone, or its number. A title of digits comes before a number.')
      .meta({ values: 'a text or a number' }),
  }),
  once: 'one request for each run and step; a milestone that it has already stays',
  async plan(context, { milestone: wanted }) {
    const issue = issueNumber(context);
    if (issue === undefined) return noSubject('gh-milestone');
    const open = await context.reader.openMilestones(context.repo);
    const milestone = matching(open, wanted);
    if (!milestone) return invalidInput('gh-milestone', missing(wanted, open));
    const { run } = context.state;
    return {
      kind: 'does',
      summary: `set the milestone ${milestone.title} of #${issue}`,
      details: { issue, milestone: milestone.title },
      effects: [
        {
          key: keyOf('milestone', context),
          effect: {
            kind: 'milestone',
            ...placeOfEffect(run),
            issue,
            milestone: { number: milestone.number, title: milestone.title },
          },
        },
      ],
    };
  },
});

/** Titles are unique in a repository. If none is equal, one that differs only in case counts. */
function matching(open: readonly Milestone[], wanted: string | number): Milestone | undefined {
  const title = String(wanted).trim();
  const byNumber = open.find(({ number }) => String(number) === title);
  if (typeof wanted === 'number') return byNumber;
  const lower = title.toLowerCase();
  return (
    open.find((one) => one.title === title) ??
    open.find((one) => one.title.toLowerCase() === lower) ??
    byNumber
  );
}

function missing(wanted: string | number, open: readonly Milestone[]): string {
  const name = typeof wanted === 'number' ? `number ${wanted}` : `"${wanted}"`;
  const there = open.slice(0, MAX_LISTED).map(({ number, title }) => `"${title}" (${number})`);
  const more = open.length - there.length;
  const which =
    open.length === 0
      ? 'the repository has no open milestones'
      : `the open ones are ${there.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `no open milestone is ${name}: ${which}`;
}
