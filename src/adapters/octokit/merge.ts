import type { Clock } from '../../core/clock.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { MergeResult } from '../../ports/github.ts';
import { mergedSchema } from './answers.ts';
import type { Client } from './client.ts';
import { RequestFailure } from './failure.ts';
import { refusingStale } from './fresh-proof.ts';

const ROUTE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

/**
 * The one call that merges. It takes what it merges from the proof alone, and sends the head's SHA, so that GitHub
 * refuses any other. The proof is looked at again when the request leaves: by then a token may have been waited for.
 * @throws GitHubError `unavailable` when nobody knows whether GitHub merged, or the proof is too old: read the pull
 * request before anything else.
 */
export async function merge(
  client: Client,
  clock: Clock,
  timeoutMs: number,
  proof: MergeProof,
  message: { title?: string },
): Promise<MergeResult> {
  const refuseStale = refusingStale(proof, clock, ROUTE);
  refuseStale();
  const { owner, repo, pullRequest, headSha, method } = proof.question;
  try {
    const merged = await client.request(
      ROUTE,
      {
        owner,
        repo,
        pull_number: pullRequest,
        sha: headSha,
        merge_method: method,
        ...(message.title !== undefined && { commit_title: message.title }),
      },
      mergedSchema,
      { timeoutMs, beforeSending: refuseStale },
    );
    return { kind: 'merged', sha: merged.sha };
  } catch (error) {
    if (error instanceof RequestFailure && !error.signIn && error.kind !== 'rate_limited') {
      const refusal = refusalOf(error);
      if (refusal) return refusal;
    }
    throw error;
  }
}

/** https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request */
function refusalOf({ status, said }: RequestFailure): MergeResult | undefined {
  switch (status) {
    case 409:
      return { kind: 'head_moved' };
    case 405:
      return { kind: 'not_mergeable', message: said };
    case 403:
    case 404:
    case 422:
      return { kind: 'refused', status, message: said };
    default:
      return undefined;
  }
}
