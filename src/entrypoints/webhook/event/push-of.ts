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

/** A deploy key pushes as nobody: GitHub then names no sender, or the owner of the key. The former is no known push. */
const pushed = z.object({ ...moved, ref: z.string().startsWith('refs/heads/'), deleted: z.literal(false) });
const synchronized = z.object({ ...moved, action: z.literal('synchronize') });

/** A push to a branch, and the repository that it was told of in. */
export interface ToldPush extends Push {
  repositoryId: number;
}

/**
 * Who moved a branch, by a webhook: `push` tells it of the repositories that the app is installed on, and `pull_request` with the
 * action `synchronize` also of a head in a fork (https://docs.github.com/en/webhooks/webhook-events-and-payloads). Payloads are
 * hints otherwise; this one fact is read nowhere else for a fork that the app cannot see, and GitHub has signed it.
 */
export function pushOf(name: string, payload: unknown): ToldPush | undefined {
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
