/** Where dry runs begin, and the pages of their results are. */
export const DRY_RUNS = '/chains/dry-runs';

/** Where chains are fired by hand. */
export const FIRED = '/chains/fired';

/** What other pages are at, where a chain of that name would be. */
const TAKEN: ReadonlySet<string> = new Set(['check', 'dry-runs', 'fired', 'named']);

/** The path of a chain's page. */
export function chainPath(name: string): string {
  return TAKEN.has(name) ? `/chains/named/${name}` : `/chains/${name}`;
}
