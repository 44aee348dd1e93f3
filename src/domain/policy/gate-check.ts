/** Who merges after the gate opens; `merge: { by: … }` in the settings. */
export const MERGED_BY = ['app', 'people', 'queue'] as const;
export type MergedBy = (typeof MERGED_BY)[number];

/**
 * The name of the gate check for a base branch: the one check to require in branch protection. It contains
 * the base, because GitHub looks up required checks only by commit and name. Without the base, a check that
 * is green for a branch where anybody may merge would also open `main` for the same commit. A branch name has
 * no spaces (git-check-ref-format), and chains report as `countersign / <chain>`, so no other check of this
 * app can have this name.
 */
export function gateCheckName(baseRef: string): string {
  return `countersign: ${baseRef}`;
}

/** Whether the branch protection makes the merge button obey the gate check. */
export type GateProtection =
  /** The branch requires the gate check from this app only. */
  | 'enforced'
  /** The branch requires a check with that name from any app. */
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
