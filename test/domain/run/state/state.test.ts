import { describe, expect, test } from 'vitest';
import { defaultSettings } from '../../../../src/domain/chain/settings.ts';
import { compileExpression, evaluateCondition } from '../../../../src/domain/expression/condition.ts';
import { cognitiveStateSchema } from '../../../../src/domain/expression/state-schema.ts';
import type { Slot } from '../../../../src/domain/expression/state-slot.ts';
import { conditionContext, memoryOf } from '../../../../src/domain/run/context.ts';
import { foldHints } from '../../../../src/domain/run/state/hints.ts';
import { check, finding, makeCi, makeReview } from '../../../messages/builders.ts';
import { chain, chainOfSteps, ciOutcome, reviewOutcome } from '../../../support/builders.ts';
import { errorsOf, withSteps } from '../../../support/chains.ts';
import { Player } from '../player.ts';

const PRODUCES: Record<string, Slot[]> = {
  'pr-review': ['evidence', 'risks', 'uncertainties', 'decisions'],
  ci: ['evidence', 'risks', 'uncertainties'],
};

/** A run of these steps, whose skills have the outcomes of the shipped ones. */
function play(...steps: string[]): Player {
  return Player.started(foldHints(chainOfSteps(...steps), ({ uses }) => PRODUCES[uses.name] ?? []));
}

const risky = makeReview({
  findings: [finding({ severity: 'medium' })],
  verdict: 'APPROVE_WITH_SUGGESTIONS',
});

/** Whether a condition of the step holds now. */
const holds = ({ state }: Player, reader: string, condition: string) =>
  evaluateCondition(compileExpression(condition), conditionContext(state, reader));

