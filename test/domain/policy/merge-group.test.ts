// @module-tag security

import { describe, expect, test } from 'vitest';
import {
  type Gate,
  type GroupMember,
  gateOf,
  isFreshProof,
  judgeGroup,
  judgeMerge,
  type MergeFacts,
  type MergeQuestion,
} from '../../../src/domain/policy/merge-gate.ts';
import { at } from '../../support/builders.ts';
import { facts, question } from './merge-facts.ts';

const GATE: Gate = { owner: 'acme', repo: 'shop', headSha: 'f'.repeat(40), baseRef: 'main' };

/** A pull request of the group, countersigned unless the facts say otherwise. */
function member(
  number: number,
  asked: Partial<MergeQuestion> = {},
  read: Partial<MergeFacts> = {},
): GroupMember {
  const about = question({ pullRequest: number, ...asked });
  return { number, headSha: question().headSha, decision: judgeMerge(about, facts(read)) };
}

test('a merge group whose pull requests are all countersigned gets a proof for its own commit', () => {
  const { why, proof } = judgeGroup(GATE, [member(7), member(8)], at(0));
  expect(why).toMatchObject({
    status: 'met',
    summary: 'every pull request of this group is countersigned: #7, #8',
  });
  expect(proof && gateOf(proof)).toEqual(GATE);
  expect(proof && isFreshProof(proof, at(0))).toBe(true);
});

test('the proof of a merge group is as old as its oldest member', () => {
  const { proof } = judgeGroup(GATE, [member(7, {}, { readAt: at(-9_000) }), member(8)], at(0));
  expect(proof && isFreshProof(proof, at(1_000))).toBe(true);
  expect(proof && isFreshProof(proof, at(1_001))).toBe(false);
});

describe('a merge group gets no proof', () => {
  test.each<[string, GroupMember[], string]>([
    ['when its pull requests are unknown', [], 'no pull request of this merge group is known'],
    [
      'when nobody countersigned one of its pull requests',
      [member(7), member(8, {}, { reactors: [] })],
      '#8: not merging: nobody has countersigned yet',
    ],
    [
      'when nobody was asked about one of its pull requests',
      [{ ...member(7), decision: undefined }],
      `#7: nobody was asked to countersign ${question().headSha.slice(0, 7)}`,
    ],
    [
      'when a proof is too old',
      [member(7, {}, { readAt: at(-10_001) })],
      '#7: countersigned by mia; merging',
    ],
    [
      'when a proof is for another pull request',
      [{ ...member(7), decision: member(8).decision }],
      '#7: countersigned by mia; merging',
    ],
    [
      'when the queue took another head than the one that was countersigned',
      [{ ...member(7), headSha: 'e'.repeat(40) }],
      '#7: countersigned by mia; merging',
    ],
    [
      'when a proof is for another base',
      [member(7, { baseRef: 'theirs' }, { pullRequest: { ...facts().pullRequest, baseRef: 'theirs' } })],
      '#7: countersigned by mia; merging',
    ],
    [
      'when a proof is for another repository',
      [member(7, { repo: 'other' })],
      '#7: countersigned by mia; merging',
    ],
    [
      'when a proof is only a copy of one',
      [
        {
          ...member(7),
          decision: { ...member(7).decision, proof: structuredClone(member(7).decision?.proof) } as never,
        },
      ],
      '#7: countersigned by mia; merging',
    ],
  ])('%s', (_, members, summary) => {
    const judged = judgeGroup(GATE, members, at(0));
    expect(judged.proof).toBeUndefined();
    expect(judged.why).toMatchObject({ status: 'unmet', summary });
  });
});
