import type { Clock } from '../../core/clock.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import type { MergeResult } from '../../ports/github.ts';
import { mergedSchema } from './answers.ts';
import type { Client } from './client.ts';
import { RequestFailure } from './failure.ts';
import { refusingStale } from './fresh-proof.ts';

const ROUTE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

/**
 * The only call that merges. It takes everything from the proof and sends the head's SHA, so that GitHub
 * refuses any other head. The proof is checked again when the request is sent, because the client may have
 * waited for a token.
 * @throws GitHubError `unavailable` if it is unknown whether GitHub merged, or if the proof is too old: read
 * the pull request first
 */
export async function merge(
  client: Client,
  clock: Clock,
  timeoutMs: number,
  proof: MergeProof,
  message: { title?: string; message?: string },
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
        ...(message.message !== undefined && { commit_message: message.message }),
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
      return /merge conflict/i.test(said) ? { kind: 'not_mergeable', message: said } : { kind: 'head_moved' };
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
