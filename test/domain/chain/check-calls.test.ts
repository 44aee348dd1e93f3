import { expect, test } from 'vitest';
import type { Chain } from '../../../src/domain/chain/chain.ts';
import { callable, checkCalls } from '../../../src/domain/chain/check-calls.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { readYaml } from '../../../src/domain/chain/positions.ts';

const KNOWN = { skills: [], actions: ['chain', 'wait'] };
const textOf = (name: string, steps: readonly string[], inputs = '') =>
  [
    `name: ${name}`,
    'trigger: { event: manual.fired }',
    ...(inputs === '' ? [] : [`inputs: ${inputs}`]),
    'steps:',
    ...steps.map((step) => `  - ${step}`),
    '',
  ].join('\n');
const WAITS = '{ action: wait, with: { for: 1h } }';
const calling = (name: string, inputs = '') =>
  `{ action: chain, with: { chain: ${name}${inputs === '' ? '' : `, inputs: ${inputs}`} } }`;

function said(text: string, others: readonly string[], isComplete = true) {
  const [own, ...rest] = [text, ...others].map((one) => {
    const { chain, diagnostics } = parseChain(one, 'a.yaml', KNOWN);
    if (!chain) throw new Error(diagnostics[0]?.message);
    return chain;
  });
  return own
    ? checkCalls(
        readYaml(text, 'a.yaml'),
        own,
        callable(() => [...rest, own]),
        { isComplete },
      ).map(({ line, message }) => `${line}: ${message.split('; its inputs')[0]}`)
    : [];
}

const TYPED = textOf('b', [WAITS], '{ count: { type: number, required: true } }');

test.each<[string, string, string[], string[]]>([
  ['a chain that is there', textOf('a', [calling('b')]), [textOf('b', [WAITS])], []],
  [
    'one that is not',
    textOf('a', [calling('deply')]),
    [textOf('deploy', [WAITS])],
    ['4: there is no chain "deply": did you mean "deploy"? Allowed: deploy'],
  ],
  ['itself', textOf('a', [calling('a')]), [], ['4: these chains run each other: a → a']],
  [
    'a circle',
    textOf('a', [WAITS, calling('b')]),
    [textOf('b', [calling('c')]), textOf('c', [calling('a')])],
    ['5: these chains run each other: a → b → c → a'],
  ],
  [
    'a circle beside it',
    textOf('a', [calling('b')]),
    [textOf('b', [calling('c')]), textOf('c', [calling('b')])],
    [],
  ],
  ['inputs that fit', textOf('a', [calling('b', '{ count: 3 }')]), [TYPED], []],
  [
    'an input that only the run knows',
    textOf('a', [calling('b', '{ count: "{{ trigger.title }}" }')]),
    [TYPED],
    [],
  ],
  [
    'a missing input',
    textOf('a', [calling('b')]),
    [TYPED],
    ['4: the chain "b" cannot run with these inputs: "count" is missing'],
  ],
  [
    'a wrong input',
    textOf('a', [calling('b', '{ count: many }')]),
    [TYPED],
    ['4: the chain "b" cannot run with these inputs: "count" is a number, and not "many"'],
  ],
])('a step that runs another chain is checked: %s', (_, text, others, expected) => {
  expect(said(text, others)).toEqual(expected);
});

test('a chain that may be elsewhere is no error', () => {
  expect(said(textOf('a', [calling('elsewhere')]), [], false)).toEqual([]);
});

test('10,000 chains that run one another in a circle are read a bounded number of times, and the message shortens the circle', () => {
  const COUNT = 10_000;
  const text = textOf('c0', [calling('c1')]);
  const { chain: first } = parseChain(text, 'a.yaml', KNOWN);
  if (!first) throw new Error('the chain is not valid');
  let looks = 0;
  const chains = Array.from({ length: COUNT }, (_, index): Chain => {
    const steps = first.steps.map((step) => ({ ...step, with: { chain: `c${(index + 1) % COUNT}` } }));
    return Object.defineProperty({ ...first, name: `c${index}` }, 'steps', { get: () => ++looks && steps });
  });
  const known = callable(() => chains);
  const [own = first] = chains;
  expect(
    checkCalls(readYaml(text, 'a.yaml'), own, known, { isComplete: true }).map(({ message }) => message),
  ).toEqual([
    'these chains run each other: c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7 → c8 → c9 → c10 → 9989 more → c0',
  ]);
  for (const chain of chains) known.circle(chain);
  expect(looks).toBeLessThan(600_000);
});

test('of more than 50 chains, a wrong name lists the first, and how many more there are', () => {
  const others = Array.from({ length: 60 }, (_, index) => textOf(`c${10 + index}`, [WAITS]));
  const [message = ''] = said(textOf('a', [calling('deploy')]), others);
  expect(message).toContain('there is no chain "deploy"; allowed: c10, c11, ');
  expect(message.endsWith('c58, c59, 10 more')).toBe(true);
});
