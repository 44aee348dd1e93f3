import { type Facts, known } from './fact.ts';

/** One review of a pull request, as GitHub lists it. */
export interface Review {
  id: number;
  person: { id: number; login: string; type: string };
  /**
   * `unknown`: a state of GitHub that this app does not know. It is no approval, and does not lift a request
   * for changes.
   */
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending' | 'unknown';
  /** The head that the review was about; `null` if GitHub no longer has it. */
  commitSha: string | null;
  /** `null` while the review is pending. */
  submittedAt: Date | null;
}

/**
 * Each person's current verdict: their newest review that approves, requests changes or was dismissed. As on
 * GitHub, comments do not change a verdict. Only people count, because a workflow of the pull request may be
 * able to approve as a bot. The author does not count.
 * @param authorId left out if the caller judges the author with everybody else
 */
export function standingReviews(reviews: readonly Review[], authorId?: number): Review[] {
  const newest = new Map<number, Review>();
  const oldestFirst = reviews.toSorted(
    (a, b) => (a.submittedAt?.getTime() ?? 0) - (b.submittedAt?.getTime() ?? 0) || a.id - b.id,
  );
  for (const review of oldestFirst) {
    const { person, state } = review;
    if (person.type !== 'User' || person.id === authorId) continue;
    if (state === 'commented' || state === 'pending') continue;
    // An unknown state withdraws an approval but no request for changes: in both cases the stricter reading.
    if (state === 'unknown' && newest.get(person.id)?.state === 'changes_requested') continue;
    newest.set(person.id, review);
  }
  return [...newest.values()];
}

/**
 * An approval is valid only for the head that it was given for. A request for changes stays until its author
 * approves or it is dismissed, whatever is pushed.
 */
export function approves({ state, commitSha }: Review, headSha: string): boolean {
  return state === 'approved' && commitSha === headSha;
}

/**
 * The facts of the current reviews.
 * @param standing only those of people with write access: anybody who can read a public repository can submit
 * a review
 */
export function reviewFacts(standing: readonly Review[], headSha: string): Facts {
  const logins = (which: (review: Review) => boolean) =>
    standing
      .filter(which)
      .map(({ person }) => person.login)
      .sort();
  return {
    approvals: known(logins((review) => approves(review, headSha))),
    changes_requested: known(logins(({ state }) => state === 'changes_requested')),
  };
}
