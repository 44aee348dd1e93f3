// @module-tag security

import { describe, expect, it } from 'vitest';
import {
  type CreditedCommit,
  countersignsNeeded,
  pushersOf,
  type Unattributed,
  unattributedCommits,
  unattributedList,
  unattributedSentence,
} from '../../../src/domain/policy/authorship.ts';

const ada = { id: 1, login: 'ada' };
const webFlow = { id: 19_864_447, login: 'web-flow' };
const own: CreditedCommit = { sha: 'c1', author: ada, committer: ada, unknownAuthors: 0 };

describe('a commit is attributed to accounts', () => {
  it.each<[string, Partial<CreditedCommit>, boolean]>([
    ['with author and committer', {}, true],
    ['when GitHub itself committed it', { committer: webFlow }, true],
    ['not without an author', { author: null }, false],
    ['not without an author, although GitHub committed it', { author: null, committer: webFlow }, false],
    ['not without a committer', { committer: null }, false],
    ['not with GitHub’s own account as its author', { author: webFlow }, false],
    [
      'not with the web-flow account of an enterprise server either',
      { author: { id: 3, login: 'web-flow' } },
      false,
    ],
    ['not with a co-author without an account', { unknownAuthors: 1 }, false],
  ])('%s', (_, more, isCredited) => {
    expect(unattributedCommits([{ ...own, ...more }])).toEqual(
      isCredited ? [] : [{ lacks: 'author', sha: 'c1' }],
    );
  });
});

describe('pushersOf', () => {
  const commits = new Set(['c1', 'c2', 'c3']);
  const push = (before: string, after: string, actorId: number) => ({ before, after, actorId });
  const unknownFrom = (sha: string): Unattributed[] => [{ lacks: 'pusher', sha }];

  it.each([
    ['one push of everything', [push('base', 'c3', 1)], [1], []],
    ['a push after another', [push('base', 'c1', 1), push('c1', 'c3', 2)], [1, 2], []],
    ['a new branch', [push('0'.repeat(40), 'c3', 1)], [1], []],
    ['a force push', [push('gone', 'c3', 1), push('base', 'c1', 2)], [1, 2], []],
    ['the same commits to two branches', [push('base', 'c3', 1), push('base', 'c3', 2)], [1, 2], []],
    ['nobody', [], [], unknownFrom('c3')],
    ['only somebody before the head', [push('base', 'c1', 1)], [1], unknownFrom('c3')],
    ['only somebody after a gap', [push('c1', 'c3', 1)], [1], unknownFrom('c1')],
    ['only somebody to another place', [push('base', 'other', 1)], [], unknownFrom('c3')],
    ['a push that leads to itself', [push('c3', 'c3', 1)], [1], []],
  ] as const)('finds the pushers and the unattributed commits for %s', (_, pushes, pushers, unattributed) => {
    expect(pushersOf('c3', commits, pushes)).toEqual({ pushers, unattributed });
  });
});

describe('the number of countersigns that are needed', () => {
  const unclear = { unattributed: [{ lacks: 'author', sha: 'c1' }] } as const;
  const clear = { unattributed: [] };

  it.each([
    [1, 'one_more', clear, 1],
    [1, 'one_more', unclear, 2],
    [3, 'one_more', unclear, 4],
    [3, 'allow', unclear, 3],
    [3, 'refuse', unclear, 3],
    [2, undefined, unclear, 3],
    [0, 'allow', clear, 1],
    [1, 'one_more', undefined, 1],
  ] as const)(
    'is as its row says for count %s, unattributed: %s, commits %j: %s',
    (count, unattributed, contributors, needed) => {
      expect(countersignsNeeded({ count, ...(unattributed ? { unattributed } : {}) }, contributors)).toBe(
        needed,
      );
    },
  );
});

describe('the sentence about unattributed commits', () => {
  const of = (lacks: Unattributed['lacks'], ...shas: string[]): Unattributed[] =>
    shas.map((sha) => ({ lacks, sha: sha.repeat(40) }));

  it('names a few commits and counts the others', () => {
    expect(unattributedList(of('author', 'a'))).toBe('aaaaaaa');
    expect(unattributedList(of('author', 'a', 'b'))).toBe('aaaaaaa and bbbbbbb');
    expect(unattributedList(of('author', 'a', 'b', 'c', 'd', 'e', 'f', '1'))).toBe(
      'aaaaaaa, bbbbbbb, ccccccc, ddddddd, eeeeeee and 2 more',
    );
  });

  it('distinguishes authors from pushers', () => {
    expect(unattributedSentence([])).toBeUndefined();
    expect(unattributedSentence([...of('author', 'a'), ...of('pusher', 'b')])).toBe(
      'GitHub names no account for everybody who wrote or committed aaaaaaa, and nobody knows who pushed bbbbbbb',
    );
  });
});
