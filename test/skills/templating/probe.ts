import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

/** Replaces the render worker: tries what a template would try if it escaped its engine, and reports the results. */
const attempts: Record<string, () => unknown> = {
  'read /etc/passwd': () => readFileSync('/etc/passwd'),
  'read the app’s package.json': () => readFileSync(new URL('../../../package.json', import.meta.url)),
  'write a file': () => writeFileSync('/tmp/countersign-probe', ''),
  'start a process': () => spawn('true'),
  'start a thread': () => new Worker('', { eval: true }),
  'make code of a text': () => new Function('return 1')(),
};

function outcomeOf(attempt: () => unknown): string {
  try {
    attempt();
    return 'it worked';
  } catch (error) {
    if (!(error instanceof Error)) return 'it failed';
    return 'code' in error ? String(error.code) : error.name;
  }
}

const outcomes = Object.entries(attempts).map(([name, attempt]) => [name, outcomeOf(attempt)]);
// The shell that sets the limits leaves its working folder, which is `/`.
const environment = Object.keys(process.env).filter((name) => name !== 'PWD');
process.stdin.once('data', () =>
  process.stdout.write(`${JSON.stringify({ environment, ...Object.fromEntries(outcomes) })}\n`),
);
