// @module-tag security

import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { parseSettings } from '../../../src/domain/chain/settings.ts';
import { FAILURE_POLICIES, type FailurePolicy, type GateCriterion } from '../../../src/domain/gate/gate.ts';
import { gatesOf, mandatoryGates } from '../../../src/domain/gate/placed.ts';
import { type Facts, known, unknown } from '../../../src/domain/policy/facts/fact.ts';
import { factsFor } from '../../../src/domain/policy/gate/criterion.ts';
import { question } from '../../../src/domain/policy/gate/judge.ts';
import {
  blocks,
  conditionOf,
  unjudged,
  verdictCriterion,
  verdictOf,
} from '../../../src/domain/policy/gate/verdict.ts';
import { errorsOf } from '../../support/chains.ts';

const NOW = new Date('2026-03-02T09:00:00Z');
const expression = (text: string): GateCriterion => ({ kind: 'expression', id: 'it', if: text });
const judge = (criterion: GateCriterion, facts: Facts = {}, context = {}) =>
  question(criterion, { facts, context: { steps: {}, trigger: {}, repo: {}, ...context }, now: NOW }).judge();

describe('a criterion', () => {
  const FACTS: Facts = {
    additions: known(12),
    labels: known(['ready']),
    draft: known(false),
    approvals: known([]),
    signed: known(false, 'not verified: abc1234'),
    commits: unknown('GitHub lists at most 250 commits, and there may be more', true),
    association: unknown('GitHub refuses to tell'),
    codeowners_approved: known(false, 'no owner approves a.ts (ann)'),
  };
  test.each<[string, boolean, string, boolean]>([
    ['pr.additions < 20', true, 'pr.additions is 12', false],
    ['pr.additions < 10', false, 'pr.additions is 12', false],
    ["'ready' in pr.labels", true, 'pr.labels is ["ready"]', false],
    ["'done' in pr.labels", false, 'pr.labels is ["ready"]', true],
    ['pr.draft', false, 'pr.draft is false', true],
    ['not pr.draft', true, 'pr.draft is false', false],
    ['pr.signed', false, 'pr.signed is false (not verified: abc1234)', false],
    [
      'pr.commits < 3',
      false,
      'pr.commits is not known: GitHub lists at most 250 commits, and there may be more',
      false,
    ],
    [
      'not pr.commits',
      false,
      'pr.commits is not known: GitHub lists at most 250 commits, and there may be more',
      false,
    ],
    ['pr.association is none', false, 'pr.association is not known: GitHub refuses to tell', true],
    ['pr.draft or pr.author != "x"', false, 'pr.author is not known: it was not read', true],
    ['steps.ci.outcome.passed', false, 'steps.ci.outcome.passed is nothing', false],
    ['not steps.ci.outcome.passed', false, 'steps.ci.outcome.passed is nothing', false],
    ['pr.additions', false, 'pr.additions is 12', false],
    ['true', true, '', false],
  ])('passes as its row says: %s: %s', (text, passed, evidence, mayChange) => {
    expect(judge(expression(text), FACTS)).toMatchObject({ passed, evidence, may_change: mayChange });
  });

  test('is described in its author’s words', () => {
    const criterion = { kind: 'expression', id: 'it', if: '{{ pr.draft }}', because: 'Drafts only' } as const;
    expect(judge(criterion, FACTS).description).toBe('Drafts only');
    expect(judge(expression('{{ pr.draft }}'), FACTS).description).toBe('pr.draft');
  });

  test('of code owners can still change, because they can still approve', () => {
    expect(judge({ kind: 'codeowners', id: 'it' }, FACTS)).toMatchObject({
      passed: false,
      evidence: 'no owner approves a.ts (ann)',
      may_change: true,
    });
    expect(judge({ kind: 'codeowners', id: 'it' }, {})).toMatchObject({ passed: false });
  });

  test('of a freeze can still change, because a freeze ends', () => {
    const freeze = { from: '08:00', until: '10:00', reason: 'Release day' };
    expect(judge({ kind: 'freeze', id: 'it', freeze })).toMatchObject({
      passed: false,
      description: 'no freeze: Release day',
      evidence: 'frozen until 10:00 (UTC)',
      may_change: true,
    });
    expect(judge({ kind: 'freeze', id: 'it', freeze: { ...freeze, until: '09:00' } })).toMatchObject({
      passed: true,
    });
  });

  test('needs exactly the facts that it names', () => {
    const criteria = [expression("pr.draft and 'a' in pr.labels"), { kind: 'codeowners', id: 'o' } as const];
    const gate = { kind: 'criteria', id: 'g', on_failure: 'block', criteria } as const;
    expect(factsFor([{ ...gate, criteria: [...criteria] }])).toEqual([
      'draft',
      'labels',
      'codeowners_approved',
    ]);
  });
});

