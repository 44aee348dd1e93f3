// @module-tag security

// Who may countersign and what a merge needs, on facts as values. The scenarios show only what this cannot: that the app reads these
// facts from GitHub (approval.test.ts, authorship.test.ts), reads them again until the merge call (attacks/races.test.ts), and cannot
// be deceived about them (attacks/people.test.ts). test/security/model checks invariant I1 on random histories, without the gate's code.

import { describe, expect, test } from 'vitest';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import { NO_CONTRIBUTORS } from '../../../src/domain/policy/authorship.ts';
import type { CountersignRules } from '../../../src/domain/policy/countersign-rules.ts';
import {
  judgeMerge,
  justAsked,
  type MergeFacts,
  type Reactor,
  sameAnswer,
} from '../../../src/domain/policy/merge-gate.ts';
import { HEAD } from '../../support/builders.ts';
import { facts, question, reactor, rules } from './merge-facts.ts';

const OTHER = 'b'.repeat(40);
const max = reactor({ id: 11, login: 'max', role: 'admin' });
const will = reactor({ id: 12, login: 'will', role: 'write' });
const otto = reactor({ id: 13, login: 'otto', role: 'read' });

function pullRequest(more: Partial<MergeFacts['pullRequest']>): Partial<MergeFacts> {
  return { pullRequest: { ...facts().pullRequest, ...more } };
}

describe('when every criterion is met', () => {
  test('one maintainer’s countersign is enough', () => {
    const decision = judgeMerge(question(), facts());
    expect(decision.proof).toMatchObject({
      question: { pullRequest: 7, headSha: HEAD, baseRef: 'main', method: 'squash' },
      countersignedBy: ['mia'],
      mintedAt: facts().readAt.getTime(),
    });
    expect(decision).toMatchObject({ countersignedBy: ['mia'], rejectedBy: [], void: false });
  });

  test('the explanation names every criterion', () => {
    const tree = judgeMerge(question(), facts()).why;
    expect(tree).toMatchObject({ status: 'met', summary: 'countersigned by mia; merging' });
    expect(tree.reasons.map((reason) => `${reason.status}: ${reason.summary}`)).toEqual([
      'met: the pull request is open',
      'met: it is not a draft',
      'met: the head is still aaaaaaa',
      'met: the base is still main',
      'met: countersigned by mia',
      'met: nobody who may countersign rejects it',
      'met: every condition of the step still holds',
      'met: not paused',
    ]);
  });
});

describe('when a criterion is not met', () => {
  test.each<[string, Partial<MergeFacts>, string, boolean]>([
    ['closed', pullRequest({ state: 'closed' }), 'not merging: the pull request is closed', true],
    [
      'merged',
      pullRequest({ state: 'closed', merged: true }),
      'not merging: the pull request is merged',
      true,
    ],
    ['a draft', pullRequest({ draft: true }), 'not merging: the pull request is a draft', true],
    [
      'another head',
      pullRequest({ headSha: OTHER }),
      'not merging: the head moved from aaaaaaa to bbbbbbb',
      true,
    ],
    [
      'another base',
      pullRequest({ baseRef: 'next' }),
      'not merging: the base changed from main to next',
      true,
    ],
    ['nobody', { reactors: [] }, 'not merging: nobody has countersigned yet', false],
    [
      'the comment is gone',
      { comment: 'missing' },
      'not merging: the approval comment is gone, so nobody can countersign',
      false,
    ],
    [
      'the comment was edited',
      { comment: 'edited' },
      'not merging: somebody edited the approval comment, so its reactions do not count',
      false,
    ],
    [
      'the comment is not ours',
      { comment: 'not_ours' },
      'not merging: the comment is not the one this app wrote, so its reactions do not count',
      false,
    ],
    [
      'somebody rejects',
      { reactors: [reactor(), { ...max, content: '-1' }] },
      'not merging: rejected by max',
      false,
    ],
    [
      'a condition no longer holds',
      { conditions: [criterion('met', 'fine'), criterion('unmet', 'ci: 1 of 2 checks failed: test')] },
      'not merging: ci: 1 of 2 checks failed: test',
      false,
    ],
    [
      'a condition is unknown',
      { conditions: [criterion('unknown', 'GitHub did not say whether CI passed')] },
      'not merging: GitHub did not say whether CI passed',
      false,
    ],
    [
      'a condition is pending',
      { conditions: [criterion('pending', 'CI is at work')] },
      'not merging: CI is at work',
      false,
    ],
    [
      'contributors are unknown',
      { contributors: undefined },
      'not merging: nobody has countersigned yet',
      false,
    ],
    ['paused', { pausedBy: 'will' }, 'not merging: paused by will; `/countersign resume` goes on', false],
  ])('the gate makes no proof: %s', (_, more, summary, isVoid) => {
    const decision = judgeMerge(question(), facts(more));
    expect(decision.proof).toBeUndefined();
    expect(decision.why.summary).toBe(summary);
    expect(decision.why.status).not.toBe('met');
    expect(decision.void).toBe(isVoid);
  });

  test('the explanation still names all the others', () => {
    const tree = judgeMerge(
      question(),
      facts({ ...pullRequest({ draft: true }), reactors: [], pausedBy: 'will' }),
    ).why;
    expect(tree.reasons.filter((reason) => reason.status !== 'met').map((reason) => reason.summary)).toEqual([
      'the pull request is a draft',
      'nobody has countersigned yet',
      'paused by will; `/countersign resume` goes on',
    ]);
  });
});

