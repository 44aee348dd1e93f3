import { z } from 'zod';
import { shortHash } from '../../core/canonical.ts';
import { bodyHash } from '../effect/body-hash.ts';

/**
 * What the last recheck of an open question saw on GitHub. The poller compares it with GitHub's current state,
 * and has the question rechecked only if they differ. It is stored, so that a restart compares too.
 */
export const questionWatchSchema = z.strictObject({
  /** GitHub's global id of the approval comment. */
  node_id: z.string(),
  /** The reactions that count. Others change nothing. */
  counted: z.array(z.string()),
  /** The counted reactions, as `reactionsSeen` writes them. */
  reactions: z.string(),
  /** The hash of the comment's text. */
  body: z.string(),
  pull_request: z.strictObject({
    open: z.boolean(),
    draft: z.boolean(),
    head_sha: z.string(),
    base_ref: z.string(),
    conflicts: z.boolean(),
  }),
});
export type QuestionWatch = z.infer<typeof questionWatchSchema>;

/** An approval comment as GitHub shows it to the poller. It is only compared; no decision rests on it. */
export interface PolledComment {
  body: string;
  /** `undefined` if there are more than were read. */
  reactions: readonly { id: number; content: string }[] | undefined;
  pullRequest: {
    open: boolean;
    draft: boolean;
    headSha: string;
    baseRef: string;
    /** `undefined` while GitHub computes it. */
    conflicts: boolean | undefined;
  };
}

/** The counted reactions by their ids. Ids tell one person's reaction from another's, which counts do not. */
export function reactionsSeen(
  reactions: readonly { id: number; content: string }[],
  counted: readonly string[],
): string {
  const ids = reactions.filter(({ content }) => counted.includes(content)).map(({ id }) => id);
  return ids.length === 0
    ? ''
    : shortHash(
        ids.sort((a, b) => a - b),
        16,
      );
}

/**
 * What differs between the comment now and what the last recheck saw: empty for nothing, `undefined` if GitHub's
 * answer does not say.
 */
export function changeOf(watch: QuestionWatch, now: PolledComment | undefined): string | undefined {
  if (!now?.reactions) return undefined;
  const { pullRequest } = now;
  const seen = watch.pull_request;
  const reactions = reactionsSeen(now.reactions, watch.counted);
  const body = bodyHash(now.body);
  return [
    ...(reactions === watch.reactions ? [] : [`reactions ${reactions}`]),
    ...(body === watch.body ? [] : [`body ${body}`]),
    ...(pullRequest.open === seen.open ? [] : [`open ${pullRequest.open}`]),
    ...(pullRequest.draft === seen.draft ? [] : [`draft ${pullRequest.draft}`]),
    ...(pullRequest.headSha === seen.head_sha ? [] : [`head ${pullRequest.headSha}`]),
    ...(pullRequest.baseRef === seen.base_ref ? [] : [`base ${pullRequest.baseRef}`]),
    ...(pullRequest.conflicts === undefined || pullRequest.conflicts === seen.conflicts
      ? []
      : [`conflicts ${pullRequest.conflicts}`]),
  ].join(', ');
}
