/** A reply in a conversation on a line that a model answers. */
interface ThreadReply {
  commentId: number;
  /** The first comment of the conversation. */
  thread: number;
  repositoryId: number;
  pullRequest: number;
  askedBy: string;
  at: Date;
}

export interface ThreadReplies {
  /** @returns false if the reply was there already */
  add(reply: ThreadReply): Promise<boolean>;
  /** The conversations of a pull request in which people asked since then, one entry for each reply. */
  threadsSince(of: { repositoryId: number; pullRequest: number }, since: Date): Promise<number[]>;
}
