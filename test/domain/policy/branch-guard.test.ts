// @module-tag security

import { expect, test } from 'vitest';
import { openToWriters } from '../../../src/domain/policy/branch-guard.ts';

const PUSH = 'whoever can write can push to it';
const MAKE = 'whoever can write can make a branch of that name';

test.each<[string[], string | undefined]>([
  [[], PUSH],
  [['pull_request', 'creation'], undefined],
  [['update', 'creation'], undefined],
  [['update', 'creation', 'deletion', 'non_fast_forward'], undefined],
  [['pull_request'], MAKE],
  [['update', 'deletion'], MAKE],
  [['creation'], PUSH],
  [['creation', 'deletion'], PUSH],
  [['creation', 'non_fast_forward', 'required_linear_history', 'required_signatures'], PUSH],
  [['creation', 'required_status_checks'], PUSH],
  [['creation', 'merge_queue'], PUSH],
  [['creation', 'required_deployments', 'workflows', 'code_scanning'], PUSH],
  [['creation', 'a_rule_of_next_year'], PUSH],
])('a branch with the rules %j is open to writers: %s', (rules, because) => {
  expect(openToWriters(rules)).toBe(because);
});
