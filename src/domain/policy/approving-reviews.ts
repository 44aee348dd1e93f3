import { criterion, type Explanation } from '../explanation/explanation.ts';
import { approves, type Review, standingReviews } from './facts/reviews.ts';

/** The people whose review approves the head, with the facts that decide whether it counts. */
export type ApprovingReviews<Person extends { login: string }> =
  | { known: true; by: readonly Person[] }
  /** `because` is a part of a sentence. */
  | { known: false; because: string };

/** Anybody who can read a public repository can approve, and the role of each person is a request. */
const MOST_APPROVERS = 50;

/** The people whose current review approves this head, the newest reviews first. Whether they may countersign is not decided here. */
export function approvingHead(reviews: readonly Review[], headSha: string): Review['person'][] {
  return standingReviews(reviews)
    .filter((review) => approves(review, headSha))
    .toSorted((a, b) => (b.submittedAt?.getTime() ?? 0) - (a.submittedAt?.getTime() ?? 0))
    .slice(0, MOST_APPROVERS)
    .map(({ person }) => person);
}

/**
 * Whether somebody who may countersign approved this head in a review, for questions that ask for that. It adds to the
 * reactions and never replaces one (I1).
 * @param because why a person's review does not count; `undefined` if it does
 */
export function reviewCriterion<Person extends { login: string }>(
  headSha: string,
  reviews: ApprovingReviews<Person> | undefined,
  because: (person: Person) => string | undefined,
): Explanation {
  if (!reviews?.known)
    return criterion(
      'unmet',
      `it is not known whether a review approves ${short(headSha)}: ${reviews?.because ?? 'the reviews were not read'}`,
    );
  const judged = reviews.by.map((person) => ({ person, because: because(person) }));
  const details = judged.map(({ person: { login }, because }) =>
    because === undefined
      ? criterion('met', `${login} may countersign and approved it in a review`)
      : criterion('unmet', `${login} approved it in a review, but ${because}`),
  );
  const counted = judged.filter((one) => one.because === undefined).map(({ person }) => person.login);
  return counted.length > 0
    ? criterion('met', `approved on GitHub by ${counted.join(', ')}`, details)
    : criterion(
        'pending',
        `nobody who may countersign has approved ${short(headSha)} in a review on GitHub yet`,
        details,
      );
}

const short = (sha: string) => sha.slice(0, 7);
