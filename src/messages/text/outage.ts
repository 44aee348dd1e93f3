/** @param because GitHub's response, or that there was none */
export function gitHubIsUnavailable(because: string): string {
  return `GitHub cannot be asked for now, so this is tried again by itself (${because.replace(/\.$/, '')})`;
}
