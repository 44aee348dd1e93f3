/** @param because GitHub's response, or that there was none */
export function gitHubIsUnavailable(because: string): string {
  return `GitHub cannot be asked for now, so this is tried again by itself (${because.replace(/\.$/, '')})`;
}

/** Why work waits while the rate limit is spent. Times are UTC, as on GitHub's own pages about limits. */
export function limitIsSpent(goesOnAt: Date): string {
  const minute = 60_000;
  const rounded = new Date(Math.ceil(goesOnAt.getTime() / minute) * minute);
  return `GitHub’s rate limit of this installation is spent; work goes on at ${rounded.toISOString().slice(11, 16)} UTC`;
}
