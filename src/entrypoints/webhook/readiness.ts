import type { Log } from '../../core/log.ts';
import { within } from '../../core/within.ts';
import { StorageLocked } from '../../ports/locked.ts';
import { lockedByAnother } from './refusals.ts';

/** Named checks of what the app needs to work. Each rejects if its part does not respond. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

/** How long a check may take, in milliseconds. */
const CHECK_MS = 2_000;

interface Failure {
  check: string;
  error: unknown;
}

/** What the answer of `/readyz` says. All of it is safe to publish. */
export interface Readiness {
  failures: readonly string[];
  /** Why work waits although webhooks are accepted. */
  warnings: readonly string[];
}

/** Runs all checks in parallel and returns and logs those that failed or took longer than `ms` milliseconds. */
export async function failedChecks(checks: Checks, log: Log, ms = CHECK_MS): Promise<Failure[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([check, run]): Promise<Failure[]> => {
      try {
        await within(ms, run(), `no answer within ${ms} ms`);
        return [];
      } catch (error) {
        log.warn({ check, err: error }, 'not ready');
        return [{ check, error }];
      }
    }),
  );
  return results.flat();
}

/** Anybody can read `/readyz`, so it has only what an operator needs. The log has the details. */
export function publicNames(failures: readonly Failure[]): string[] {
  return failures.map(({ check, error }) =>
    error instanceof StorageLocked ? lockedByAnother(check) : check,
  );
}
