// @module-tag security

import { describe, expect, it } from 'vitest';
import type { Review } from '../../../src/domain/policy/facts/reviews.ts';
import { requestedChangesCriterion, requestingChanges } from '../../../src/domain/policy/reviews-standing.ts';

const PEOPLE: Record<string, Review['person']> = {
  anna: { id: 1, login: 'anna', type: 'User' },
  bert: { id: 2, login: 'bert', type: 'User' },
  robot: { id: 3, login: 'robot', type: 'Bot' },
};

function review(at: number, who: string, state: Review['state']): Review {
  const person = PEOPLE[who] ?? { id: 0, login: who, type: 'Mannequin' };
  return { id: at, person, state, commitSha: 'f'.repeat(40), submittedAt: new Date(at * 1_000) };
}

describe('changes are requested', () => {
  it.each<[string, Review[], string[]]>([
    ['by nobody without a review', [], []],
    ['by the person who requests them', [review(1, 'anna', 'changes_requested')], ['anna']],
    [
      'by somebody who approved before',
      [review(1, 'anna', 'approved'), review(2, 'anna', 'changes_requested')],
      ['anna'],
    ],
    [
      'by nobody who approved since',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'approved')],
      [],
    ],
    ['by nobody whose review was dismissed', [review(1, 'anna', 'dismissed')], []],
    [
      'by somebody who only commented since',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'commented')],
      ['anna'],
    ],
    [
      'by somebody who started another review',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'pending')],
      ['anna'],
    ],
    [
      'by somebody whose later review has an unknown state',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'unknown')],
      ['anna'],
    ],
    [
      'in whatever order the list is',
      [review(2, 'anna', 'approved'), review(1, 'anna', 'changes_requested')],
      [],
    ],
    [
      'by two people',
      [review(1, 'anna', 'changes_requested'), review(2, 'bert', 'changes_requested')],
      ['anna', 'bert'],
    ],
    ['not by a bot', [review(1, 'robot', 'changes_requested')], []],
    ['not by a deleted account', [review(1, 'ghost', 'changes_requested')], []],
  ])('%s', (_, reviews, logins) => {
    expect(requestingChanges(reviews).map(({ login }) => login)).toEqual(logins);
  });
});

describe('requested changes prevent a merge', () => {
  const by = (role: string) =>
    ({ known: true, by: [{ person: { id: 1, login: 'anna', type: 'User' }, role }] }) as const;

  it.each([
    ['by a writer', by('write'), 'unmet'],
    ['by an admin', by('admin'), 'unmet'],
    ['but not by somebody with triage access', by('triage'), 'met'],
    ['but not by somebody with read access', by('read'), 'met'],
    ['but not if nobody requests them', { known: true, by: [] }, 'met'],
    ['by somebody whose role is unknown', { known: false, because: 'there are too many' }, 'unmet'],
  ] as const)('%s: %#', (_, requested, status) => {
    expect(requestedChangesCriterion(requested, 9).status).toBe(status);
  });

  it('but not if the author requests them', () => {
    expect(requestedChangesCriterion(by('admin'), 1).status).toBe('met');
  });
});
