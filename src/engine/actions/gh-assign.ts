import { z } from 'zod';
import { listOrOne } from '../../domain/chain/shape.ts';
import { userSchema } from '../../domain/policy/countersign-rules.ts';
import type { GitHubReader, Repo } from '../../ports/github.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { keyOf, plainAction } from './action.ts';
import { invalidInput, subjectInput } from './inputs.ts';
import { issueNumber, noSubject } from './target.ts';

/** GitHub's own limit: https://docs.github.com/en/rest/issues/assignees#add-assignees-to-an-issue */
export const MAX_ASSIGNEES = 10;

export const ghAssign = plainAction({
  name: 'gh-assign',
  about:
    'Assigns people to the pull request or issue. Those who are assigned already stay. If one of the people cannot be assigned, the step fails and nobody is assigned.',
  permissions: ['issues: write'],
  input: z.strictObject({
    ...subjectInput,
    people: listOrOne(userSchema).describe(`Logins, at most ${MAX_ASSIGNEES}.`),
  }),
  once: 'one request for each run and step; who is assigned already stays assigned',
  async plan(context, { people }) {
    const issue = issueNumber(context);
    if (issue === undefined) return noSubject('gh-assign');
    const problem = await notAssignable(context.reader, context.repo, people);
    if (problem !== undefined) return invalidInput('gh-assign', problem);
    const { run } = context.state;
    return {
      kind: 'does',
      summary: `assigned ${people.join(', ')} to #${issue}`,
      details: { issue, people },
      effects: [
        {
          key: keyOf('assignment', context),
          effect: {
            kind: 'assignment',
            ...placeOfEffect(run),
            issue,
            people,
          },
        },
      ],
    };
  },
});

/** Why these people cannot be assigned. GitHub leaves people out silently, so each is checked first. */
export async function notAssignable(
  reader: GitHubReader,
  repo: Repo,
  people: readonly string[],
): Promise<string | undefined> {
  if (people.length > MAX_ASSIGNEES)
    return `it names ${people.length} people, and GitHub allows ${MAX_ASSIGNEES}`;
  const answers = await Promise.all(people.map((login) => reader.isAssignable(repo, login)));
  const refused = people.filter((_, index) => !answers[index]);
  return refused.length === 0
    ? undefined
    : `GitHub does not let ${refused.join(', ')} be assigned in ${repo.owner}/${repo.name}`;
}
