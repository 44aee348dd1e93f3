import type { Start } from '../protocol.ts';
import { type Ending, readLine, send } from './line.ts';

/**
 * The process of one execution. It trusts the app, and the app does not trust it: whatever a program does
 * here, it can only write lines, which the app validates. So nothing is validated here, where the program
 * could disable it.
 */
const MAX_MESSAGE = 2_000;
const MAX_DETAILS = 20_000;

const start = JSON.parse(readLine()) as Start;
const { message, details, ...ending } = await run(start);
send({
  kind: 'end',
  ...ending,
  message: message.slice(0, MAX_MESSAGE),
  details: details.slice(-MAX_DETAILS),
});

async function run(start: Start): Promise<Ending> {
  switch (start.language) {
    case 'javascript':
      return (await import('./javascript.ts')).runJavaScript(start);
    case 'python':
      return (await import('./python.ts')).runPython(start);
  }
}
