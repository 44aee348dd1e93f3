// @module-tag security

import { describe, expect, it } from 'vitest';
import {
  conflictBehindRefusal,
  conflictCriteria,
  conflictOf,
  type Mergeability,
} from '../../../src/domain/policy/conflict.ts';

const CLEAN: Mergeability = { mergeable: true, rebaseable: true, mergeableState: 'clean' };
const RESOLVE = 'conflicts with main: resolve them by merging or rebasing';
const BY_HAND = 'GitHub cannot rebase it onto main: rebase it by hand, or merge it by another method';

describe('whether a pull request conflicts', () => {
  it.each<[string, Partial<Mergeability>, 'merge' | 'squash' | 'rebase', string]>([
    ['can be merged', {}, 'squash', 'none'],
    ['is blocked by a rule', { mergeableState: 'blocked' }, 'squash', 'none'],
    ['is behind its base', { mergeableState: 'behind' }, 'merge', 'none'],
    ['cannot be merged', { mergeable: false, mergeableState: 'dirty' }, 'squash', RESOLVE],
    [
      'cannot be merged and is blocked, too',
      { mergeable: false, mergeableState: 'blocked' },
      'squash',
      RESOLVE,
    ],
    ['is dirty', { mergeable: null, mergeableState: 'dirty' }, 'merge', RESOLVE],
    [
      'is not computed yet',
      { mergeable: null, rebaseable: null, mergeableState: 'unknown' },
      'squash',
      'unknown',
    ],
    [
      'is missing in the answer',
      { mergeable: null, rebaseable: null, mergeableState: null },
      'rebase',
      'unknown',
    ],
    ['can be merged but not rebased', { rebaseable: false }, 'merge', 'none'],
    ['cannot be rebased', { rebaseable: false }, 'rebase', BY_HAND],
  ])('is known for one that %s', (_, said, method, answer) => {
    const conflict = conflictOf({ ...CLEAN, ...said }, method, 'main');
    expect(conflict.kind === 'conflict' ? conflict.says : conflict.kind).toBe(answer);
  });

  it('stays at the last known answer while GitHub computes it', () => {
    expect(conflictCriteria({ kind: 'unknown' }, false, 'main')).toEqual([]);
    expect(conflictCriteria({ kind: 'unknown' }, true, 'main')).toMatchObject([{ status: 'pending' }]);
    expect(conflictCriteria({ kind: 'conflict', says: RESOLVE }, false, 'main')).toMatchObject([
      { status: 'unmet' },
    ]);
    expect(conflictCriteria({ kind: 'none' }, true, 'main')).toEqual([]);
  });
});

describe('a refused merge', () => {
  const none = { kind: 'none' } as const;
  const unknown = { kind: 'unknown' } as const;
  const conflict = { kind: 'conflict', says: RESOLVE } as const;
  const FOUND =
    'conflicts with main, as GitHub found when it was to be merged: resolve them by merging or rebasing';

  it.each([
    ['is a conflict that GitHub shows', 'Pull Request is not mergeable', conflict, RESOLVE],
    ['is a conflict by its message alone', 'Pull Request has merge conflicts', none, FOUND],
    ['is a conflict by its message before the next test merge', 'Merge conflict', unknown, FOUND],
    ['may be a conflict', 'Pull Request is not mergeable', unknown, 'unknown'],
    ['has another cause', 'Pull Request is not mergeable', none, 'none'],
    [
      'has a cause of its own before the next test merge',
      'Required status check is expected',
      unknown,
      'none',
    ],
  ])('%s', (_, message, now, answer) => {
    const behind = conflictBehindRefusal(message, now, 'main');
    expect(behind.kind === 'conflict' ? behind.says : behind.kind).toBe(answer);
  });
});
