/** The roles on a repository, lowest first. */
export const REPOSITORY_ROLES = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const;
export type RepositoryRole = (typeof REPOSITORY_ROLES)[number];

/** Whether a role is at least the needed one. Unknown roles never are, on either side (I5). */
export function isAtLeast(role: string, needed: RepositoryRole): boolean {
  const roles: readonly string[] = REPOSITORY_ROLES;
  const rank = (name: string) => roles.indexOf(name);
  return rank(needed) >= 0 && rank(role) >= rank(needed);
}
