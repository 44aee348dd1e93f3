import { criterion, type Explanation } from '../explanation/explanation.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { Run } from '../run/run.ts';
import type { AnsweringPerson } from './approval.ts';
import { actionOf } from './capability.ts';
import { type CountersignRules, tightened } from './countersign-rules.ts';

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

/**
 * The rules of every step that merges, which may ask for particular people; those of the settings without one. A review
 * decides for all of those steps, so an acceptance must satisfy them all.
 */
export function rulesOfMerges({
  definition,
  settings,
}: Pick<Run, 'definition' | 'settings'>): CountersignRules[] {
  const merging = definition.steps.filter(({ uses }) => actionOf(uses)?.merges);
  const { countersign } = settings;
  return merging.length === 0
    ? [countersign]
    : merging.map(({ approval }) => tightened(countersign, approval));
}