describe('whose reaction counts', () => {
  const because = (
    person: Reactor,
    more: Partial<MergeFacts> = {},
    with_: Partial<CountersignRules> = {},
  ) => {
    const decision = judgeMerge(question({ rules: rules(with_) }), facts({ reactors: [person], ...more }));
    const detail = decision.why.reasons.find((reason) => reason.reasons.length > 0)?.reasons[0]?.summary;
    return { merges: decision.proof !== undefined, detail };
  };
  const counts = (login: string) => ({ merges: true, detail: `${login} may countersign and did` });
  const not = (login: string, why_: string) => ({ merges: false, detail: `${login} reacted, but ${why_}` });
  const wrote = 'wrote or co-wrote some of the commits';

  test.each<[string, Reactor, Partial<MergeFacts>, object]>([
    ['the author does not', reactor({ id: 1, login: 'ada' }), {}, not('ada', 'wrote this pull request')],
    [
      'the author does not, under a new name',
      reactor({ id: 1, login: 'lovelace' }),
      {},
      not('lovelace', 'wrote this pull request'),
    ],
    [
      'a committer known by id does not',
      reactor(),
      { contributors: { ...NO_CONTRIBUTORS, ids: [10] } },
      not('mia', wrote),
    ],
    [
      'a co-author known only by name does not',
      reactor(),
      { contributors: { ...NO_CONTRIBUTORS, logins: ['mia'] } },
      not('mia', wrote),
    ],
    [
      'a co-author whose name is written in another case does not',
      reactor({ login: 'Mia' }),
      { contributors: { ...NO_CONTRIBUTORS, logins: ['mIA'] } },
      not('Mia', wrote),
    ],
    [
      'nobody does when not all contributors are known',
      reactor(),
      { contributors: undefined },
      not('mia', 'could have written some of the commits: not all authors are known'),
    ],
    [
      'a bot does not, whatever its role',
      reactor({ type: 'Bot', role: 'admin' }),
      {},
      not('mia', 'is not a person'),
    ],
    ['an organisation does not', reactor({ type: 'Organization' }), {}, not('mia', 'is not a person')],
    ['an unknown type of account does not', reactor({ type: '' }), {}, not('mia', 'is not a person')],
    ['a person does although the name ends like a bot’s', reactor({ login: 'talbot' }), {}, counts('talbot')],
    ['an outsider does not', otto, {}, not('otto', 'has read access')],
    ['somebody with a lower role does not', will, {}, not('will', 'has write access')],
    ['somebody with a higher role does', max, {}, counts('max')],
    [
      'somebody with an unknown role does not',
      reactor({ role: 'release-captain' }),
      {},
      not('mia', 'has release-captain access'),
    ],
    [
      'somebody with a role named like a member of every object does not',
      reactor({ role: 'constructor' }),
      {},
      not('mia', 'has constructor access'),
    ],
  ])('%s', (_, person, more, expected) => {
    expect(because(person, more)).toEqual(expected);
  });

  const roles = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];
  test.each([
    ['write', ['write', 'maintain', 'admin']],
    ['maintain', ['maintain', 'admin']],
    ['admin', ['admin']],
    ['none', []],
  ] as const)('permission: %s admits by role alone: %j', (permission, expected) => {
    const allowed = roles.filter((role) => because(reactor({ role }), {}, { permission }).merges);
    expect(allowed).toEqual(expected);
  });

  test.each([
    ['a named user with write access', { users: ['WILL'] }, will, counts('will')],
    [
      'a named user without write access',
      { users: ['otto'] },
      otto,
      not('otto', 'is named in the settings with only read access, where write is needed'),
    ],
    [
      'a member of a named team with write access',
      { teams: ['acme/core'] },
      { ...will, teams: ['acme/core'] },
      counts('will'),
    ],
    [
      'a member of a named team without write access',
      { teams: ['acme/core'] },
      { ...otto, role: 'triage', teams: ['acme/core'] },
      not('otto', 'is named in the settings with only triage access, where write is needed'),
    ],
    ['somebody who is not named', { users: ['zoe'] }, will, not('will', 'has write access')],
    ['a named user if roles do not count', { permission: 'none', users: ['will'] }, will, counts('will')],
  ] as const)('the rules decide about %s', (_, with_, person, expected) => {
    expect(because(person, {}, with_)).toEqual(expected);
  });

  test('a named user who wrote a commit may not countersign', () => {
    const more = { contributors: { ...NO_CONTRIBUTORS, ids: [12] } };
    expect(because(will, more, { users: ['will'] })).toEqual(not('will', wrote));
  });
});

