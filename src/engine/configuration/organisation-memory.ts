import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Storage, Tx } from '../../ports/storage.ts';

const seenSchema = z.strictObject({ sha: z.string(), seen_at: z.iso.datetime() });

/** When an organisation was last seen with configuration, and the commit of its `.github` repository. */
export interface SeenOrganisation {
  sha: string;
  seenAt: Date;
}

/**
 * Remembers which organisations had configuration. GitHub answers 404 both for a missing repository and for
 * one that the app may not read. So only this memory distinguishes an organisation without settings from one
 * that removed the app's access to them.
 */
export interface OrganisationMemory {
  recall(owner: string): Promise<SeenOrganisation | undefined>;
  /** @param sha the commit with the configuration; `null` if GitHub shows that there is none */
  note(owner: string, sha: string | null): Promise<void>;
}

/** For callers without storage. It remembers nothing, so a 404 counts as no configuration. */
export const NO_MEMORY: OrganisationMemory = {
  recall: async () => undefined,
  note: async () => {},
};

export function createOrganisationMemory(
  storage: Pick<Storage, 'read' | 'transaction'>,
  clock: Clock,
): OrganisationMemory {
  return {
    recall: (owner) => recallOrganisation(storage.read, owner),
    async note(owner, sha) {
      const known = await recallOrganisation(storage.read, owner);
      if ((known?.sha ?? null) === sha) return;
      await storage.transaction((tx) => noteOrganisation(tx, owner, sha, clock.now()));
    },
  };
}

export async function recallOrganisation(
  { cursors }: Pick<Tx, 'cursors'>,
  owner: string,
): Promise<SeenOrganisation | undefined> {
  const position = await cursors.get(cursorName(owner));
  if (position === undefined || position === null) return undefined;
  const { sha, seen_at } = seenSchema.parse(position);
  return { sha, seenAt: new Date(seen_at) };
}

/** @param sha `null` removes the entry */
export async function noteOrganisation(
  { cursors }: Pick<Tx, 'cursors'>,
  owner: string,
  sha: string | null,
  at: Date,
): Promise<void> {
  await cursors.set(cursorName(owner), sha === null ? null : { sha, seen_at: at.toISOString() }, at);
}

/** GitHub compares logins without case. */
const cursorName = (owner: string) => `organisation:${owner.toLowerCase()}`;
