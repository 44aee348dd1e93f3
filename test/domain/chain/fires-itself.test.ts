import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/core/diagnostic.ts';
import { firingCycles } from '../../../src/domain/chain/firing-cycle.ts';
import { chainWarnings } from '../../../src/domain/chain/parse.ts';
import { readYaml } from '../../../src/domain/chain/positions.ts';
import { chainOf, errorsOf, KNOWN } from '../../support/chains.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';

const { outcomes: OUTCOMES = {} } = KNOWN;

function warningsOf(filter: string): string[] {
  const text = `name: after\ntrigger:\n  - event: pr.opened\n  - event: invocation.completed\n    filter: ${filter}\nsteps:\n  - { id: review, skill: ci }\n`;
  expect(errorsOf(text)).toEqual([]);
  return chainWarnings(readYaml(text, 'after.yaml'), KNOWN).map(formatDiagnostic);
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

test.each([
  ['{ event: ci.changed }', 1],
  ['{ event: ci.changed, filter: { repository: "octo/*" } }', 1],
  ['{ event: ci.changed, filter: { base: main } }', 0],
  ['{ event: ci.changed, filter: { check: build } }', 0],
  ['{ event: ci.changed, filter: { conclusion: failure } }', 0],
])('lint warns of a trigger that fires for each check of each commit: %s', (trigger, warnings) => {
  const text = `name: after\ntrigger: ${trigger}\nsteps:\n  - { id: review, skill: ci }\n`;
  expect(errorsOf(text)).toEqual([]);
  const found = chainWarnings(readYaml(text, 'after.yaml'), KNOWN).map(formatDiagnostic);
  expect(
    found.filter((one) => one.includes('2:10: warning: this trigger fires for each check')),
  ).toHaveLength(warnings);
});

const hears = (name: string, filter: string) =>
  `name: ${name}\ntrigger: { event: invocation.completed, filter: ${filter} }\nsteps:\n  - { id: go-${name}, skill: ci }\n`;

const warningsBeside = (filter: string, others: readonly string[]) =>
  chainWarnings(readYaml(hears('one', filter), 'one.yaml'), KNOWN, {
    cycles: firingCycles(() => others.map(chainOf), OUTCOMES),
  }).map(formatDiagnostic);

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

/** Each chain waits for the one before it, and the first for the last. */
const ring = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    hears(`c${index}`, `{ chain: c${(index + count - 1) % count} }`),
  );

test.each([
  [5, 1],
  [6, 0],
])(
  'lint warns of %i chains that fire each other %i times, because the sixth run in a row does not begin',
  (count, warnings) => {
    const chains = ring(count).map(chainOf);
    const cycles = firingCycles(() => chains, OUTCOMES);
    expect(chainWarnings(readYaml(ring(count)[0] ?? '', 'c0.yaml'), KNOWN, { cycles })).toHaveLength(
      warnings,
    );
  },
);

test('lint tells a trigger of five cycles at most', () => {
  const others = Array.from({ length: 10 }, (_, index) => hears(`c${index}`, '{ chain: one }'));
  expect(warningsBeside('{ chain: "c*" }', others)).toHaveLength(5);
});

eachFirstQuick([
  ['wait for one chain each', (index: number) => `c${index - 1}`],
  ['wait for what no chain is called', () => '"x*"'],
  ['all wait for all chains', () => '"c*"'],
])('lint looks at the steps of 300 chains that %s a bounded number of times', (_, filter) => {
  let looks = 0;
  const chains = Array.from({ length: 300 }, (_, index) => {
    const text = hears(`c${index}`, `{ chain: ${filter(index)} }`);
    const chain = chainOf(text);
    const { steps } = chain;
    return { text, chain: Object.defineProperty(chain, 'steps', { get: () => ++looks && steps }) };
  });
  const cycles = firingCycles(() => chains.map(({ chain }) => chain), OUTCOMES);
  for (const { text, chain } of chains) chainWarnings(readYaml(text, 'one.yaml'), KNOWN, { chain, cycles });
  expect(looks).toBeLessThan(120_000);
});

test.each([
  ['the other does not wait for it', '{ chain: two }', '{ chain: three }'],
  ['it does not wait for the other', '{ chain: three }', '{ chain: one }'],
  ['the other has no such outcome', '{ chain: two, kind: review_verdict }', '{ chain: one }'],
])('lint does not warn of two chains if %s', (_, filter, others) => {
  expect(warningsBeside(filter, [hears('two', others)])).toEqual([]);
});
