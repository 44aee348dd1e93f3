import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { chainWarnings } from '../../../src/domain/chain/parse.ts';
import { readYaml } from '../../../src/domain/chain/positions.ts';
import { errorsOf, KNOWN, withSteps } from '../../support/chains.ts';

function warningsOf(steps: string, trigger = 'event: pr.opened'): string[] {
  const text = withSteps(steps).replace('event: pr.opened', trigger);
  expect(errorsOf(text)).toEqual([]);
  return chainWarnings(readYaml(text, 'chain.yaml'), KNOWN).map(formatDiagnostic);
}

const review = (rest = '') => `  - { id: review, skill: pr-review${rest} }\n`;
const ci = (condition: string, rest = '') =>
  `  - { id: ci, skill: ci, condition: "{{ ${condition} }}"${rest} }\n`;
const last = (condition: string, rest = '') =>
  `  - { id: last, action: gh-label, with: { labels: [x] }, condition: "{{ ${condition} }}"${rest} }\n`;
const label = (rest = '') => `  - { id: last, action: gh-label, with: { labels: [x] }${rest} }\n`;

const APPROVED = "steps.review.outcome.verdict == 'APPROVE'";
const REFUSED = "steps.review.outcome.verdict == 'REQUEST_CHANGES'";

describe('a warning of a step that can never run', () => {
  test.each([
    ['a constant condition', review() + ci('false'), 'its condition is never true'],
    ['a text as condition', review() + ci("'yes'"), 'its condition is never true'],
    [
      'a verdict that does not exist',
      review() + ci("steps.review.outcome.verdict == 'APPROVED'"),
      'its condition is never true',
    ],
    ['a contradiction', review() + ci(`${APPROVED} and ${REFUSED}`), 'its condition is never true'],
    [
      'numbers that contradict each other',
      review() + ci('steps.review.outcome.round > 3 and steps.review.outcome.round < 2'),
      'its condition is never true',
    ],
    [
      'the outcome of a step that was skipped',
      review() + ci(APPROVED) + last("steps.ci.status == 'skipped' and steps.ci.outcome.passed"),
      'its condition is never true',
    ],
    [
      'a status that no step ends with',
      review() + ci("steps.review.status == 'sucess'"),
      'its condition is never true',
    ],
    [
      'a failure that ends the run',
      review() + ci("steps.review.status == 'failed'"),
      'the run ends if "review" does not complete; "on_failure: continue" there lets it go on',
    ],
  ])('%s', (_, steps, because) => {
    expect(warningsOf(steps)).toEqual([
      expect.stringMatching(/^chain\.yaml:[67]:\d+: warning: this step can never run: /),
    ]);
    expect(warningsOf(steps)[0]).toContain(because);
  });

  test('names the dependency that is skipped exactly when the condition is true', () => {
    const steps = review() + ci(APPROVED) + last(REFUSED, ', depends_on: [review, ci]');
    expect(warningsOf(steps)).toEqual([
      'chain.yaml:7:69: warning: this step can never run: "ci", which it needs, is skipped whenever its condition is true',
    ]);
  });

  test('reports every step that needs such a step', () => {
    expect(warningsOf(review() + ci('false') + label())).toEqual([
      expect.stringContaining(
        'chain.yaml:6:37: warning: this step can never run: its condition is never true',
      ),
      'chain.yaml:7:5: warning: this step can never run: "ci", which it needs, never runs',
    ]);
  });

  test('counts the filter of the trigger', () => {
    expect(
      warningsOf(review() + ci('trigger.draft'), 'event: pr.opened\n  filter: { draft: false }'),
    ).toHaveLength(1);
    expect(warningsOf(review() + ci('trigger.draft'))).toEqual([]);
  });
});

describe('no warning', () => {
  test.each([
    ['a comment after a skipped merge in a sequence', review() + ci(APPROVED) + last(REFUSED)],
    [
      'a step that asks about the status of a skipped one',
      review() + ci(APPROVED) + last("steps.ci.status == 'skipped'", ', depends_on: [review, ci]'),
    ],
    [
      'a step after one that may fail',
      review(', on_failure: continue') + ci("steps.review.status == 'failed'"),
    ],
    [
      'two members that can be equal',
      review() + ci("trigger.head == trigger.base and trigger.base == 'main'"),
    ],
    ['a comparison of texts', review() + ci("trigger.title > 'a' and trigger.title < 'b'")],
    [
      'numbers with a gap',
      review() + ci('steps.review.outcome.round > 2 and steps.review.outcome.round < 4'),
    ],
    [
      'a list of findings',
      review() + ci("(steps.review.outcome.findings | selectattr('severity', 'eq', 'high') | length) > 0"),
    ],
    ['a word of a list', review() + ci("steps.review.outcome.verdict in ['REJECT', 'APPROVE']")],
    ['a choice', review() + ci(`true if ${APPROVED} else steps.review.outcome.passed`)],
    [
      'a verdict of a skill whose kind is not known',
      `  - { id: own, skill: auto }\n${last("steps.own.outcome.verdict == 'FINE'")}`,
    ],
  ])('of %s', (_, steps) => {
    expect(warningsOf(steps)).toEqual([]);
  });

  test('of a chain with more to try than the limit', () => {
    const many = Array.from({ length: 12 }, (_, at) => `trigger.input_${at} != '${at}'`).join(' and ');
    expect(warningsOf(review() + last(`${many} and trigger.draft and not trigger.draft`))).toEqual([]);
  });

  test('of the shipped chain', () => {
    expect(
      warningsOf(
        review() +
          ci('steps[0].outcome.passed') +
          last('steps.review.outcome.passed and steps.ci.outcome.passed'),
      ),
    ).toEqual([]);
  });
});