describe('the frame', () => {
  test('says what a run is for, and which limits it and each step have', () => {
    const run = Player.started(
      chain(`name: ship
description: Review, then merge
trigger: { event: pr.opened }
steps:
  - skill: ci
    timeout: 30m
    artifacts: { expected: [{ id: result, kind: outcome, outcome: ci_result }] }
    expect: [{ rule_id: few, field: checks.length, check: range, max: 9 }]
  - action: gh-merge
    condition: "{{ steps.ci.outcome.passed }}"
    requires_approval: true
`),
      {
        facts: {
          trigger: { title: 'Greet "people"', author: 'ada', pr_number: 7 },
          repo: { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' },
        },
        settings: {
          ...defaultSettings,
          ci: { ...defaultSettings.ci, required: ['test'], no_checks: 'block' },
        },
      },
    ).state;
    expect(memoryOf(run).frame).toEqual({
      goal: 'Review, then merge: pull request #7 of acme/shop by ada, "Greet \\"people\\"", commit aaaaaaa into main',
      constraints: [
        '1 countersign is needed',
        'nothing is merged except the head that was reviewed',
        'these checks must be there and pass: test',
        'a commit without checks may not pass',
        'ci may take 30 min',
      ],
      success_criteria: [
        { step: 'ci', text: 'leaves result (outcome ci_result)' },
        { step: 'ci', text: 'its outcome keeps the rule few' },
        { step: 'gh-merge', text: 'runs only when `{{ steps.ci.outcome.passed }}`' },
        { step: 'gh-merge', text: 'is countersigned by a maintainer' },
      ],
    });
  });

  test('of a run without a pull request names the repository', () => {
    const { state } = Player.started(chainOfSteps('id: a'), { pullRequest: null, headSha: '', baseRef: '' });
    expect(memoryOf(state).frame.goal).toBe('chain example: acme/shop');
  });

  test('stays as it was at the beginning, whatever happens and whatever the repository is called later', () => {
    const run = play('id: a', 'id: b');
    const before = memoryOf(run.state).frame;
    run.done('a', ciOutcome(true)).done('b', ciOutcome(true));
    const renamed = { ...run.state, run: { ...run.run, repository: 'acme/renamed' } };
    expect(memoryOf(renamed).frame).toEqual(before);
  });
});

describe('working memory', () => {
  test('holds what each step wrote, with its source', () => {
    const run = play(
      'id: review, skill: pr-review',
      'id: ci, condition: "{{ steps.review.outcome.passed }}"',
    );
    run.done('review', risky).done('ci', makeCi([check('test')]));
    const memory = cognitiveStateSchema.parse(memoryOf(run.state));
    expect(memory.working.risks).toEqual([
      {
        step: 'review',
        text: 'A cloud access key is written into the code.',
        severity: 'medium',
        file: 'src/config.ts',
        line: 12,
      },
    ]);
    expect(memory.working.evidence.map(({ step }) => step)).toEqual(['review', 'review', 'ci', 'ci']);
    expect(memory.output.results).toMatchObject([
      { step: 'review', outcome_kind: 'review_verdict', passed: true, artifact_id: 'art_review' },
      { step: 'ci', outcome_kind: 'ci_result', passed: true, artifact_id: 'art_ci' },
    ]);
    const nothingLost = { by: 'produces', cut: 0, unfit: 0, shortened: 0 };
    expect(memory.trace).toEqual([
      expect.objectContaining({ step: 'review', session_id: 'ses_1', read: [], from: risky.content_hash }),
      expect.objectContaining({
        step: 'ci',
        session_id: 'ses_2',
        read: ['steps.review.outcome.passed'],
        wrote: [
          { ...nothingLost, slot: 'evidence', entries: 2 },
          { ...nothingLost, slot: 'risks', entries: 0 },
          { ...nothingLost, slot: 'uncertainties', entries: 0 },
        ],
      }),
    ]);
  });

  test('of a step that runs again is withdrawn and replaced by the new result', () => {
    const run = play('id: review, skill: pr-review', 'id: ci');
    run.done('review', risky).done('ci', ciOutcome(true));
    run.send({ kind: 'rerun', stepIndex: 0 });
    expect(memoryOf(run.state).working.risks).toEqual([]);
    expect(memoryOf(run.state).trace).toEqual([]);
    run.done('review', makeReview({ summary: 'Clean now.' }));
    expect(memoryOf(run.state).working.decisions).toEqual([
      { step: 'review', text: 'Clean now.', verdict: 'APPROVE', passed: true },
    ]);
    expect(memoryOf(run.state).trace).toMatchObject([{ step: 'review', session_id: 'ses_3' }]);
  });

  test('of a run that began without it is computed from the outcomes, and can be shown but not used in conditions', () => {
    const run = Player.started(chainOfSteps('id: ci', 'id: b')).done('ci', makeCi([check('test')]));
    expect(memoryOf(run.state).working.evidence).toHaveLength(2);
    expect(memoryOf(run.state).gaps).toContain('messages');
  });
});

describe('a step sees the results', () => {
  const chainOf = () =>
    play('id: review, skill: pr-review', 'id: ci, depends_on: []', 'id: last, depends_on: [ci]');

  test('of its dependencies, but not of a step that merely finished before it', () => {
    const seen = ({ state }: Player) => conditionContext(state, 'last').state;
    const alone = chainOf().done('ci', ciOutcome(true));
    const beside = chainOf().done('review', risky).done('ci', ciOutcome(true));
    expect(memoryOf(beside.state).working.risks).toHaveLength(1);
    // The sessions of both plays have the same ids, because each play started both steps at once.
    expect(seen(beside)).toEqual(seen(alone));
  });

  test('of indirect dependencies', () => {
    const run = play('id: review, skill: pr-review', 'id: ci', 'id: last').done('review', risky);
    expect(holds(run, 'last', 'state.working.decisions[0].verdict == "APPROVE_WITH_SUGGESTIONS"')).toBe(true);
  });
});

describe('a condition on a slot', () => {
  const NO_RISKS = 'state.working.risks | length == 0';

  test('holds on what is there if all of the slot is known', () => {
    const run = play('id: review, skill: pr-review', 'id: last').done('review', makeReview());
    expect(holds(run, 'last', NO_RISKS)).toBe(true);
    expect(holds(run, 'last', 'state.working.risks | length > 0')).toBe(false);
  });

  test.each([
    NO_RISKS,
    'not state.working.risks',
    "state.working.risks | default('') == ''",
    'state.working.risks | length != 7',
    "state.working['risks'] == []",
    'steps.review.status == "skipped" or state.working.risks == []',
  ])('does not hold while a step that writes it is not completed: %s', (condition) => {
    const run = play('id: review, skill: pr-review', 'id: last');
    expect(holds(run, 'last', condition)).toBe(false);
  });

  test('does not hold when one of several writers was skipped', () => {
    const run = play(
      'id: ci',
      'id: review, skill: pr-review, condition: "false"',
      'id: last, depends_on: [ci, review]',
    ).done('ci', ciOutcome(true));
    expect(run.step('review').status).toBe('skipped');
    expect(holds(run, 'last', NO_RISKS)).toBe(false);
  });

  test('does not hold for a step without a verdict', () => {
    const run = play('id: review, skill: pr-review', 'id: last').done('review', reviewOutcome(null));
    expect(holds(run, 'last', NO_RISKS)).toBe(false);
  });

  test('does not hold when something was cut', () => {
    const findings = Array.from({ length: 51 }, () => finding({ severity: 'low' }));
    const run = play('id: review, skill: pr-review', 'id: last').done('review', makeReview({ findings }));
    expect(memoryOf(run.state).trace[0]?.wrote).toContainEqual(
      expect.objectContaining({ slot: 'risks', entries: 50, cut: 1 }),
    );
    expect(holds(run, 'last', 'state.working.risks | length < 51')).toBe(false);
  });

  test('does not hold when a mapping wrote an invalid entry', () => {
    const run = play(`id: ci, output_mapping: { risks: "[['nested']]" }`, 'id: last').done(
      'ci',
      ciOutcome(true),
    );
    expect(holds(run, 'last', NO_RISKS)).toBe(false);
  });

  test('does not hold when no earlier step writes it', () => {
    const run = play('id: ci', 'id: last').done('ci', ciOutcome(true));
    expect(holds(run, 'last', 'state.working.options == []')).toBe(false);
    expect(holds(run, 'last', "'options' in state.gaps")).toBe(true);
  });

  test.each([
    ['allow', true],
    ['block', false],
  ] as const)(
    'does not hold on CI without checks, unless the settings allow that: %s',
    (no_checks, expected) => {
      const run = Player.started(
        foldHints(chainOfSteps('id: ci', 'id: last'), () => ['risks']),
        { settings: { ...defaultSettings, ci: { ...defaultSettings.ci, no_checks } } },
      ).done('ci', ciOutcome(null));
      expect(holds(run, 'last', NO_RISKS)).toBe(expected);
    },
  );

  test('does not hold any longer when CI is read again with another result', () => {
    const run = play('id: ci', 'id: merge').done('ci', ciOutcome(true));
    const now = conditionContext(run.state, 'merge', new Map([['ci', ciOutcome(false)]]));
    expect(holds(run, 'merge', NO_RISKS)).toBe(true);
    expect(evaluateCondition(compileExpression(NO_RISKS), now)).toBe(false);
  });
});

describe('an error about a slot', () => {
  const second = (step: string) => `  - { skill: ci }\n  - { skill: ci, id: b, ${step} }\n`;
  const only = (step: string) => `  - { ${step} }\n`;

  test.each([
    [
      '6:37: state has no "risks"; allowed: frame, working, gaps, output, trace',
      second('condition: "state.risks"'),
    ],
    [
      '6:37: the working memory has no "risk": did you mean "risks"? Allowed: entities, options, criteria',
      second('condition: "state.working.risk == []"'),
    ],
    [
      'name the part that you want: state.working.risks, state.frame.goal',
      second('with: { a: "{{ state }}" }'),
    ],
    [
      'name the slot that you want: state.working.risks',
      second('condition: "state.working[trigger.title] == []"'),
    ],
    [
      'no step comes before this one, so none has written what it could read here; add it to depends_on',
      only('skill: ci, condition: "state.working.risks == []"'),
    ],
    [
      'unknown key "risk": did you mean "risks"? Allowed: entities, options',
      only('skill: ci, output_mapping: { risk: outcome.checks }'),
    ],
    ['"risks" must be a text, not a list', only('skill: ci, output_mapping: { risks: [a] }')],
    [
      'no outcome of this step has "cheks": did you mean "checks"?',
      only('skill: ci, output_mapping: { risks: outcome.cheks }'),
    ],
    [
      'no outcome of this step has "findings"',
      only('action: gh-label, with: { labels: [x] }, output_mapping: { risks: outcome.findings }'),
    ],
    [
      '"trigger" is not known here; allowed: outcome',
      only('skill: ci, output_mapping: { risks: trigger.title }'),
    ],
    ['expected name as lookup value, got }}', only('skill: ci, output_mapping: { risks: "outcome." }')],
  ])('is reported at its place: %s', (said, steps) => {
    expect(errorsOf(withSteps(steps))).toEqual([expect.stringContaining(said)]);
  });
});
