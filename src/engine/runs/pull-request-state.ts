import { mergedOnce } from '../../domain/audit/entry.ts';
import type { RepositoryEvent } from '../../domain/event/event.ts';
import type { Actor } from '../../domain/run/actor.ts';
import type { PullRequest } from '../../ports/github.ts';
import type { PullRequestState } from '../../ports/retention.ts';
import type { Tx } from '../../ports/storage.ts';

type PullRequestEvent = RepositoryEvent & { pull_request: number };

/** Stores whether the pull request is open: retention may remove the runs of a closed one. */
export function sawState(
  tx: Tx,
  { repository, installation_id, pull_request }: PullRequestEvent,
  pullRequest: Pick<PullRequest, 'merged' | 'state'>,
  at: Date,
): Promise<void> {
  const place = {
    repositoryId: repository.id,
    number: pull_request,
    repository: `${repository.owner}/${repository.name}`,
    installationId: installation_id,
  };
  return tx.pullRequests.sawState(place, stateOf(pullRequest), at);
}

export function stateOf({ merged, state }: Pick<PullRequest, 'merged' | 'state'>): PullRequestState {
  return merged ? 'merged' : state;
}

/**
 * Whether a run of the pull request made the merge, or may have: GitHub's answer to a begun call can be under
 * way.
 */
export async function isOurMerge(tx: Tx, { repository, pull_request }: PullRequestEvent): Promise<boolean> {
  return (await tx.effects.mergesSent(repository.id, pull_request)).length > 0;
}

/** Records a merge that was not made by this app. */
export async function auditMergeElsewhere(
  tx: Tx,
  event: PullRequestEvent,
  { number, headSha, baseRef, mergeCommitSha }: PullRequest,
  by: Actor,
): Promise<void> {
  if (await isOurMerge(tx, event)) return;
  const { id, owner, name } = event.repository;
  await tx.audit.record(
    {
      kind: 'merge.made_elsewhere',
      by,
      repository: { id, name: `${owner}/${name}` },
      pull_request: number,
      head_sha: headSha,
      base_ref: baseRef,
      configuration_sha: null,
      run_id: null,
      merge_sha: mergeCommitSha,
    },
    mergedOnce(id, number),
  );
}
