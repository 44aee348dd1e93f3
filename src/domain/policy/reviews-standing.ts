import { criterion, type Explanation } from '../explanation/explanation.ts';
import { type Review, standingReviews } from './facts/reviews.ts';
import { isAtLeast } from './role.ts';

/** The reviews that request changes, each with the current role of its author. */
export type RequestedChanges =
  | { known: true; by: readonly { person: Review['person']; role: string }[] }
  /** `because` is a part of a sentence. */
  | { known: false; because: string };

/**
 * The people whose latest verdict is a request for changes, for any head. As on GitHub, a comment does not
 * change a verdict, and an approval or a dismissal lifts a request. An unknown state lifts nothing.
 */
export function requestingChanges(reviews: readonly Review[]): Review['person'][] {
  return standingReviews(reviews)
    .filter(({ state }) => state === 'changes_requested')
    .map(({ person }) => person);
}

/**
 * Whether requested changes block the merge. Only people with write access count, as in GitHub's own rule:
 * anybody who can read a public repository can submit such a review. The pull request's author does not
 * count.
 */
export function requestedChangesCriterion(requested: RequestedChanges, authorId: number): Explanation {
  if (!requested.known)
    return criterion('unmet', `it is not known whether a maintainer requests changes: ${requested.because}`);
  const logins = requested.by
    .filter(({ person, role }) => person.id !== authorId && isAtLeast(role, 'write'))
    .map(({ person }) => person.login)
    .sort();
  return logins.length === 0
    ? criterion('met', 'nobody who can write requests changes')
    : criterion(
        'unmet',
        `${logins.join(' and ')} requested changes, and has neither approved since nor been dismissed`,
      );
}
