import { describe, expect, test } from 'vitest';
import { type Effect, effectSchema } from '../../../src/domain/effect/effect.ts';
import {
  asBegan,
  lowerOf,
  mayAsk,
  mayWrite,
  ROLLOUT_LEVELS,
  rolloutInWords,
} from '../../../src/domain/policy/rollout.ts';

const KINDS = effectSchema.unwrap().options.map(({ shape }) => shape.kind.value) as Effect['kind'][];

describe('what a level lets through', () => {
  test.each([
    ['off', []],
    ['observe', []],
    ['comment', ['check_run', 'comment', 'reaction', 'resolved_finding', 'review', 'thread_reply']],
    ['enforce', KINDS.toSorted()],
  ] as const)('is, with %s, %j', (level, kinds) => {
    expect(KINDS.filter((kind) => mayWrite(level, kind)).toSorted()).toEqual(kinds);
  });

  test('people are asked with enforce only', () => {
    expect(ROLLOUT_LEVELS.filter(mayAsk)).toEqual(['enforce']);
  });
});

test.each([
  ['enforce', 'observe', 'observe'],
  ['comment', 'enforce', 'comment'],
  ['off', 'observe', 'off'],
  ['comment', 'comment', 'comment'],
] as const)('of %s and %s, the lower is %s', (one, other, lower) => {
  expect([lowerOf(one, other), lowerOf(other, one)]).toEqual([lower, lower]);
});

test.each([
  [undefined, { level: 'observe', by: 'organisation' }, { level: 'observe', by: 'organisation' }],
  ['observe', { level: 'enforce' }, { level: 'observe' }],
  ['comment', { level: 'off', by: 'server' }, { level: 'off', by: 'server' }],
] as const)('a run that began with %s under %j now has %j', (rollout, now, counts) => {
  expect(asBegan({ facts: rollout === undefined ? {} : { rollout } }, now)).toEqual(counts);
});

test('a sentence says which level is in force, and who set it', () => {
  expect(
    (['organisation', 'server', 'unreadable', undefined] as const).map((by) =>
      rolloutInWords({ level: 'observe', ...(by && { by }) }),
    ),
  ).toMatchInlineSnapshot(`
    [
      "rollout is observe for this repository, in the settings of the organisation",
      "rollout is observe on this server (\`COUNTERSIGN_ROLLOUT=observe\`)",
      "rollout counts as observe: the settings of the organisation set it, and cannot be read",
      "rollout is observe for this repository",
    ]
  `);
});
