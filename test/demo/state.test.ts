import { expect, it } from 'vitest';
import { differences, type ExpectedState, type State } from '../../demo/state.ts';

const MERGED: State = {
  merged: true,
  check_runs: [['success']],
  gates: ['success'],
  annotations: [],
  comments: ['Countersigned and merged', 'Merged'],
  merge_parents: [1],
  runs: ['completed'],
};

it('the demo reports nothing for a state that is as expected', () => {
  expect(differences(MERGED, structuredClone(MERGED))).toEqual([]);
});

it('the demo accepts a replaced status comment and its absence, and no second or other one', () => {
  const expected: ExpectedState = { ...MERGED, comments: ['Countersigned and merged'], former: 'Merged' };
  const faults = (...comments: string[]) => differences(expected, { ...MERGED, comments });
  expect(faults('Countersigned and merged')).toEqual([]);
  expect(faults('Countersigned and merged', 'Merged')).toEqual([]);
  expect(faults('Countersigned and merged', 'Merged', 'Merged')).toHaveLength(1);
  expect(faults('Countersigned and merged', 'Merging')).toHaveLength(1);
  expect(faults('Merged')).toHaveLength(1);
});

it.each<[string, Partial<State>]>([
  ['a pull request that was not merged', { merged: false }],
  ['a check run with another conclusion', { check_runs: [['failure']] }],
  ['a gate that is still closed', { gates: ['failure'] }],
  ['a second check run', { check_runs: [['success', 'success']] }],
  ['an annotation that is missing, or on another line', { annotations: ['src/a.ts:2'] }],
  ['a comment that exists twice', { comments: [...MERGED.comments, 'Merged'] }],
  ['a comment in an older state', { comments: ['Approve this merge?', 'Merged'] }],
  ['a merge that was not a squash', { merge_parents: [2] }],
  ['a second merge', { merge_parents: [1, 1] }],
  ['a run that the database does not have', { runs: ['no run'] }],
])('the demo fails on %s', (_what, change) => {
  const [name] = Object.keys(change);
  expect(differences(MERGED, { ...MERGED, ...change })).toEqual([
    expect.stringMatching(new RegExp(`^${name}: .* instead of `)),
  ]);
});
