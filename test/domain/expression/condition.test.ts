import { describe, expect, test } from 'vitest';
import {
  compileExpression,
  evaluateCondition,
  stepsContext,
} from '../../../src/domain/expression/condition.ts';

const steps = stepsContext([
  { id: 'good', status: 'completed', outcome: { passed: true, findings: [], verdict: 'APPROVE' } },
  { id: 'bad', status: 'completed', outcome: { passed: false } },
  { id: 'open', status: 'completed', outcome: { passed: null } },
  { id: 'skipped', status: 'skipped' },
  { id: 'failed', status: 'failed', outcome: null },
]);
const holds = (condition: string) => evaluateCondition(compileExpression(condition), { steps });

describe('a condition', () => {
  test.each([
    ['steps.good.outcome.passed', true],
    ['steps[0].outcome.passed', true],
    ['{{ steps.good.outcome.passed and steps[0].outcome.verdict == "APPROVE" }}', true],
    ['steps.bad.outcome.passed', false],
    ['not steps.bad.outcome.passed', true],
    ['steps.skipped.status == "skipped"', true],
    ['true', true],
  ])('%s is %j', (condition, expected) => {
    expect(holds(condition)).toBe(expected);
  });

  test.each([
    'steps.good.outcome.verdict',
    'steps.good.outcome',
    '1',
    '"true"',
    '[true]',
    'none',
    'steps.good.outcome.missing',
  ])('%s is false, because only true passes', (condition) => {
    expect(holds(condition)).toBe(false);
  });

  test.each(['skipped', 'failed', 'unheard_of'])(
    'on the missing outcome of a step that is %s is false, also under not',
    (id) => {
      for (const condition of [
        `steps.${id}.outcome.passed`,
        `not steps.${id}.outcome.passed`,
        `steps.${id}.outcome.passed == false`,
        `steps.${id}.outcome.passed != true`,
        `steps.${id}.outcome is not defined`,
        `steps.${id}.outcome is none`,
        `steps.${id}.outcome.passed|default(true)`,
        `true if steps.${id}.outcome else true`,
        `true or steps.${id}.outcome.passed`,
        `steps.good.outcome.passed or steps.${id}.outcome.passed`,
        `{"a": [steps.${id}.outcome]}|length == 1`,
      ]) {
        expect([condition, holds(condition)]).toEqual([condition, false]);
      }
    },
  );

  test('on a missing verdict is false, also under not', () => {
    expect(holds('steps.open.outcome.passed')).toBe(false);
    expect(holds('not steps.open.outcome.passed')).toBe(false);
  });

  test('can ask explicitly whether there is a verdict', () => {
    expect(holds('steps.open.outcome.passed is none')).toBe(true);
    expect(holds('steps.open.outcome.passed != true')).toBe(true);
  });

  test('is false in a context without steps', () => {
    expect(evaluateCondition(compileExpression('not steps.a.outcome.passed'), {})).toBe(false);
  });
});

describe('the steps of a context', () => {
  test('are the same by position and by id', () => {
    expect(steps['1']).toBe(steps.bad);
  });

  test.each(['length', 'constructor', '__proto__', 'toString'])('can have the id %s', (id) => {
    const named = stepsContext([{ id, status: 'completed', outcome: { passed: true } }]);
    expect(evaluateCondition(compileExpression(`steps["${id}"].outcome.passed`), { steps: named })).toBe(
      true,
    );
    expect(Object.getPrototypeOf(named)).toBeNull();
  });

  test('have no inherited members', () => {
    expect(holds('steps.constructor.outcome.passed')).toBe(false);
    expect(holds('steps.length.status == "x"')).toBe(false);
  });

  test('cannot have an id that reads like a position', () => {
    expect(() => stepsContext([{ id: '1', status: 'completed' }])).toThrow('taken for a position');
  });
});
