import { expect, test } from 'vitest';
import { readFired } from '../../../src/domain/chain/fired-inputs.ts';
import { chainOf, withSteps } from '../../support/chains.ts';

/** What is wrong with firing the chain without inputs. */
function problemOf(steps: string): string | undefined {
  const read = readFired(chainOf(withSteps(steps)), {});
  return 'problem' in read ? read.problem : undefined;
}

test.each([
  ['{{ trigger.input_environment }}', 'it needs environment=…'],
  [
    'to {{ trigger.input_environment | upper }} by {{ trigger.input_who }}',
    'it needs environment=… and who=…',
  ],
  ["{{ trigger['input_environment'] }}", 'it needs environment=…'],
  ["{{ trigger.input_environment | default('staging') }}", undefined],
  ["{{ trigger.input_environment if trigger.input_environment is defined else 'staging' }}", undefined],
  ["{{ trigger.input_environment or 'staging' }}", undefined],
  ['{{ trigger.title }}', undefined],
])('of a step with the body %s, the chain without declared inputs says %j', (body, problem) => {
  const steps = `  - action: gh-comment\n    with: { body: ${JSON.stringify(body)} }\n`;
  expect(problemOf(steps)).toBe(problem);
});

test('a condition needs no input', () => {
  expect(problemOf(`  - { skill: ci, condition: "{{ trigger.input_force == 'yes' }}" }\n`)).toBeUndefined();
});

test('a chain without declared inputs takes scalars as text, and nothing else', () => {
  const chain = chainOf(withSteps('  - skill: ci\n'));
  expect(readFired(chain, { count: 3, note: 'x' })).toEqual({
    values: {},
    members: { input_count: '3', input_note: 'x' },
  });
  expect(readFired(chain, { list: ['x'] })).toEqual({ problem: 'the input "list" is no text' });
});
