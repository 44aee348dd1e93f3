import { z } from 'zod';
import { safeAddress } from '../../messages/text/link.ts';
import { visible } from '../../messages/text/markdown.ts';
import { clip } from '../../messages/text/pretty.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { plainAction } from './action.ts';
import { invalidInput, pullRequestInput, text } from './inputs.ts';

/** GitHub accepts no more: https://docs.github.com/en/rest/commits/statuses */
const MAX_DESCRIPTION = 140;

const NO_EXPRESSION = '"context" is written in full, not as an expression';

/**
 * Whether a context could pass for a check of this app. A required check can be satisfied by a status of the same name, whose app would
 * be the right one, and GitHub ignores upper and lower case.
 */
function isOwnName(context: string): boolean {
  return /^countersign/i.test(context.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, ''));
}

export const ghStatus = plainAction({
  name: 'gh-status',
  about:
    'Sets a commit status on the head of the pull request, or on the commit that the run is about. What the branch requires by that name is then satisfied or not, so the step names it in full. It does not count as CI.',
  permissions: ['statuses: write'],
  input: z.strictObject({
    ...pullRequestInput,
    context: z
      .string()
      .min(1)
      .max(100)
      .regex(/^[\x20-\x7e]*$/, { error: '"context" has only characters of ASCII' })
      .refine((context) => !isOwnName(context), {
        error: '"context" cannot begin with "countersign": those are the names of Countersign’s own checks',
      })
      .regex(/^(?![\s\S]*\{[{%])/, { error: NO_EXPRESSION })
      .describe(
        'The name of the status, such as `team/docs`. Not an expression, and not a name of Countersign’s own checks.',
      )
      .meta({ literal: true }),
    state: z.enum(['success', 'failure', 'error', 'pending']).describe('What it says.'),
    description: text('One line, cut to 140 characters.').optional(),
    target_url: z
      .string()
      .max(1_000)
      .refine((link) => safeAddress(link)?.startsWith('https://') === true, {
        error: '"target_url" must be an https address',
      })
      .optional()
      .describe('Where it links to: an https address.'),
  }),
  once: 'one status for each run and context, as it was asked for last',
  plan(context, { context: name, state, target_url: link }) {
    const { run } = context.state;
    const cannot = (problem: string) => invalidInput('gh-status', problem);
    if (run.headSha === '') return cannot('this run is about no commit');
    // Otherwise a title could name the check that another app has to pass.
    if (/\{[{%]/.test(String(context.step.with.context))) return cannot(NO_EXPRESSION);
    const address = link === undefined ? undefined : safeAddress(link);
    const said = context.text('description', visible)?.replaceAll(/\s+/g, ' ').trim() ?? '';
    return {
      kind: 'does',
      summary: `set the status ${name}: ${state}`,
      details: { context: name, state, sha: run.headSha },
      effects: [
        {
          key: `status:${run.id}:${name.toLowerCase()}`,
          effect: {
            kind: 'status',
            ...placeOfEffect(run),
            sha: run.headSha,
            context: name,
            state,
            description: clip(said, MAX_DESCRIPTION),
            ...(address !== undefined && { target_url: address }),
          },
        },
      ],
    };
  },
});
