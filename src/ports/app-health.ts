import type { RateLimitStatus, SignedOut } from './github.ts';
import type { JobKind } from './jobs.ts';
import type { Queue } from './queue.ts';

/** What only the engine knows, because it is in its memory. */
export interface EngineHealth {
  /** When this was so. */
  at: Date;
  /** Of every installation that was used since the start. */
  rateLimits: readonly RateLimitStatus[];
  /** For which GitHub refuses authentication. */
  signedOut: readonly SignedOut[];
  /** Jobs that wait until a limit or an outage of GitHub ends, by kind. */
  waiting: readonly (readonly [JobKind, number])[];
  slots: ReturnType<Queue['slots']>;
}

/** How the running app is, as its probes say it, and what its engine says of GitHub. */
export interface AppHealth {
  /** The checks of `/readyz` that fail; without any, webhooks are accepted. */
  failures: readonly string[];
  /** Why work waits although webhooks are accepted. */
  warnings: readonly string[];
  /** For how long the engine has not responded, in milliseconds. */
  silentMs: number;
  engine: EngineHealth;
}
