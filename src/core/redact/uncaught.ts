import { inspect } from 'node:util';
import { redact } from './redact.ts';

/**
 * Node prints an uncaught error with its causes and members, which bypasses the log. This redacts it. The
 * process still exits with 1.
 */
export function redactLastWords(): void {
  process.setUncaughtExceptionCaptureCallback((error: unknown) => {
    process.stderr.write(`${redact(inspect(error, { depth: 6 }))}\n`);
    process.exit(1);
  });
}
