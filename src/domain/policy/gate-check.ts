/** Who merges once the gate is open; `merge: { by: … }` in the settings. */
export const MERGED_BY = ['app', 'people', 'queue'] as const;
export type MergedBy = (typeof MERGED_BY)[number];

/**
 * The name of the gate check for a base branch: the one check to require in branch protection. The name carries the base,
 * because GitHub looks up required checks by commit and name alone. Without it, a check that is green for a branch where
 * anybody may merge would open `main` for the same commit. A branch name holds no space (git-check-ref-format), and
 * chains report as `countersign / <chain>`, so no other check of this app has such a name.
 */
export function gateCheckName(baseRef: string): string {
  return `countersign: ${baseRef}`;
}

/** How far the protection of a branch makes the merge button obey the gate check. */
export type GateProtection =
  /** The branch requires the gate check, and from this app alone. */
  | 'enforced'
  /** The branch requires a check of that name, from whichever app sets it. */
  | 'any_app'
  /** The branch does not require it: the merge button works without a countersign. */
  | 'open';

/** @param required the checks that the branch requires, from protection and rulesets together */
export function gateProtection(
  required: readonly { name: string; appId: number | null }[],
  baseRef: string,
  ownAppId: number,
): GateProtection {
  const rules = required.filter(({ name }) => name === gateCheckName(baseRef));
  if (rules.some(({ appId }) => appId === ownAppId)) return 'enforced';
  return rules.length > 0 ? 'any_app' : 'open';
}
