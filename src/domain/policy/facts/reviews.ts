import { type Facts, known } from './fact.ts';

/** One review of a pull request, as GitHub lists it. */
export interface Review {
  id: number;
  person: { id: number; login: string; type: string };
  /** `unknown` is one that GitHub has and this app does not: it is no approval, and lifts no request for changes. */
  state: 'approved' | 'changes_requested' | 'commented' | 'dismissed' | 'pending' | 'unknown';
  /** The head that it was about; `null` when GitHub has forgotten it. */
  commitSha: string | null;
  /** `null` while it is pending. */
  submittedAt: Date | null;
}

/**
 * What each person holds by now: the newest review that says yes or no, or that was dismissed. Comments change no verdict, as
 * on GitHub. Only people count: a workflow of the pull request may be able to approve as a bot. The author is no reviewer.
 */
export function standingReviews(reviews: readonly Review[], authorId: number): Review[] {
  const newest = new Map<number, Review>();
  const inOrder = reviews.toSorted(
    (a, b) => (a.submittedAt?.getTime() ?? 0) - (b.submittedAt?.getTime() ?? 0) || a.id - b.id,
  );
  for (const review of inOrder) {
    const { person, state } = review;
    if (person.type !== 'User' || person.id === authorId) continue;
    if (state === 'commented' || state === 'pending') continue;
    // It withdraws an approval, but no request for changes: either would be a guess in its giver's favour.
    if (state === 'unknown' && newest.get(person.id)?.state === 'changes_requested') continue;
    newest.set(person.id, review);
  }
  return [...newest.values()];
}

/**
 * An approval holds for the head it was given for; a request for changes holds until its giver approves or it is dismissed,
 * whatever is pushed.
 */
export function approves({ state, commitSha }: Review, headSha: string): boolean {
  return state === 'approved' && commitSha === headSha;
}

/**
 * The facts of the reviews that stand.
 * @param standing of those with write access only: anybody who can read a repository can approve, or refuse, in it.
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
