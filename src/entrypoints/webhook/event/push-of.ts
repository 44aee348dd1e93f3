import { z } from 'zod';
import type { Push } from '../../../domain/policy/authorship.ts';

const id = z.int();
const sha = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);
const moved = {
  repository: z.object({ id }),
  before: sha,
  after: sha,
  sender: z.object({ id }),
};

/**
 * For a push with a deploy key, GitHub names no sender or the key's owner. Without a sender, the push is not
 * recorded.
 */
const pushed = z.object({ ...moved, ref: z.string().startsWith('refs/heads/'), deleted: z.literal(false) });
const synchronized = z.object({ ...moved, action: z.literal('synchronize') });

/** A push to a branch, with the repository whose webhook reported it. */
export interface RepositoryPush extends Push {
  repositoryId: number;
}

/**
 * Who moved a branch. The webhook `push` reports it for repositories where the app is installed,
 * `pull_request` with the action `synchronize` also for a head in a fork
 * (https://docs.github.com/en/webhooks/webhook-events-and-payloads). Other facts of payloads only say what to
 * read from GitHub. This one is trusted because GitHub signed it and, for a fork that the app cannot read, it
 * has no other source.
 */
export function pushOf(name: string, payload: unknown): RepositoryPush | undefined {
  const read = name === 'push' ? pushed : name === 'pull_request' ? synchronized : undefined;
  const { data } = read?.safeParse(payload) ?? {};
  return (
    data && {
      repositoryId: data.repository.id,
      before: data.before,
      after: data.after,
      actorId: data.sender.id,
    }
  );
}
