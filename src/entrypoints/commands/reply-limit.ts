/** How many comments with commands of one person without write access are answered within an hour, on one pull request. */
export const ANSWERED_AN_HOUR = 5;
/** How many are heard at all: what is permitted is carried out and gets a reaction. More are passed over. */
export const HEARD_AN_HOUR = 20;

const HOUR_MS = 3_600_000;
/** Bounds memory. Whoever is forgotten is answered five times more. */
const MOST_PEOPLE = 10_000;

export interface Comment {
  repositoryId: number;
  pullRequest: number;
  login: string;
  commentId: number;
}

export interface HowOften {
  /** How many other comments of that person on that pull request were heard in the hour before. */
  heardBefore(comment: Comment, now: Date): number;
  /** A comment was heard. One that is dealt with again, after a failure, counts once. */
  note(comment: Comment, now: Date): void;
}

/**
 * Remembers what people without write access wrote within an hour. In memory: a restart forgets it, which costs a few answers, while a
 * row for each comment of a flood would cost disk for as long as it is kept.
 */
export function createHowOften(): HowOften {
  const heard = new Map<string, Map<number, number>>();
  const keyOf = ({ repositoryId, pullRequest, login }: Comment) => `${repositoryId}#${pullRequest} ${login}`;

  function recent(comment: Comment, now: Date): Map<number, number> {
    const times = heard.get(keyOf(comment)) ?? new Map<number, number>();
    for (const [id, at] of times) if (at <= now.getTime() - HOUR_MS) times.delete(id);
    return times;
  }

  return {
    heardBefore(comment, now) {
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
      if (heard.size > MOST_PEOPLE) heard.delete(longestAgo);
    },
  };
}
