/** The app's own check runs, which report no chain. */
export const OWN_CHECKS = {
  configuration: 'countersign / configuration',
  baseConfiguration: 'countersign / base configuration',
} as const;

/** The name of the check run that reports a chain's runs. */
export function chainCheckName(chain: string): string {
  return `countersign / ${chain}`;
}

/** Whether a chain of this name would report under the name of one of the app's own check runs. */
export function isReservedChainName(chain: string): boolean {
  return (Object.values(OWN_CHECKS) as string[]).includes(chainCheckName(chain));
}
