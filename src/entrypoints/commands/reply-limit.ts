/**
 * Per hour, pull request and person without write access: the number of comments with commands that get a
 * reply.
 */
export const ANSWERED_PER_HOUR = 5;
/**
 * Per hour, pull request and person: the number of comments that are handled at all. Beyond the replies,
 * permitted commands are executed and get a reaction. Further comments are ignored.
 */
export const HANDLED_PER_HOUR = 20;

const HOUR_MS = 3_600_000;
/** Bounds memory. A person who is forgotten gets five more replies. */
const MAX_PEOPLE = 10_000;

export interface Comment {
  repositoryId: number;
  pullRequest: number;
  login: string;
  commentId: number;
}

export interface CommandHistory {
  /** The number of other comments of that person on that pull request within the last hour. */
  countBefore(comment: Comment, now: Date): number;
  /** Records a comment. If a failure makes it be handled again, it still counts once. */
  note(comment: Comment, now: Date): void;
}

/**
 * Counts the comments of people without write access within an hour. In memory: a restart forgets the counts,
 * which costs a few replies. Rejected: a row per comment, because a flood of comments would then cost disk
 * space until retention removes them.
 */
export function createCommandHistory(): CommandHistory {
  const heard = new Map<string, Map<number, number>>();
  const keyOf = ({ repositoryId, pullRequest, login }: Comment) => `${repositoryId}#${pullRequest} ${login}`;

  function recent(comment: Comment, now: Date): Map<number, number> {
    const times = heard.get(keyOf(comment)) ?? new Map<number, number>();
    for (const [id, at] of times) if (at <= now.getTime() - HOUR_MS) times.delete(id);
    return times;
  }

  return {
    countBefore(comment, now) {
      const times = recent(comment, now);
      return times.size - (times.has(comment.commentId) ? 1 : 0);
    },
    note(comment, now) {
      const key = keyOf(comment);
      const times = recent(comment, now);
      if (!times.has(comment.commentId)) times.set(comment.commentId, now.getTime());
      heard.delete(key);
      heard.set(key, times);
      const [longestAgo = key] = heard.keys();
      if (heard.size > MAX_PEOPLE) heard.delete(longestAgo);
    },
  };
}
