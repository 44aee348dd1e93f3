import { inspect } from 'node:util';
import { redact } from './redact.ts';

/**
 * What Node prints when nobody caught an error is the whole error with its causes and members: a way out past the log. From
 * now on it is redacted; the process still ends with 1.
 */
export function redactLastWords(): void {
  process.setUncaughtExceptionCaptureCallback((error: unknown) => {
    process.stderr.write(`${redact(inspect(error, { depth: 6 }))}\n`);
    process.exit(1);
  });
}
