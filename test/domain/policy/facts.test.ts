// @module-tag security

import { describe, expect, test } from 'vitest';
import { parseCodeowners } from '../../../src/domain/policy/facts/codeowners.ts';
import {
  commitsFacts,
  filesFacts,
  type ListedFile,
  pullRequestFacts,
} from '../../../src/domain/policy/facts/fact.ts';
import { ownedPaths, ownersApprove, teamsOf } from '../../../src/domain/policy/facts/ownership.ts';
import { type Review, reviewFacts, standingReviews } from '../../../src/domain/policy/facts/reviews.ts';

const HEAD = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

describe('the fact about code owners', () => {
  const codeowners = parseCodeowners(
    '/a/ @Ann @octo/core\n/b/ bob@example.org\n/c/ 7+cy@users.noreply.github.com\n/free/\n',
  );
  const approver = (login: string, more: { id?: number; teams?: string[] } = {}) => ({
    id: 1,
    teams: [],
    login,
    ...more,
  });
  test.each([
    ['is met by nobody if nobody owns the files', ['free/x', 'other'], [], true],
    ['is not met by nobody if somebody owns them', ['a/x'], [], false],
    ['is met by an owner in another case', ['a/x'], [approver('ann')], true],
    ['is met by a member of an owning team', ['a/x'], [approver('max', { teams: ['octo/core'] })], true],
    ['is not met by a member of another team', ['a/x'], [approver('max', { teams: ['octo/others'] })], false],
    ['is not met by somebody else', ['a/x'], [approver('bob')], false],
    ['is not met by an owner of one of two files', ['a/x', 'c/x'], [approver('ann')], false],
    [
      'is met by the owners of both files',
      ['a/x', 'c/x'],
      [approver('ann'), approver('cy', { id: 7 })],
      true,
    ],
    [
      'is not met if only an unknown address owns the files',
      ['b/x'],
      [approver('bob'), approver('ann')],
      false,
    ],
  ])('%s', (_, paths, approvers, approved) => {
    expect(ownersApprove(ownedPaths(paths, codeowners), approvers, [])).toMatchObject({ value: approved });
  });

  test('needs one read per team, whatever the case of its name', () => {
    const owned = ownedPaths(['x', 'y'], parseCodeowners('x @Octo/core\ny @octo/core @octo/more'));
    expect(teamsOf(owned)).toEqual(['octo/core', 'octo/more']);
  });
});

describe('the facts about reviews', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 9, minute));
  const review = (id: number, login: string, state: Review['state'], more: Partial<Review> = {}): Review => ({
    id,
    person: { id: login.length, login, type: 'User' },
    state,
    commitSha: HEAD,
    submittedAt: at(id),
    ...more,
  });
  const bot = { person: { id: 99, login: 'helper', type: 'Bot' } };
  const facts = (reviews: Review[]) => {
    const { approvals, changes_requested: refusals } = reviewFacts(
      standingReviews(reviews, 'ada'.length),
      HEAD,
    );
    return [approvals?.known && approvals.value, refusals?.known && refusals.value];
  };
  test.each([
    ['are empty without a review', [], [[], []]],
    ['include an approval', [review(1, 'anna', 'approved')], [['anna'], []]],
    ['do not count for another head', [review(1, 'anna', 'approved', { commitSha: OTHER })], [[], []]],
    ['do not count for a forgotten head', [review(1, 'anna', 'approved', { commitSha: null })], [[], []]],
    [
      'do not count once the reviewer requests changes',
      [review(1, 'anna', 'approved'), review(2, 'anna', 'changes_requested')],
      [[], ['anna']],
    ],
    [
      'count when an approval follows a request for changes',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'approved')],
      [['anna'], []],
    ],
    [
      'are ordered by time',
      [review(2, 'anna', 'changes_requested'), review(1, 'anna', 'approved')],
      [[], ['anna']],
    ],
    [
      'are not changed by a later comment',
      [review(1, 'anna', 'approved'), review(2, 'anna', 'commented')],
      [['anna'], []],
    ],
    [
      'do not count once dismissed',
      [review(1, 'anna', 'approved'), review(2, 'anna', 'dismissed')],
      [[], []],
    ],
    [
      'keep a request for changes on an older head',
      [review(1, 'anna', 'changes_requested', { commitSha: OTHER })],
      [[], ['anna']],
    ],
    ['do not count from a bot', [review(1, 'helper', 'approved', bot)], [[], []]],
    ['do not count from the author', [review(1, 'ada', 'approved')], [[], []]],
  ])('%s', (_, reviews, expected) => {
    expect(facts(reviews)).toEqual(expected);
  });
});

describe('the facts about lists', () => {
  const file = (path: string, more: Partial<ListedFile> = {}): ListedFile => ({
    path,
    status: 'modified',
    additions: 2,
    deletions: 1,
    headSha: HEAD,
    ...more,
  });
  test('count files, and list a renamed file under both names', () => {
    const files = [file('a'), file('b', { previousPath: 'old/b', status: 'renamed' })];
    expect(filesFacts({ files, truncated: false }, HEAD)).toEqual({
      changed_paths: { known: true, value: ['a', 'b', 'old/b'] },
      changed_files: { known: true, value: 2 },
      additions: { known: true, value: 4 },
      deletions: { known: true, value: 2 },
    });
  });

  test.each([
    ['cut off', { files: [file('a')], truncated: true }, true],
    ['of another head', { files: [file('a', { headSha: OTHER })], truncated: false }, false],
  ])('are unknown if the files are %s', (_, list, lasting) => {
    for (const fact of Object.values(filesFacts(list, HEAD)))
      expect(fact).toMatchObject({ known: false, lasting });
  });

  test.each([
    ['all verified', [{ sha: HEAD, verified: true }], false, true],
    [
      'one that is not verified',
      [
        { sha: OTHER, verified: false },
        { sha: HEAD, verified: true },
      ],
      false,
      false,
    ],
    ['a list without the head', [{ sha: OTHER, verified: true }], false, undefined],
    ['cut off', [{ sha: HEAD, verified: true }], true, undefined],
    ['empty', [], false, undefined],
  ])('about commits are as expected with %s', (_, commits, truncated, signed) => {
    const fact = commitsFacts({ commits, truncated }, HEAD).signed;
    expect(fact?.known ? fact.value : undefined).toBe(signed);
  });
});

describe('the facts about the pull request itself', () => {
  const pull = {
    headSha: HEAD,
    headRef: 'x',
    headRepository: 'Octo/App',
    baseRef: 'main',
    draft: false,
    mergeable: true,
    labels: [],
    author: { login: 'ada' },
    authorAssociation: 'NONE',
  };
  test.each([
    ['a branch of the repository', 'Octo/App', false],
    ['a fork', 'ada/app', true],
    ['a fork that was deleted', null, true],
  ])('say whether it comes from a fork: %s', (_, headRepository, fork) => {
    expect(pullRequestFacts({ ...pull, headRepository }, HEAD, 'octo/app').fork).toEqual({
      known: true,
      value: fork,
    });
  });

  test('are unknown to a run whose head is no longer the pull request’s head', () => {
    const facts = Object.values(pullRequestFacts({ ...pull, headSha: OTHER }, HEAD, 'octo/app'));
    expect(facts.map(({ known }) => known)).toEqual(facts.map(() => false));
  });
});