describe('the number of countersigns', () => {
  const two = question({ rules: rules({ count: 2 }) });

  test.each<[string, Reactor[], string]>([
    ['none', [], 'not merging: nobody has countersigned yet'],
    ['one', [reactor()], 'not merging: 1 of 2 countersigns given'],
    [
      'one person with two reactions',
      [reactor(), reactor({ content: '+1' })],
      'not merging: 1 of 2 countersigns given',
    ],
    ['one who counts and one who does not', [reactor(), otto], 'not merging: 1 of 2 countersigns given'],
    ['two', [reactor(), max], 'countersigned by mia, max; merging'],
    ['three', [reactor(), max, reactor({ id: 14, login: 'zoe' })], 'countersigned by mia, max, zoe; merging'],
  ])('may be reached or not by %s of two', (_, reactors, summary) => {
    const decision = judgeMerge(two, facts({ reactors }));
    expect(decision.why.summary).toBe(summary);
    expect(decision.proof !== undefined).toBe(summary.endsWith('merging'));
  });

  test.each([0, -1])('is at least one, even if the settings say %s', (count) => {
    expect(judgeMerge(question({ rules: rules({ count }) }), facts({ reactors: [] })).proof).toBeUndefined();
    expect(judgeMerge(question({ rules: rules({ count }) }), facts()).proof).toBeDefined();
  });
});

describe('a reaction', () => {
  test.each([
    ['rocket', true],
    ['+1', true],
    ['heart', false],
    ['eyes', false],
    ['-1', false],
  ])('%s of a maintainer merges: %s', (content, merges) => {
    const decision = judgeMerge(question(), facts({ reactors: [reactor({ content })] }));
    expect(decision.proof !== undefined).toBe(merges);
  });

  test('that rejects prevents the merge, also beside an approving reaction of the same person', () => {
    const decision = judgeMerge(question(), facts({ reactors: [reactor(), reactor({ content: '-1' })] }));
    expect(decision).toMatchObject({
      proof: undefined,
      countersignedBy: ['mia'],
      rejectedBy: [{ login: 'mia' }],
    });
  });

  test.each([
    ['the author', reactor({ id: 1, login: 'ada', content: '-1' })],
    ['an outsider', { ...otto, content: '-1' }],
    ['a bot', reactor({ id: 99, login: 'helper', type: 'Bot', content: '-1' })],
  ])('that rejects does not count from %s', (_, person) => {
    const decision = judgeMerge(question(), facts({ reactors: [reactor(), person] }));
    expect(decision.rejectedBy).toEqual([]);
    expect(decision.proof).toBeDefined();
  });
});

