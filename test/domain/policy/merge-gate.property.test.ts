// @module-tag security

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import { NO_CONTRIBUTORS } from '../../../src/domain/policy/authorship.ts';
import {
  type CountersignRules,
  type StepApproval,
  tightened,
} from '../../../src/domain/policy/countersign-rules.ts';
import {
  isFreshProof,
  judgeMerge,
  type MergeFacts,
  type MergeQuestion,
  type Reactor,
} from '../../../src/domain/policy/merge-gate.ts';
import { at } from '../../support/builders.ts';
import { AUTHOR, facts, question, reactor, rules } from './merge-facts.ts';

/** Mostly the first value, so that enough of the generated facts allow a merge. */
function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

const PEOPLE = [AUTHOR, { id: 10, login: 'mia' }, { id: 11, login: 'Max' }, { id: 12, login: 'will' }];
const anyReactor: fc.Arbitrary<Reactor> = fc
  .record({
    person: fc.constantFrom(...PEOPLE),
    type: mostly('User', 'Bot', 'Organization'),
    content: fc.constantFrom('rocket', 'rocket', '+1', '+1', '-1', 'eyes'),
    role: fc.constantFrom('admin', 'maintain', 'maintain', 'write', 'triage', 'read', 'none', 'odd'),
    teams: mostly<string[]>([], ['acme/core'], ['acme/dbas'], ['acme/core', 'acme/dbas']),
  })
  .map(({ person, ...more }) => reactor({ ...person, ...more }));

const anyRules: fc.Arbitrary<CountersignRules> = fc
  .record({
    permission: fc.constantFrom('admin', 'maintain', 'maintain', 'write', 'none'),
    users: mostly<string[]>([], ['mia'], ['MAX', 'will']),
    teams: fc.constantFrom([], ['acme/core']),
    count: mostly(1, 2, 3),
    unattributed: fc.constantFrom('one_more', 'allow', 'refuse'),
    reject: mostly<string[]>(['-1'], []),
  })
  .map(rules);

const anyFacts: fc.Arbitrary<MergeFacts> = fc
  .record({
    comment: mostly<MergeFacts['comment']>('as_written', 'missing', 'edited', 'not_ours'),
    contributors: mostly<MergeFacts['contributors']>(
      { ...NO_CONTRIBUTORS, ids: [AUTHOR.id], logins: [AUTHOR.login] },
      undefined,
      { ...NO_CONTRIBUTORS, ids: [10] },
      { ...NO_CONTRIBUTORS, logins: ['max', 'WILL'] },
      { ...NO_CONTRIBUTORS, pushers: [10] },
      { ...NO_CONTRIBUTORS, unattributed: [{ lacks: 'author', sha: 'a'.repeat(40) }] },
    ),
    reactors: fc.array(anyReactor, { maxLength: 5 }),
    conditions: fc.array(
      mostly(
        criterion('met', 'a'),
        criterion('unmet', 'b'),
        criterion('pending', 'c'),
        criterion('unknown', 'd'),
      ),
      {
        maxLength: 2,
      },
    ),
    pausedBy: mostly<string | null>(null, 'will'),
    pullRequest: fc
      .record({
        state: mostly<'open' | 'closed'>('open', 'closed'),
        draft: mostly(false, true),
        headSha: mostly(question().headSha, 'b'.repeat(40)),
        baseRef: mostly('main', 'next'),
      })
      .map((more) => ({ ...facts().pullRequest, ...more, merged: false })),
  })
  .map(facts);

const RANKS = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

/** Invariant I1, written from the design a second time, without any code of the gate. */
function mayMerge(asked: MergeQuestion, found: MergeFacts): boolean {
  const { rules: rule } = asked;
  const known = found.contributors;
  if (known === undefined || found.comment !== 'as_written' || found.pausedBy !== null) return false;
  const { pullRequest: now } = found;
  if (now.state !== 'open' || now.draft) return false;
  if (now.headSha !== asked.headSha || now.baseRef !== asked.baseRef) return false;
  if (found.conditions.some((condition) => condition.status !== 'met')) return false;

  const names = (list: readonly string[]) => new Set(list.map((name) => name.toLowerCase()));
  const isEligible = (person: Reactor) => {
    const login = person.login.toLowerCase();
    const wrote =
      person.id === now.author.id ||
      [...known.ids, ...known.pushers].includes(person.id) ||
      names(known.logins).has(login);
    if (person.type !== 'User' || wrote) return false;
    const rank = RANKS.indexOf(person.role);
    const byRole = rule.permission !== 'none' && rank >= RANKS.indexOf(rule.permission);
    const byName =
      rank >= RANKS.indexOf('write') &&
      (names(rule.users).has(login) || person.teams.some((team) => rule.teams.includes(team)));
    return byRole || byName;
  };
  const eligible = found.reactors.filter(isEligible);
  if (eligible.some((person) => rule.reject.includes(person.content))) return false;
  const agreed = eligible
    .filter((person) => rule.approve.includes(person.content))
    .map((person) => person.id);
  const isUnclear = known.unattributed.length > 0;
  if (isUnclear && rule.unattributed === 'refuse') return false;
  const more = isUnclear && rule.unattributed !== 'allow' ? 1 : 0;
  return agreed.length > 0 && new Set(agreed).size >= rule.count + more;
}

