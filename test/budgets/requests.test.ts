// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MAX_REQUESTS, playRound, type RouteCount, totalOf } from '../../bench/pull-request/round.ts';
import { type Harness, REPO, startHarness } from '../support/harness.ts';

/**
 * The most requests that count, of an app that has seen other pull requests of the repository. Queries count towards
 * GraphQL's own hourly limit, and everything else towards REST's.
 */
const WARM = { reads: 3, queries: 3, writes: 5, unchanged: 8 };
/** Of such a pull request, if its base has not moved since another one was opened. */
const WARM_ON_KNOWN_BASE = 10;

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

test(`a later pull request costs at most ${WARM.reads} reads that count, ${WARM.queries} queries and ${WARM.writes} writes`, async () => {
  await playRound(harness, 'first');
  await playRound(harness, 'second');
  const { requests } = await playRound(harness, 'third');
  const { unchanged } = totalOf(requests);
  const reads = totalOf(requests.filter(isRead)).counted;
  const queries = totalOf(requests.filter(isQuery)).counted;
  const writes = totalOf(requests.filter((line) => !isRead(line) && !isQuery(line))).counted;
  const said = listed(requests);
  expect(reads, said).toBeLessThanOrEqual(WARM.reads);
  expect(queries, said).toBeLessThanOrEqual(WARM.queries);
  expect(writes, said).toBeLessThanOrEqual(WARM.writes);
  expect(unchanged, said).toBeLessThanOrEqual(WARM.unchanged);
});

test(`a later pull request on a base that has not moved costs at most ${WARM_ON_KNOWN_BASE} requests that count`, async () => {
  await playRound(harness, 'first');
  await playRound(harness, 'second');
  // The app reads the tip of the base for this push.
  const change = { 'src/other.ts': 'export {};\n' };
  await harness.github.push({ repo: REPO, branch: 'other', author: 'ada', files: change });
  await harness.settle();
  const { requests } = await playRound(harness, 'third');
  expect(totalOf(requests).counted, listed(requests)).toBeLessThanOrEqual(WARM_ON_KNOWN_BASE);
});

const isRead = ({ route }: RouteCount) => route.startsWith('GET ');
const isQuery = ({ route }: RouteCount) => route === 'POST /graphql';

function listed(requests: readonly RouteCount[]): string {
  return requests.map(({ route, counted, unchanged }) => `${counted} + ${unchanged} × ${route}`).join('\n');
}
