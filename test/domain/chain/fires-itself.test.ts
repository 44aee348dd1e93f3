import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { chainWarnings } from '../../../src/domain/chain/parse.ts';
import { chainOf, errorsOf, KNOWN } from '../../support/chains.ts';

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

const hears = (name: string, filter: string) =>
  `name: ${name}\ntrigger: { event: invocation.completed, filter: ${filter} }\nsteps:\n  - { id: go-${name}, skill: ci }\n`;

const warningsBeside = (filter: string, others: readonly string[]) =>
  chainWarnings(hears('one', filter), 'one.yaml', KNOWN, { others: () => others.map(chainOf) }).map(
    formatDiagnostic,
  );

test('lint warns of a chain that fires another one, which fires it again', () => {
  expect(warningsBeside('{ chain: two }', [hears('two', '{ chain: one, kind: ci_result }')])).toEqual([
    'one.yaml:2:10: warning: this chain and two can fire each other: the step "go-two" of two completes with what this trigger waits for, and two waits for the step "go-one" of this chain. Leave one out with the filter chain: "!two", or name the chains that should fire it',
  ]);
});

test('lint warns of three chains that fire each other in turn', () => {
  const others = [hears('two', '{ chain: one }'), hears('three', '{ chain: two }')];
  expect(warningsBeside('{ chain: three }', others)).toEqual([
    'one.yaml:2:10: warning: these chains can fire each other in turn: the step "go-one" of this chain fires two, the step "go-two" of two fires three, and the step "go-three" of three completes with what this trigger waits for. Leave one out with the filter chain: "!three", or name the chains that should fire it',
  ]);
});

test('lint does not warn of a chain that fires two others which fire each other', () => {
  const others = [hears('two', '{ chain: [one, three] }'), hears('three', '{ chain: two }')];
  expect(warningsBeside('{ chain: four }', others)).toEqual([]);
});

test('lint compares a thousand chains at most, however many fire each other', () => {
  const example = chainOf(hears('c', '{ chain: c }'));
  const others = Array.from({ length: 2_000 }, (_, index) => ({
    ...example,
    name: `c${index}`,
    trigger: { event: 'invocation.completed' as const, filter: { chain: [`c${index - 1}`] } },
  }));
  let compared = 0;
  for (const other of others) {
    const { steps } = other;
    Object.defineProperty(other, 'steps', { get: () => ++compared && steps });
  }
  const text = hears('one', '{ chain: c1999 }');
  expect(chainWarnings(text, 'one.yaml', KNOWN, { others: () => others })).toEqual([]);
  expect(compared).toBeLessThan(1_100);
});

test.each([
  ['the other does not wait for it', '{ chain: two }', '{ chain: three }'],
  ['it does not wait for the other', '{ chain: three }', '{ chain: one }'],
  ['the other has no such outcome', '{ chain: two, kind: review_verdict }', '{ chain: one }'],
])('lint does not warn of two chains if %s', (_, filter, others) => {
  expect(warningsBeside(filter, [hears('two', others)])).toEqual([]);
});
