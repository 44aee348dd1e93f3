/** The intake thread of the watched app. */
import { parentPort, workerData } from 'node:worker_threads';
import { runIntake } from '../../src/composition/intake/run.ts';
import { watchedRecorder } from './durable-writes.ts';
import { clockAhead, createWatch } from './watch.ts';

if (!parentPort) throw new Error('this program runs only as a thread of the app');
const watch = createWatch();
await runIntake(workerData, parentPort, {
  clock: clockAhead(),
  recorder: (real) => watchedRecorder(real, watch),
});
