/** A thread of a test: fills its young generation, and says how many megabytes it took. */
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import type { FromThread } from '../../src/composition/intake/messages.ts';

const youngBytes = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

let largest = 0;
let kept: object[] = [];
for (let count = 0; count < 500_000; count++) {
  kept.push({ count });
  if (kept.length < 50_000) continue;
  largest = Math.max(largest, youngBytes());
  kept = [];
}

parentPort?.postMessage({
  kind: 'started',
  as: { url: `http://127.0.0.1#${largest / 1_048_576}`, metricsUrl: undefined },
} satisfies FromThread<unknown>);
// The thread must not end by itself: its end can arrive before its message is handled.
parentPort?.on('message', () => {});
