import { expect, test } from 'vitest';
import { requiredInputs } from '../../../src/domain/chain/required-inputs.ts';
import { chainOf, withSteps } from '../../support/chains.ts';

test.each([
  ['{{ trigger.input_environment }}', ['environment']],
  ['to {{ trigger.input_environment | upper }} by {{ trigger.input_who }}', ['environment', 'who']],
  ["{{ trigger['input_environment'] }}", ['environment']],
  ["{{ trigger.input_environment | default('staging') }}", []],
  ["{{ trigger.input_environment if trigger.input_environment is defined else 'staging' }}", []],
  ["{{ trigger.input_environment or 'staging' }}", []],
  ['{{ trigger.title }}', []],
])('a step with the body %s needs the inputs %j', (body, inputs) => {
  const steps = `  - action: gh-comment\n    with: { body: ${JSON.stringify(body)} }\n`;
  expect(requiredInputs(chainOf(withSteps(steps)))).toEqual(inputs);
});

test('a condition needs no input', () => {
  const steps = `  - { skill: ci, condition: "{{ trigger.input_force == 'yes' }}" }\n`;
  expect(requiredInputs(chainOf(withSteps(steps)))).toEqual([]);
});
