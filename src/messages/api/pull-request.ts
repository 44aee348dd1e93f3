import { z } from 'zod';
import type { PullRequestAtAddress } from '../../ports/overview.ts';

export const PULL_REQUEST_STATES = ['open', 'closed', 'merged', 'gone'] as const;

export const pullRequestJsonSchema = z.strictObject({
  repository: z.string(),
  number: z.int(),
  /** `null` if it is not known. */
  title: z.string().nullable(),
  author: z.string().nullable(),
  /** `gone`: the app cannot reach its repository. `null` if it is not known, which counts as open. */
  state: z.enum(PULL_REQUEST_STATES).nullable(),
  state_at: z.iso.datetime().nullable(),
  head_sha: z.string().nullable(),
  /** Who paused it; `null` if nobody did. */
  paused_by: z.string().nullable(),
});

export function pullRequestJson(found: PullRequestAtAddress): z.infer<typeof pullRequestJsonSchema> {
  return {
    repository: found.repository,
    number: found.number,
    title: found.title,
    author: found.author,
    state: found.state,
    state_at: found.stateAt?.toISOString() ?? null,
    head_sha: found.headSha,
    paused_by: found.pausedBy,
  };
}
