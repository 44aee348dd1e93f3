import { parentPort, workerData } from 'node:worker_threads';
import { runStudio } from './composition/studio/run.ts';

if (!parentPort) throw new Error('this program runs only as a thread of the app');
await runStudio(workerData, parentPort);