describe('a gate', () => {
  const placed = (policy: FailurePolicy) =>
    ({
      gate: { kind: 'criteria', id: 'g', on_failure: policy, criteria: [expression('true')] },
      scope: 'step',
      at: 'pre',
    }) as const;
  const verdict = (policy: FailurePolicy, passed: boolean) => {
    const one = placed(policy);
    return verdictOf(
      { ...one, gate: { ...one.gate, criteria: [...one.gate.criteria] } },
      'merge',
      [{ id: 'it', description: 'it holds', passed, evidence: 'seen', may_change: false }],
      'sha256:0',
    );
  };
  test.each<[FailurePolicy, boolean, boolean, string, string]>([
    ['block', true, false, 'met', 'met'],
    ['block', false, true, 'unmet', 'unmet'],
    ['warn', false, false, 'met', 'met'],
    ['degrade', false, false, 'unmet', 'unmet'],
    ['require_human', false, false, 'met', 'pending'],
  ])(
    'with on_failure: %s, passed %s, blocks: %s; for a merge %s, otherwise %s',
    (policy, passed, isBlock, merge, other) => {
      const found = verdict(policy, passed);
      expect(blocks(found)).toBe(isBlock);
      expect(conditionOf(found).status).toBe(merge);
      expect(verdictCriterion(found).status).toBe(other);
    },
  );

  test('without criteria does not pass', () => {
    const one = placed('block');
    expect(verdictOf({ ...one, gate: { ...one.gate, criteria: [] } }, 'x', [], 'h').gate_passed).toBe(false);
  });

  test.each(FAILURE_POLICIES)('with on_failure: %s blocks if judging it throws', (policy) => {
    const one = placed(policy);
    const found = unjudged({ ...one, gate: { ...one.gate, criteria: [] } }, 'merge', 'it broke', 'h');
    expect([blocks(found), conditionOf(found).status]).toEqual([true, 'unmet']);
  });
});

describe('the gates of the organisation and the repository', () => {
  const gate = (id: string) => ({ id, criteria: [{ id: 'c', if: 'true' }], on_failure: 'block' as const });
  const step = (name: string, own?: string) => ({
    uses: { name },
    ...(own === undefined ? {} : { gates: { pre: [], post: [] } }),
  });
  const mandatory = mandatoryGates(
    [
      { uses: 'gh-merge', pre: [gate('a')] },
      { uses: '*', post: [gate('b')] },
    ],
    [{ uses: 'gh-merge', pre: [gate('a')] }],
  );
  const names = (uses: string, isMerge: boolean) => {
    const { pre, post } = gatesOf(step(uses), mandatory, isMerge);
    return [...pre, ...post].map(({ gate: { id }, scope, at }) => `${scope} ${at} ${id}`);
  };

  test('both apply, also with the same id', () => {
    expect(names('gh-merge', true)).toEqual(['organisation pre a', 'repository pre a']);
  });

  test('apply to every use, but not after a merge', () => {
    expect(names('gh-label', false)).toEqual(['organisation post b']);
  });
});

