import { expect, test } from 'vitest';
import type { CountersignRules } from '../../../src/domain/policy/countersign-rules.ts';
import { cannotAnswerBecause } from '../../../src/domain/policy/may-answer.ts';

const mia = { id: 7, login: 'Mia' };
const rules: CountersignRules = {
  permission: 'maintain',
  teams: [],
  users: [],
  count: 1,
  approve: ['rocket'],
  reject: [],
};
const known = {
  person: mia,
  role: undefined,
  rules,
  author: { id: 1 },
  pushers: [],
  countersignedBy: [],
};

test.each([
  ['may, as far as is stored', {}, undefined],
  ['may with the role that is known', { role: 'maintain' }, undefined],
  [
    'may in a team that only GitHub knows',
    { rules: { ...rules, permission: 'none', teams: ['o/r'] } as const },
    undefined,
  ],
  ['may as an author whom no row names', { author: null }, undefined],
  ['cannot with a lower role', { role: 'write' }, 'has write access'],
  ['cannot as the author', { author: { id: 7 } }, 'wrote this pull request'],
  ['cannot after a push', { pushers: [7] }, 'pushed some of the commits'],
  ['cannot twice', { countersignedBy: ['mia'] }, 'has countersigned already'],
  [
    'cannot where only others are named',
    { rules: { ...rules, permission: 'none', users: ['max'] } as const },
    'has admin access',
  ],
  [
    'cannot where the step asks for others',
    { rules: { ...rules, step: { users: ['max'] } } },
    'this step asks for max',
  ],
])('somebody %s', (_, over, because) => {
  expect(cannotAnswerBecause({ ...known, ...over })).toBe(because);
});
