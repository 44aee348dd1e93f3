import { z } from 'zod';
import { reason } from '../../domain/explanation/reason.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import { failedWrite, keyOf, plainAction } from './action.ts';
import { invalidInput, pullRequestInput } from './inputs.ts';
import { noSubject } from './target.ts';

export const ghUpdateBranch = plainAction({
  name: 'gh-update-branch',
  about:
    'Merges the base branch into the branch of the pull request. That is a new head: the run ends, what was countersigned before no longer counts, and the chain starts again for the new head.',
  permissions: ['pull_requests: write', 'contents: write'],
  input: z.strictObject(pullRequestInput),
  once: 'one merge for each run and step, of exactly the head of the run; a head that is up to date stays as it is',
  async plan(context) {
    const { state, repo, reader } = context;
    const { run } = state;
    if (run.pullRequest === null) return noSubject('gh-update-branch');
    const { state: open, headSha, baseRef } = await reader.pullRequest(repo, run.pullRequest);
    if (open !== 'open') return invalidInput('gh-update-branch', `#${run.pullRequest} is not open`);
    if (headSha !== run.headSha) return moved(run.pullRequest);
    return {
      kind: 'does',
      summary: `updates #${run.pullRequest} with ${baseRef}`,
      details: { pull_request: run.pullRequest },
      effects: [
        {
          key: keyOf('update_branch', context),
          effect: {
            kind: 'update_branch',
            ...placeOfEffect(run),
            pull_request: run.pullRequest,
            base_ref: baseRef,
            head_sha: headSha,
          },
        },
      ],
    };
  },
  finish({ state: { run } }, [row]) {
    const failure = failedWrite('gh-update-branch', row);
    if (failure) return failure;
    const number = run.pullRequest ?? 0;
    if (row?.progress.result === 'moved') return moved(number);
    const updated = row?.progress.result === 'updated';
    return {
      kind: 'does',
      summary: updated
        ? `merged ${run.baseRef} into the branch of #${number}`
        : `#${number} is up to date with ${run.baseRef}`,
      details: { pull_request: number, updated },
      effects: [],
    };
  },
});

function moved(number: number) {
  return {
    kind: 'superseded' as const,
    reason: reason('run.cancelled.superseded', `#${number} has a newer head, which gets its own run`),
  };
}
