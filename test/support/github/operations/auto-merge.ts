import { ApiError } from '../api-error.ts';
import { mergeability } from '../rules/mergeability.ts';
import { canWrite } from '../rules/requirements.ts';
import type { State } from '../state.ts';
import type { Account, MergeMethod, PullRequest } from '../world.ts';
import { announceIssue } from './issues.ts';

/**
 * Asks GitHub to merge as soon as everything that is required is satisfied. GitHub refuses if nothing is missing. Its messages
 * are those of `enablePullRequestAutoMerge`: https://github.com/peter-evans/enable-pull-request-automerge#conditions
 */
export function enableAutoMerge(state: State, pr: PullRequest, by: Account, method: MergeMethod): void {
  if (!canWrite(state, pr.repository, by))
    throw new ApiError(
      403,
      `${by.login} does not have the correct permissions to execute \`EnablePullRequestAutoMerge\``,
    );
  if (!pr.repository.autoMergeAllowed)
    throw new ApiError(422, 'Auto merge is not allowed for this repository');
  const { mergeable_state: standing } = mergeability(state, pr);
  if (standing === 'clean' || standing === 'unstable')
    throw new ApiError(422, `Pull request is in ${standing} status`);
  pr.pull.autoMerge = { by, method };
  state.autoMerging.add(pr);
  announceIssue(state, pr, by, 'auto_merge_enabled', { reason: null });
}

export function disableAutoMerge(state: State, pr: PullRequest, by: Account, reason: string): void {
  if (!pr.pull.autoMerge) return;
  pr.pull.autoMerge = undefined;
  state.autoMerging.delete(pr);
  announceIssue(state, pr, by, 'auto_merge_disabled', { reason });
}

/**
 * People without write access must not change what others want merged, or its base.
 * https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
 */
export function disableAutoMergeOfOthers(state: State, pr: PullRequest, by: Account): void {
  if (!canWrite(state, pr.repository, by)) disableAutoMerge(state, pr, by, 'Disabled by a change');
}