describe('a person who rejected this head before', () => {
  const mia = { id: 2, login: 'mia' };
  test.each([
    ['prevents the merge while only somebody else countersigns', [reactor({ id: 3, login: 'max' })], false],
    ['prevents the merge if another account has their login now', [reactor({ id: 3, login: 'mia' })], false],
    ['prevents nothing once they countersign themselves', [reactor({ ...mia, login: 'mia-renamed' })], true],
  ])('%s', (_, reactors, merges) => {
    const decision = judgeMerge(question(), facts({ reactors, rejectedBefore: [mia] }));
    expect(decision.proof !== undefined).toBe(merges);
  });
});

describe('the answers of two polls', () => {
  const answer = (more: Partial<MergeFacts>, with_: Partial<CountersignRules> = {}) =>
    judgeMerge(question({ rules: rules(with_) }), facts(more)).why;
  const nobody = answer({ reactors: [] });

  test.each<[string, ReturnType<typeof answer> | null, boolean]>([
    ['the approval as it was opened', justAsked({ merges: true }), true],
    ['a poll that found the same', answer({ reactors: [] }), true],
    [
      'a poll that found the same, with more conditions that hold',
      answer({ reactors: [], conditions: [] }),
      true,
    ],
    ['no look', null, false],
    ['a poll of a paused pull request', answer({ reactors: [], pausedBy: 'will' }), false],
    ['a poll that found a reaction which does not count', answer({ reactors: [otto] }), false],
    ['a poll that found everything it needs', answer({}), false],
  ])('%s and a poll that finds nobody are the same: %s', (_, before, same) => {
    expect(sameAnswer(before, nobody)).toBe(same);
  });

  test('differ when the first of two countersigns arrives beside a reaction that does not count', () => {
    const before = answer({ reactors: [otto] }, { count: 2 });
    expect(sameAnswer(before, answer({ reactors: [otto, reactor()] }, { count: 2 }))).toBe(false);
  });
});

describe('a step that asks for particular people', () => {
  const dbas: CountersignRules = {
    ...rules({ teams: ['acme/core'] }),
    count: 2,
    step: { teams: ['acme/dbas'], count: 2 },
  };
  const dba = (id: number, login: string, role = 'maintain') =>
    reactor({ id, login, role, teams: ['acme/dbas'] });

  test('is met by two of them', () => {
    const decision = judgeMerge(
      question({ rules: dbas }),
      facts({ reactors: [dba(20, 'dora'), dba(21, 'dan')] }),
    );
    expect(decision.proof?.countersignedBy).toEqual(['dora', 'dan']);
  });

  test('says whom it waits for, and why another countersign does not count', () => {
    const { proof, why } = judgeMerge(
      question({ rules: dbas }),
      facts({ reactors: [dba(20, 'dora'), reactor()] }),
    );
    expect(proof).toBeUndefined();
    expect(why.summary).toBe(
      'not merging: 1 of 2 countersigns given; this step asks for 2, each by a member of acme/dbas',
    );
    expect(why.reasons.flatMap(({ reasons }) => reasons.map(({ summary }) => summary))).toContain(
      'mia reacted, but this step asks for a member of acme/dbas',
    );
  });

  test('does not let anybody countersign whom the settings do not', () => {
    const { proof, why } = judgeMerge(
      question({ rules: dbas }),
      facts({ reactors: [dba(20, 'dora', 'write'), dba(21, 'dan', 'write')] }),
    );
    expect(proof).toBeUndefined();
    expect(why.reasons.flatMap(({ reasons }) => reasons.map(({ summary }) => summary))).toContain(
      'dora reacted, but has write access',
    );
  });

  test('is rejected by anybody who may countersign by the settings', () => {
    const reactors = [dba(20, 'dora'), dba(21, 'dan'), reactor({ content: '-1' })];
    expect(judgeMerge(question({ rules: dbas }), facts({ reactors }))).toMatchObject({
      proof: undefined,
      rejectedBy: [{ login: 'mia' }],
    });
  });

  test('lets somebody whom it does not name take back their rejection', () => {
    const rejectedBefore = [{ id: 10, login: 'mia' }];
    const both = [dba(20, 'dora'), dba(21, 'dan')];
    const judged = (reactors: Reactor[]) =>
      judgeMerge(question({ rules: dbas }), facts({ reactors, rejectedBefore }));
    expect(judged(both).proof).toBeUndefined();
    expect(judged([...both, reactor()]).proof).toBeDefined();
  });
});

