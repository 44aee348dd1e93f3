import { parentPort } from 'node:worker_threads';

parentPort?.postMessage({ kind: 'started', as: { url: 'http://127.0.0.1:1', metricsUrl: undefined } });
setTimeout(() => {
  throw new Error('the intake failed');
}, 10);
