/** The app's own check runs, which report no chain. */
export const OWN_CHECKS = {
  configuration: 'countersign / configuration',
  baseConfiguration: 'countersign / base configuration',
} as const;

export function chainCheckName(chain: string): string {
  return `countersign / ${chain}`;
}

/** Whether a chain with this name would have the check run name of one of the app's own check runs. */
export function isReservedChainName(chain: string): boolean {
  return (Object.values(OWN_CHECKS) as string[]).includes(chainCheckName(chain));
}
