// @module-tag security

import { describe, expect, test } from 'vitest';
import {
  isFreshProof,
  judgeMerge,
  type MergeProof,
  type MergeQuestion,
} from '../../../src/domain/policy/merge-gate.ts';
import { at } from '../../support/builders.ts';
import { facts, question } from './merge-facts.ts';

function minted(asked = question()): MergeProof {
  const { proof } = judgeMerge(asked, facts());
  if (!proof) throw new Error('these facts must merge');
  return proof;
}

describe('a proof', () => {
  test.each([
    ['at once', 0, true],
    ['after just less than ten seconds', 9_999, true],
    ['after ten seconds', 10_000, true],
    ['after more than ten seconds', 10_001, false],
    ['after an hour', 3_600_000, false],
  ])('used %s is fresh: %s', (_, ms, fresh) => {
    expect(isFreshProof(minted(), at(ms))).toBe(fresh);
  });

  test('is as old as the facts, not as the decision', () => {
    const { proof } = judgeMerge(question(), facts({ readAt: at(-10_001) }));
    expect(proof && isFreshProof(proof, at(0))).toBe(false);
  });

  test.each([
    ['an unknown time of reading', new Date(Number.NaN), at(0)],
    ['an unknown time of use', at(0), new Date(Number.NaN)],
  ])('with %s is not fresh', (_, readAt, now) => {
    const { proof } = judgeMerge(question(), facts({ readAt }));
    expect(proof && isFreshProof(proof, now)).toBe(false);
  });

  test('cannot be given another question', () => {
    const proof = minted();
    expect(() => Object.assign(proof, { question: question({ pullRequest: 8 }) })).toThrow(TypeError);
    expect(() => Object.assign(proof, { countersignedBy: ['otto'] })).toThrow(TypeError);
  });
});

describe('a forged proof', () => {
  test.each<[string, (proof: MergeProof) => object]>([
    [
      'an object with the same members',
      ({ question, countersignedBy, mintedAt }) => ({ question, countersignedBy, mintedAt }),
    ],
    ['an object with the same prototype', (proof) => Object.create(Object.getPrototypeOf(proof))],
    [
      'an object with the same prototype and members',
      (proof) => Object.create(Object.getPrototypeOf(proof), Object.getOwnPropertyDescriptors(proof)),
    ],
    ['an object that inherits from a proof', (proof) => Object.create(proof)],
    ['a structured clone', (proof) => structuredClone(proof)],
    ['a copy by JSON', (proof) => JSON.parse(JSON.stringify(proof))],
    ['a proxy of a proof', (proof) => new Proxy(proof, {})],
    ['an empty object', () => ({})],
    ['a function', () => () => true],
  ])('is rejected: %s', (_, forge) => {
    expect(isFreshProof(forge(minted()), at(0))).toBe(false);
  });

  test('cannot come from the constructor of a genuine proof', () => {
    const proof = minted();
    const Forge = proof.constructor as new (asked: MergeQuestion, by: string[], mintedAt: number) => object;
    const forged = new Forge(question({ pullRequest: 8 }), ['otto'], at(0).getTime());
    expect(isFreshProof(forged, at(0))).toBe(false);
  });
});

describe('a genuine proof', () => {
  test('stays bound to its head when the question object changes afterwards', () => {
    const asked = question();
    const proof = minted(asked);
    asked.headSha = 'b'.repeat(40);
    expect(proof.question).toEqual(question());
    expect(() => Object.assign(proof.question, { headSha: 'b'.repeat(40) })).toThrow(TypeError);
  });

  test('does not stay fresh if its own time is changed', () => {
    const proof = minted();
    expect(() => Object.assign(proof, { mintedAt: at(60_000).getTime() })).toThrow(TypeError);
    expect(isFreshProof(proof, at(60_000))).toBe(false);
  });

  test.each([-1, -3_600_000])('is not fresh %s ms after it was made, as after a clock was set back', (ms) => {
    expect(isFreshProof(minted(), at(ms))).toBe(false);
  });
});