describe('the merge gate', () => {
  test('makes a proof exactly when all of I1 holds', { tags: 'slow' }, () => {
    let merged = 0;
    fc.assert(
      fc.property(anyRules, anyFacts, (rule, found) => {
        const asked = question({ rules: rule });
        const { proof } = judgeMerge(asked, found);
        expect(proof !== undefined).toBe(mayMerge(asked, found));
        if (proof) merged++;
      }),
      { numRuns: 5_000 },
    );
    // The generator must produce merges, otherwise the property would prove little.
    expect(merged).toBeGreaterThan(300);
  });

  test('makes a proof for the approval’s own question, no older than the facts', () => {
    fc.assert(
      fc.property(anyRules, anyFacts, (rule, found) => {
        const asked = question({ rules: rule });
        const { proof, why: tree, countersignedBy } = judgeMerge(asked, found);
        expect(tree.status === 'met').toBe(proof !== undefined);
        if (!proof) return;
        expect(isFreshProof(proof, at(0))).toBe(true);
        expect(proof.question).toEqual(asked);
        expect(proof.countersignedBy).toEqual(countersignedBy);
        expect(countersignedBy.length).toBeGreaterThan(0);
      }),
      { numRuns: 1_000 },
    );
  });

  test('makes no proof from facts that contain answers by command, whoever reacted too, and counts the answers', () => {
    let went = 0;
    const speaker = fc.record({
      says: fc.constantFrom('approve' as const, 'reject' as const),
      role: fc.constantFrom(...RANKS),
    });
    fc.assert(
      fc.property(anyRules, anyFacts, fc.array(speaker, { maxLength: 2 }), (rule, found, words) => {
        const speakers = words.map((word, index) => ({
          ...reactor({ id: 50 + index, login: `s${index}` }),
          ...word,
        }));
        const asked = question({ rules: rule });
        const { proof, why: tree } = judgeMerge(asked, { ...found, speakers });
        expect(proof).toBeUndefined();
        // For a step that merges nothing, an answer by command counts as a reaction would count for a merge.
        const [yes = ''] = rule.approve;
        const [no = ''] = rule.reject;
        if (yes === '' || no === '') return;
        const asReactions = speakers.map((person) => ({
          ...person,
          content: person.says === 'approve' ? yes : no,
        }));
        const reactors = [...found.reactors, ...asReactions];
        expect(tree.status === 'met').toBe(mayMerge(asked, { ...found, reactors }));
        if (tree.status === 'met') went++;
      }),
      { numRuns: 2_000 },
    );
    expect(went).toBeGreaterThan(50);
  });

  test('voids the approval exactly when the pull request is no longer the one that was asked about', () => {
    fc.assert(
      fc.property(anyFacts, (found) => {
        const { state, draft, headSha, baseRef } = found.pullRequest;
        const asIs = state === 'open' && !draft && headSha === question().headSha && baseRef === 'main';
        expect(judgeMerge(question(), found).void).toBe(!asIs);
      }),
      { numRuns: 1_000 },
    );
  });
});

const anyStep: fc.Arbitrary<StepApproval> = fc.record(
  {
    teams: fc.constantFrom(['acme/dbas'], ['acme/core', 'acme/dbas']),
    users: fc.constantFrom(['mia'], ['max', 'will']),
    permission: fc.constantFrom('write', 'maintain', 'admin'),
    count: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);

describe('what a step asks for beside the settings', () => {
  test('never lets anything through that the settings alone would stop', () => {
    fc.assert(
      fc.property(anyRules, anyStep, anyFacts, (settings, step, found) => {
        const tight = judgeMerge(question({ rules: tightened(settings, step) }), found);
        const alone = judgeMerge(question({ rules: settings }), found);
        if (tight.proof) expect(alone.proof).toBeDefined();
        expect(tight.rejectedBy).toEqual(alone.rejectedBy);
        expect(alone.countersignedBy).toEqual(expect.arrayContaining(tight.countersignedBy));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is met by enough of the people whom it names', () => {
    let proofs = 0;
    fc.assert(
      fc.property(anyRules, anyStep, anyFacts, (settings, step, found) => {
        const { proof } = judgeMerge(question({ rules: tightened(settings, step) }), found);
        if (!proof) return;
        proofs += 1;
        expect(proof.countersignedBy.length).toBeGreaterThanOrEqual(step.count ?? 1);
        if (!step.teams && !step.users && !step.permission) return;
        for (const login of proof.countersignedBy) {
          const isWanted = found.reactors.some(
            (person) =>
              person.login === login &&
              (person.teams.some((team) => step.teams?.includes(team)) ||
                step.users?.includes(login.toLowerCase()) ||
                (step.permission && RANKS.indexOf(person.role) >= RANKS.indexOf(step.permission))),
          );
          expect(isWanted).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(proofs).toBeGreaterThan(20);
  });
});
