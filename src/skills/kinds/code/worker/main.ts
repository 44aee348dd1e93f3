import type { Start } from '../protocol.ts';
import { type Ending, hear, say } from './line.ts';

/**
 * The process of one execution. It believes the app and needs not be believed itself: whatever a template makes of it, it can only write
 * lines, which the app checks. So nothing is checked here, where a check could be removed.
 */
const MAX_MESSAGE = 2_000;
const MAX_DETAILS = 20_000;

const start = JSON.parse(hear()) as Start;
const { message, details, ...ending } = await run(start);
say({
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
