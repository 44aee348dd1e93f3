import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long the tests wait for what must come. It only ends a test that hangs: no machine is so busy that it needs half of it. The
 * limit of a test itself, in vitest.config.ts, is longer, so that the message says what the test waited for.
 */
const PATIENCE_MS = 90_000;

interface Waiting {
  /** What it last looked like, for the message when the time is over. */
  last?: () => unknown;
  timeoutMs?: number;
}

/** Polls until it finds something. @throws Error that names it if it never comes. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  { last = () => '', timeoutMs = PATIENCE_MS }: Waiting = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) {
      throw new Error(`waited ${timeoutMs / 1_000} s in vain for ${what}: ${JSON.stringify(last())}`);
    }
    await sleep(25);
  }
}
