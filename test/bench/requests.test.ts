import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_REQUESTS, playRound, totalOf } from '../../bench/pull-request/round.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

test(`a pull request of one file costs at most ${MAX_REQUESTS} requests, and nothing waits between the poll that sees the reaction and the merge`, async () => {
  const { requests, toMerge } = await playRound(harness, 'feature');
  const { counted } = totalOf(requests);
  const said = requests.map((line) => `${line.counted} × ${line.route}`).join('\n');
  expect(counted, said).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(toMerge.waitedMs).toBe(0);
  expect(harness.faultyRequests).toEqual([]);
});
