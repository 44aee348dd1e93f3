/** Named checks of what the app needs to work. Each rejects if its part does not respond. */
export type Checks = Readonly<Record<string, () => Promise<void>>>;

export interface Failure {
  check: string;
  error: unknown;
}

/** Runs all checks in parallel and returns those that failed or took longer than `ms` milliseconds. */
export async function failedChecks(checks: Checks, ms: number): Promise<Failure[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([check, run]): Promise<Failure[]> => {
      try {
        await within(ms, run());
        return [];
      } catch (error) {
        return [{ check, error }];
      }
    }),
  );
  return results.flat();
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${ms} ms`)), ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
