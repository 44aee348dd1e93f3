/** `paused`: starts no run. `disabled`: as if it did not exist. */
export const CHAIN_STATUSES = ['active', 'paused', 'disabled'] as const;
export type ChainStatus = (typeof CHAIN_STATUSES)[number];

/** What the operator says about a chain, for one repository or for all of an owner. */
export interface StoredChain {
  id: string;
  owner: string;
  /** `null`: every repository of the owner. */
  repository: string | null;
  name: string;
  /** The text of a chain file; `null` if the chain is only in files. */
  definition: string | null;
  status: ChainStatus;
  createdAt: Date;
  updatedAt: Date;
}

/** A chain that starts no run here. */
export type HeldChain = Pick<StoredChain, 'name' | 'updatedAt'> & { status: Exclude<ChainStatus, 'active'> };

/**
 * The rows that apply to a repository, one a name: its own before those of its owner. A row that has only a status leaves
 * the owner's definition in force, or to pause the chain would remove it.
 */
export function applyingTo(
  rows: readonly StoredChain[],
  { owner, name }: { owner: string; name: string },
): StoredChain[] {
  const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const own = rows.filter((row) => isSame(row.owner, owner));
  const nearestFirst = [
    ...own.filter(({ repository }) => repository !== null && isSame(repository, name)),
    ...own.filter(({ repository }) => repository === null),
  ];
  const byName = new Map<string, StoredChain>();
  for (const row of nearestFirst) {
    const nearer = byName.get(row.name);
    byName.set(row.name, nearer ? { ...nearer, definition: nearer.definition ?? row.definition } : row);
  }
  return [...byName.values()];
}

/** The chains of these rows that start no run. */
export function heldIn(rows: readonly StoredChain[]): HeldChain[] {
  return rows.flatMap(({ name, status, updatedAt }) =>
    status === 'active' ? [] : [{ name, status, updatedAt }],
  );
}
