import { criterion, type Explanation } from '../explanation/explanation.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { AnsweringPerson } from './approval.ts';

/** Who accepted findings of the run's reviews, and how many. */
export interface Acceptor {
  person: AnsweringPerson;
  count: number;
}

/** @param steps of a run */
export function acceptorsIn(steps: readonly { outcome: Outcome | null }[]): Acceptor[] {
  const found = new Map<number, Acceptor>();
  for (const { outcome } of steps) {
    if (outcome?.outcome_kind !== 'review_verdict') continue;
    for (const { by } of outcome.accepted ?? [])
      found.set(by.id, { person: by, count: (found.get(by.id)?.count ?? 0) + 1 });
  }
  return [...found.values()];
}

/**
 * Whether accepted findings still count: only while the person who accepted them may countersign. It is read again for
 * each merge, as for every answer, because the verdict of the review rests on it.
 * @param because why that person may not countersign now; `undefined` if they may
 */
export function acceptanceCriteria(
  acceptors: readonly Acceptor[],
  because: (person: AnsweringPerson) => string | undefined,
): Explanation[] {
  return acceptors.map(({ person, count }) => {
    const [findings, them] = count === 1 ? ['1 finding', 'it'] : [`${count} findings`, 'them'];
    const reason = because(person);
    return reason === undefined
      ? criterion('met', `${person.login} may countersign and accepted ${findings}`)
      : criterion(
          'unmet',
          `${person.login} accepted ${findings}, but ${reason}; somebody who may countersign accepts ${them} again, or fixes ${them}`,
        );
  });
}
