import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_REQUESTS, playRound, type RouteCount, totalOf } from '../../bench/pull-request/round.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** The most requests that count, of an app that has seen other pull requests of the repository. */
const WARM = { reads: 15, writes: 10, unchanged: 16 };

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.stop());

test(`a pull request of one file costs at most ${MAX_REQUESTS} requests, and nothing waits between the recheck that sees the reaction and the merge`, async () => {
  const { requests, toMerge } = await playRound(harness, 'feature');
  expect(totalOf(requests).counted, listed(requests)).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(toMerge.waitedMs).toBe(0);
  expect(harness.faultyRequests).toEqual([]);
});

test(`a later pull request costs at most ${WARM.reads} reads and ${WARM.writes} writes that count`, async () => {
  await playRound(harness, 'first');
  await playRound(harness, 'second');
  const { requests } = await playRound(harness, 'third');
  const isRead = ({ route }: RouteCount) => route.startsWith('GET ');
  const { unchanged } = totalOf(requests);
  const reads = totalOf(requests.filter(isRead)).counted;
  const writes = totalOf(requests.filter((line) => !isRead(line))).counted;
  const said = listed(requests);
  expect(reads, said).toBeLessThanOrEqual(WARM.reads);
  expect(writes, said).toBeLessThanOrEqual(WARM.writes);
  expect(unchanged, said).toBeLessThanOrEqual(WARM.unchanged);
});

function listed(requests: readonly RouteCount[]): string {
  return requests.map(({ route, counted, unchanged }) => `${counted} + ${unchanged} × ${route}`).join('\n');
}
