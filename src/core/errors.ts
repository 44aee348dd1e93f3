import { redact } from './redact/redact.ts';

/**
 * An error that a person can act on: its message is a sentence for them, its code is for programs.
 * Anything else that is thrown is a bug of ours and is logged with its stack.
 * The message is redacted from the start: it ends in comments, in rows and on terminals, and may quote anything.
 */
export class CountersignError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(redact(message), options);
    this.name = 'CountersignError';
    this.code = code;
  }
}

/** Marks a place that an exhaustive switch never reaches; the type error is the point. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** The message of anything that was thrown, without secrets. */
export function messageOf(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error));
}
