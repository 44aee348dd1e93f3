import { z } from 'zod';
import { listOrOne } from '../../domain/chain/shape.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { teamSchema, userSchema } from '../../domain/policy/countersign-rules.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { plainAction } from './action.ts';
import { pullRequestInput } from './inputs.ts';
import { noSubject } from './target.ts';

/** More would be a mailing list, and an expression may have any number of values. To ask many people, use a team. */
const MAX_ASKED = 15;

export const ghRequestReviewers = plainAction({
  name: 'gh-request-reviewers',
  about:
    'Requests reviews of the pull request. GitHub requests them from all who are named or from nobody, so each must be a collaborator. The author of the pull request is left out.',
  permissions: ['pull_requests: write', 'members: read'],
  input: z
    .strictObject({
      ...pullRequestInput,
      people: listOrOne(userSchema).optional().describe('Logins. At most 15 people and teams together.'),
      teams: listOrOne(teamSchema)
        .optional()
        .describe('Teams of the organisation that owns the repository, written `organisation/team-slug`.'),
    })
    .refine(({ people, teams }) => people ?? teams, { error: '"people" or "teams" must name somebody' }),
  once: 'one request for each run and step; after an uncertain answer, GitHub is asked whether it was made',
  async plan({ state: { run }, step, repo, reader }, { people = [], teams = [] }) {
    const cannot = (because: string) => ({
      kind: 'failed' as const,
      reason: reason(
        'step.failed.invalid_input',
        `gh-request-reviewers cannot run with its inputs: ${because}`,
      ),
      retryable: false,
    });
    if (run.pullRequest === null) return noSubject('gh-request-reviewers');
    if (people.length + teams.length > MAX_ASKED)
      return cannot(
        `it names ${people.length + teams.length} people and teams, and ${MAX_ASKED} are allowed`,
      );
    const elsewhere = teams.find((team) => team.split('/')[0]?.toLowerCase() !== repo.owner.toLowerCase());
    if (elsewhere !== undefined) return cannot(`the team ${elsewhere} is not of ${repo.owner}`);
    const { author } = await reader.pullRequest(repo, run.pullRequest);
    const asked = people.filter((login) => login.toLowerCase() !== author.login.toLowerCase());
    const names = [...asked, ...teams];
    return {
      kind: 'does',
      summary:
        names.length === 0
          ? `asked nobody to review #${run.pullRequest}: only its author is named`
          : `asked ${names.join(', ')} to review #${run.pullRequest}`,
      details: { pull_request: run.pullRequest, people: asked, teams },
      effects:
        names.length === 0
          ? []
          : [
              {
                key: `review_request:${run.id}:${step.id}`,
                effect: {
                  kind: 'review_request',
                  ...placeOfEffect(run),
                  pull_request: run.pullRequest,
                  people: asked,
                  teams: teams.map((team) => team.split('/')[1] ?? ''),
                },
              },
            ],
    };
  },
});
