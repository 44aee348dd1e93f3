import { redact } from './redact/redact.ts';

/**
 * An error that a person can act on. Its message is a sentence for that person, its code is for programs. Any
 * other error is a bug of ours, and the log gets its stack.
 *
 * The constructor redacts the message: it is shown in comments, rows and terminals, and may quote any text.
 */
export class CountersignError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(redact(message), options);
    this.name = 'CountersignError';
    this.code = code;
  }
}

/**
 * Marks code that an exhaustive switch never reaches. The compiler reports a missing case as a type error.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** The message of any thrown value, redacted. */
export function messageOf(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error));
}
