/**
 * A thread of a test that sends one delivery and asks the probes while the test's own thread is blocked. Reports by shared memory,
 * because the blocked thread reads no messages: 1 once everything is answered as expected, 2 otherwise.
 */
import { workerData } from 'node:worker_threads';

export interface ClientOrder {
  url: string;
  headers: Record<string, string>;
  body: string;
  done: SharedArrayBuffer;
}

const { url, headers, body, done }: ClientOrder = workerData;
const state = new Int32Array(done);
// The test is blocked from here on.
Atomics.wait(state, 0, 0);
const statuses = [];
for (const path of ['/healthz', '/readyz', '/metrics']) {
  statuses.push((await fetch(new URL(path, url), { headers: { authorization: 'Bearer scraper' } })).status);
}
statuses.push((await fetch(url, { method: 'POST', headers, body })).status);
Atomics.store(state, 0, statuses.join() === '200,200,200,202' ? 2 : 3);
Atomics.notify(state, 0);
