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
    ['nobody, where nothing is owned', ['free/x', 'other'], [], true],
    ['nobody, where something is', ['a/x'], [], false],
    ['an owner in another case', ['a/x'], [approver('ann')], true],
    ['a member of an owning team', ['a/x'], [approver('max', { teams: ['octo/core'] })], true],
    ['a member of another team', ['a/x'], [approver('max', { teams: ['octo/others'] })], false],
    ['somebody else', ['a/x'], [approver('bob')], false],
    ['an owner of one of two files', ['a/x', 'c/x'], [approver('ann')], false],
    ['owners of both', ['a/x', 'c/x'], [approver('ann'), approver('cy', { id: 7 })], true],
    ['anybody, where only an unknown address owns', ['b/x'], [approver('bob'), approver('ann')], false],
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
    ['none', [], [[], []]],
    ['an approval', [review(1, 'anna', 'approved')], [['anna'], []]],
    ['of another head', [review(1, 'anna', 'approved', { commitSha: OTHER })], [[], []]],
    ['of a forgotten head', [review(1, 'anna', 'approved', { commitSha: null })], [[], []]],
    ['taken back', [review(1, 'anna', 'approved'), review(2, 'anna', 'changes_requested')], [[], ['anna']]],
    [
      'given after all',
      [review(1, 'anna', 'changes_requested'), review(2, 'anna', 'approved')],
      [['anna'], []],
    ],
    [
      'listed out of order',
      [review(2, 'anna', 'changes_requested'), review(1, 'anna', 'approved')],
      [[], ['anna']],
    ],
    [
      'and a comment after it',
      [review(1, 'anna', 'approved'), review(2, 'anna', 'commented')],
      [['anna'], []],
    ],
    ['dismissed', [review(1, 'anna', 'approved'), review(2, 'anna', 'dismissed')], [[], []]],
    [
      'a refusal of an older head',
      [review(1, 'anna', 'changes_requested', { commitSha: OTHER })],
      [[], ['anna']],
    ],
    ['of a bot', [review(1, 'helper', 'approved', bot)], [[], []]],
    ['of the author', [review(1, 'ada', 'approved')], [[], []]],
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
      'one that is not',
      [
        { sha: OTHER, verified: false },
        { sha: HEAD, verified: true },
      ],
      false,
      false,
    ],
    ['without the head', [{ sha: OTHER, verified: true }], false, undefined],
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
    labels: [],
    author: { login: 'ada' },
    authorAssociation: 'NONE',
  };
  test.each([
    ['a branch here', 'Octo/App', false],
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