describe('the parser of gates', () => {
  const chain = (gates: string, uses = 'action: gh-label, with: { labels: [x] }') => `name: a
trigger: { event: pr.opened }
steps:
  - skill: ci
  - { id: act, ${uses}, requires_approval: true, gates: ${gates} }
`;
  test.each<[string, string, string[]]>([
    ['no place', '{}', ['gates stand before the step (pre) or after it (post)']],
    ['nothing asked', '{ pre: [{ id: g }] }', ['a gate needs criteria or a skill']],
    [
      'a gate with both criteria and a skill',
      '{ pre: [{ id: g, skill: ci, criteria: [{ id: c, if: "true" }] }] }',
      ['a gate has either criteria or a skill, not both'],
    ],
    ['an unknown skill', '{ pre: [{ id: g, skill: cy }] }', ['there is no skill "cy"']],
    [
      'an unknown policy',
      '{ pre: [{ id: g, skill: ci, on_failure: blok }] }',
      ['"on_failure" cannot be "blok": did you mean "block"?'],
    ],
    [
      'errors in criteria of all kinds',
      '{ pre: [{ id: g, criteria: [{ id: a }, { id: b, if: "pr.lables" }, { id: c, if: "pr" }, { id: d, because: x, codeowners: approved }, { id: d, if: "1", freeze: { from: "1", until: "2", reason: x } }] }] }',
      [
        'a criterion asks something: if, codeowners, freeze',
        'a pull request has no "lables": did you mean "labels"?',
        'name the fact, such as pr.labels',
        '"because" goes with "if"',
        'the id "d" is used here twice',
        'a criterion asks one thing',
      ],
    ],
    [
      'an outcome that is not available yet',
      '{ pre: [{ id: g, criteria: [{ id: c, if: "steps.act.outcome.passed" }] }] }',
      ['the step "act" does not come before this one'],
    ],
    [
      'an id that is used at two places',
      '{ pre: [{ id: g, skill: ci }], post: [{ id: g, skill: ci }] }',
      ['the id "g" is used here twice'],
    ],
  ])('reports %s', (_, gates, expected) => {
    const said = errorsOf(chain(gates)).join('\n');
    for (const sentence of expected) expect(said).toContain(sentence);
  });

  test('allows no gate after a merge, and none that degrades a merge', () => {
    const said = errorsOf(
      chain(
        '{ pre: [{ id: a, skill: ci, on_failure: degrade }], post: [{ id: b, skill: ci }] }',
        'action: gh-merge',
      ),
    );
    expect(said).toEqual([
      expect.stringContaining('gh-merge cannot be degraded'),
      expect.stringContaining('gh-merge cannot have gates after it'),
    ]);
  });

  test('allows a gate after a step to read the outcome of that step', () => {
    expect(
      errorsOf(chain('{ post: [{ id: g, criteria: [{ id: c, if: "steps.act.outcome.passed" }] }] }')),
    ).toEqual([]);
  });

  test('allows facts of the pull request in gates only', () => {
    const text = chain('{ pre: [{ id: g, skill: ci }] }').replace(
      'id: act,',
      'id: act, condition: "pr.draft",',
    );
    expect(errorsOf(text)).toEqual([expect.stringContaining('"pr" is not known here')]);
  });

  test('reports unknown names and repeated ids in settings', () => {
    const text = `gates:
  - { uses: gh-labl, pre: [{ id: g, skill: ci }] }
  - { uses: "*", post: [{ id: g, skill: ci }] }
`;
    const known = { skills: ['ci'], actions: ['gh-label'] };
    expect(parseSettings(text, 's.yml', known).diagnostics.map(formatDiagnostic)).toEqual([
      's.yml:2:13: there is no skill or action "gh-labl": did you mean "gh-label"? Allowed: ci, gh-label, *',
      's.yml:3:31: the id "g" is used here twice',
    ]);
  });
});