describe('a question that asks for an approving review, too', () => {
  const reviewer = ({ content: _, ...person }: Reactor) => person;
  const judged = (
    approvingReviews: MergeFacts['approvingReviews'],
    more: Partial<MergeFacts> = {},
    asks: Partial<CountersignRules> = { review: 'required' },
  ) =>
    judgeMerge(
      question({ rules: rules(asks) }),
      facts({ ...(approvingReviews && { approvingReviews }), ...more }),
    );
  const by = (...people: Reactor[]) => ({ known: true, by: people.map(reviewer) }) as const;
  const MISSING = 'not merging: nobody who may countersign has approved aaaaaaa in a review on GitHub yet';

  test.each<[string, MergeFacts['approvingReviews'], Partial<MergeFacts>, string]>([
    ['nobody approves in a review', by(), {}, MISSING],
    ['only somebody who may not countersign approves', by(will, otto), {}, MISSING],
    ['only the author approves', by(reactor({ id: 1, login: 'ada' })), {}, MISSING],
    [
      'only somebody who wrote a commit approves',
      by(max),
      { contributors: { ids: [11], logins: ['max'], pushers: [], unattributed: [] } },
      MISSING,
    ],
    ['only a bot approves', by(reactor({ id: 9, type: 'Bot' })), {}, MISSING],
    [
      'it is unknown who wrote the commits',
      by(max),
      { contributors: undefined },
      'nobody has countersigned yet',
    ],
    [
      'the reviews are unknown',
      { known: false, because: 'there are too many' },
      {},
      'not merging: it is not known whether a review approves aaaaaaa: there are too many',
    ],
    [
      'the reviews were not read',
      undefined,
      {},
      'not merging: it is not known whether a review approves aaaaaaa: the reviews were not read',
    ],
    [
      'somebody approves in a review and nobody reacts',
      by(max),
      { reactors: [] },
      'nobody has countersigned yet',
    ],
  ])('has no proof if %s', (_, approvingReviews, more, because) => {
    const { proof, why } = judged(approvingReviews, more);
    expect(proof).toBeUndefined();
    expect(why.summary).toContain(because);
  });

  test.each<[string, Partial<CountersignRules>]>([
    ['the settings', { review: 'required' }],
    ['the step', { step: { review: 'required' } }],
    ['the step, whatever the settings say', { review: 'optional', step: { review: 'required' } }],
  ])('of %s is granted with both, also by one person', (_, asks) => {
    expect(judged(by(reactor()), {}, asks).proof).toBeDefined();
    expect(judged(by(), {}, asks).proof).toBeUndefined();
  });

  test('is not granted by an approving review of somebody whom the step does not ask for', () => {
    const asks: Partial<CountersignRules> = { review: 'required', step: { users: ['mia'] } };
    expect(judged(by(max), {}, asks).proof).toBeUndefined();
    expect(judged(by(reactor()), {}, asks).proof).toBeDefined();
  });

  test('does not concern other questions', () => {
    expect(judged(by(), {}, {}).proof).toBeDefined();
  });
});
