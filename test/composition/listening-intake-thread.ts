/** A thread of a test: says that it listens, and runs on. */
import { parentPort } from 'node:worker_threads';
import type { FromThread } from '../../src/composition/intake/messages.ts';

parentPort?.on('message', () => {});
parentPort?.postMessage({
  kind: 'started',
  as: { url: 'http://127.0.0.1', metricsUrl: undefined },
} satisfies FromThread<unknown>);
