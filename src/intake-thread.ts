import { parentPort, workerData } from 'node:worker_threads';
import { runIntake } from './composition/intake/run.ts';

if (!parentPort) throw new Error('this program runs only as a thread of the app');
await runIntake(workerData, parentPort);
