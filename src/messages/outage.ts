/** @param because what GitHub answered, or that it did not. */
export function gitHubIsUnavailable(because: string): string {
  return `GitHub cannot be asked for now, so this is tried again by itself (${because.replace(/\.$/, '')})`;
}
