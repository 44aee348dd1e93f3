import { expect, test } from 'vitest';
import { checkCalls } from '../../../src/domain/chain/check-calls.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';

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
    ? checkCalls(text, own, 'a.yaml', () => rest, { isComplete }).map(
        ({ line, message }) => `${line}: ${message.split('; its inputs')[0]}`,
      )
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
