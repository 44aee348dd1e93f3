import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { chainWarnings } from '../../../src/domain/chain/parse.ts';
import { errorsOf, KNOWN } from '../../support/chains.ts';

function warningsOf(filter: string): string[] {
  const text = `name: after\ntrigger:\n  - event: pr.opened\n  - event: invocation.completed\n    filter: ${filter}\nsteps:\n  - { id: review, skill: ci }\n`;
  expect(errorsOf(text)).toEqual([]);
  return chainWarnings(text, 'after.yaml', KNOWN).map(formatDiagnostic);
}

test.each([
  ['no filter', '{}'],
  ['its own name', '{ chain: [pr-review, after] }'],
  ['a glob that matches its name', '{ chain: "a*" }'],
  ['a step of its own', '{ step: review, kind: ci_result, passed: false }'],
])('lint warns of a chain whose own steps can fire it, with %s', (_, filter) => {
  expect(warningsOf(filter)).toEqual([
    'after.yaml:4:5: warning: this chain can fire itself: its own step "review" completes with what this trigger waits for. Leave it out with the filter chain: "!after", or name the chains that should fire it',
  ]);
});

test.each([
  ['another chain', '{ chain: pr-review }'],
  ['all chains but itself', '{ chain: "!after" }'],
  ['another step', '{ step: merge }'],
  ['a kind that its steps do not have', '{ kind: review_verdict }'],
  ['a verdict that its steps do not have', '{ verdict: APPROVE }'],
])('lint does not warn of a chain that waits for %s', (_, filter) => {
  expect(warningsOf(filter)).toEqual([]);
});
