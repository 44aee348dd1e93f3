import { z } from 'zod';
import { proseLines, visible } from '../../messages/text/markdown.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { failedWrite, keyOf, plainAction } from './action.ts';
import { gitName, invalidInput, pullRequestInput, text } from './inputs.ts';

const tag = gitName('a tag', 100);

const NOT_A_DRAFT = '"draft" is written as true or false, not as an expression';

export const ghRelease = plainAction({
  name: 'gh-release',
  about:
    'Makes a release and its tag at the tip of a branch: a draft, unless the step says `draft: false`. A release of that tag stays as it is.',
  permissions: ['contents: write'],
  input: z.strictObject({
    ...pullRequestInput,
    tag: tag.describe('The tag, such as `v1.2.0`. If it exists for another commit, the step fails.'),
    name: text('The title. Left out, the tag.', 200).optional(),
    body: text(
      'The text, in Markdown. Values of expressions appear as plain text; the items of a list stay items.',
    ).optional(),
    draft: z
      .boolean({ error: NOT_A_DRAFT })
      .optional()
      .describe('Not an expression. `false` publishes it at once, which notifies watchers. Left out, `true`.')
      .meta({ literal: true }),
    prerelease: z.boolean().optional().describe('Left out, `false`.'),
    target: z
      .enum(['base', 'default'])
      .optional()
      .describe(
        'Whose tip is released: the run’s base branch, which is used if left out, or the default branch.',
      ),
  }),
  once: 'one release for each tag, which is looked up before it is made',
  async plan(context, { tag, name, draft = true, prerelease = false, target = 'base' }) {
    const { state, repo, reader, step } = context;
    // Otherwise a pull request could decide that it is published.
    if (typeof step.with.draft === 'string') return invalidInput('gh-release', NOT_A_DRAFT);
    const { run } = state;
    const branch = target === 'base' ? run.baseRef : run.facts.repo.default_branch;
    const sha = await reader.branchTip(repo, branch);
    if (sha === undefined) return invalidInput('gh-release', `there is no branch ${branch}`);
    const title =
      name === undefined ? tag : (context.text('name', visible) ?? tag).replaceAll(/\s+/g, ' ').trim();
    const body = context.text('body', proseLines)?.trim() ?? '';
    return {
      kind: 'does',
      summary: `releases ${tag}`,
      details: { tag, sha },
      effects: [
        {
          key: keyOf('release', context),
          effect: { kind: 'release', ...placeOfEffect(run), tag, sha, name: title, body, draft, prerelease },
        },
      ],
    };
  },
  finish(_context, [row]) {
    const failure = failedWrite('gh-release', row);
    if (failure) return failure;
    if (row?.effect.kind !== 'release') throw new Error('the effect of a release is missing');
    const { effect, progress } = row;
    const { tag, sha, draft } = effect;
    const isNew = progress.result !== 'found';
    return {
      kind: 'does',
      summary: isNew
        ? `${draft ? 'drafted' : 'published'} the release ${tag} of ${sha.slice(0, 7)}`
        : `found the release ${tag}, and left it as it is`,
      details: {
        tag,
        draft,
        created: isNew,
        ...(isNew && { sha }),
        ...(progress.url !== undefined && { url: progress.url }),
      },
      effects: [],
    };
  },
});
