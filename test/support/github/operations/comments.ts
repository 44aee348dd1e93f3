import type { State } from '../state.ts';
import { viewComment, viewIssue } from '../views/issue.ts';
import type { Account, Comment, Issue, Reaction, ReactionContent } from '../world.ts';
import { emit } from './emit.ts';

export function createComment(state: State, issue: Issue, author: Account, body: string): Comment {
  const now = state.now();
  const comment: Comment = {
    id: state.nextId('comment'),
    issue,
    author,
    lastWriter: author,
    firstBody: body,
    body,
    reactions: [],
    minimizedReason: null,
    createdAt: now,
    updatedAt: now,
  };
  issue.comments.push(comment);
  issue.updatedAt = now;
  announce(state, comment, author, 'created');
  return comment;
}

export function editComment(state: State, comment: Comment, by: Account, body: string): void {
  const from = comment.body;
  comment.body = body;
  comment.lastWriter = by;
  comment.updatedAt = state.now();
  announce(state, comment, by, 'edited', { changes: { body: { from } } });
}

export function deleteComment(state: State, comment: Comment, by: Account): void {
  const { comments } = comment.issue;
  comments.splice(comments.indexOf(comment), 1);
  announce(state, comment, by, 'deleted');
}

/** A person can add each reaction once. GitHub sends no webhook for reactions. */
export function react(
  state: State,
  comment: Comment,
  author: Account,
  content: ReactionContent,
): { reaction: Reaction; created: boolean } {
  const known = comment.reactions.find((one) => one.author === author && one.content === content);
  if (known) return { reaction: known, created: false };
  const reaction: Reaction = { id: state.nextId('reaction'), author, content, createdAt: state.now() };
  comment.reactions.push(reaction);
  return { reaction, created: true };
}

/** @returns whether there was such a reaction. */
export function unreact(comment: Comment, reactionId: number): boolean {
  const index = comment.reactions.findIndex((reaction) => reaction.id === reactionId);
  if (index >= 0) comment.reactions.splice(index, 1);
  return index >= 0;
}

function announce(state: State, comment: Comment, sender: Account, action: string, extra: object = {}): void {
  emit(state, { repository: comment.issue.repository, sender }, 'issue_comment', {
    action,
    ...extra,
    issue: viewIssue(state, comment.issue),
    comment: viewComment(state, comment),
  });
}
