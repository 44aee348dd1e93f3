import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { MergeProof } from '../../domain/policy/merge-gate.ts';
import {
  type EnqueueResult,
  GitHubError,
  type MergeQueueEntry,
  type QueuedPullRequest,
  type Repo,
} from '../../ports/github.ts';
import type { Client } from './client.ts';
import { refusingStale } from './fresh-proof.ts';

/**
 * GitHub offers merge queues only in GraphQL:
 * https://docs.github.com/en/graphql/reference/mutations#enqueuepullrequest and …/objects#mergequeue
 */

const QUEUE = `query ($owner: String!, $name: String!, $branch: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    mergeQueue(branch: $branch) {
      entries(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { position headCommit { oid } pullRequest { number headRefOid baseRefName } }
      }
    }
  }
}`;

const ENTRY = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { id isInMergeQueue }
  }
}`;

const ENQUEUE = `mutation ($id: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $head }) { clientMutationId }
}`;

const DEQUEUE = `mutation ($id: ID!) {
  dequeuePullRequest(input: { id: $id }) { clientMutationId }
}`;

/** A queue has far fewer entries, so more pages are a loop. */
const MAX_PAGES = 10;

const queueSchema = z.object({
  repository: z.object({
    mergeQueue: z
      .object({
        entries: z.object({
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
          nodes: z.array(
            z.object({
              position: z.int(),
              headCommit: z.object({ oid: z.string() }).nullable(),
              pullRequest: z
                .object({ number: z.int(), headRefOid: z.string(), baseRefName: z.string() })
                .nullable(),
            }),
          ),
        }),
      })
      .nullable(),
  }),
});

const entrySchema = z.object({
  repository: z.object({ pullRequest: z.object({ id: z.string(), isInMergeQueue: z.boolean() }) }),
});

const mutationSchema = z.record(z.string(), z.unknown());

/**
 * @throws GitHubError `unavailable` if an entry names no pull request, because the content of the group is
 * then unknown
 */
export async function readMergeQueue(client: Client, repo: Repo, branch: string): Promise<MergeQueueEntry[]> {
  const entries: MergeQueueEntry[] = [];
  let after: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const variables = { owner: repo.owner, name: repo.name, branch, after };
    const answer: z.infer<typeof queueSchema> = await client.query(QUEUE, variables, queueSchema);
    const queue = answer.repository.mergeQueue;
    if (!queue) return [];
    for (const { position, headCommit, pullRequest } of queue.entries.nodes) {
      if (!pullRequest) {
        throw new GitHubError('unavailable', 0, 'an entry of the merge queue names no pull request');
      }
      const { number, headRefOid: headSha, baseRefName: baseRef } = pullRequest;
      entries.push({ position, groupSha: headCommit?.oid ?? null, number, headSha, baseRef });
    }
    if (!queue.entries.pageInfo.hasNextPage) return entries;
    after = queue.entries.pageInfo.endCursor;
  }
  throw new GitHubError('invalid', 0, `the merge queue of ${branch} has more than ${MAX_PAGES} pages`);
}

export async function readQueued(client: Client, repo: Repo, number: number): Promise<QueuedPullRequest> {
  const variables = { owner: repo.owner, name: repo.name, number };
  const { repository } = await client.query(ENTRY, variables, entrySchema);
  const { id, isInMergeQueue } = repository.pullRequest;
  return { nodeId: id, isQueued: isInMergeQueue };
}

/** Adds exactly the head of the proof; GitHub refuses any other. */
export async function enqueue(
  client: Client,
  clock: Clock,
  proof: MergeProof,
  nodeId: string,
): Promise<EnqueueResult> {
  const refuseStale = refusingStale(proof, clock, 'enqueuePullRequest');
  refuseStale();
  const variables = { id: nodeId, head: proof.question.headSha };
  return client.mutate(ENQUEUE, variables, mutationSchema, { beforeSending: refuseStale });
}

export async function dequeue(client: Client, nodeId: string): Promise<void> {
  await client.mutate(DEQUEUE, { id: nodeId }, mutationSchema);
}
