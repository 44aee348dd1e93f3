import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Storage, Tx } from '../../ports/storage.ts';

const seenSchema = z.strictObject({
  sha: z.string(),
  seen_at: z.iso.datetime(),
  sets_rollout: z.boolean().optional(),
});

/** When an organisation was last seen with configuration, and the commit of its `.github` repository. */
export interface SeenOrganisation {
  sha: string;
  seenAt: Date;
  /** Whether its settings set the rollout when they were last readable. */
  setsRollout: boolean;
}

/** `setsRollout`: left out if its settings cannot be read now. */
type Noted = Pick<SeenOrganisation, 'sha'> & Partial<Pick<SeenOrganisation, 'setsRollout'>>;

/**
 * Remembers which organisations had configuration. GitHub answers 404 both for a missing repository and for
 * one that the app may not read. So only this memory distinguishes an organisation without settings from one
 * that removed the app's access to them.
 */
export interface OrganisationMemory {
  recall(owner: string): Promise<SeenOrganisation | undefined>;
  /** @param seen with the commit of the configuration; `null` if GitHub shows that there is none */
  note(owner: string, seen: Noted | null): Promise<void>;
}

/** For callers without storage. It remembers nothing, so a 404 counts as no configuration. */
export const NO_MEMORY: OrganisationMemory = {
  recall: async () => undefined,
  note: async () => {},
};

/** What an app noted in the database, for callers that only read it. */
export function onlyRecalled(read: Pick<Tx, 'cursors'>): OrganisationMemory {
  return { recall: (owner) => recallOrganisation(read, owner), note: async () => {} };
}

export function createOrganisationMemory(
  storage: Pick<Storage, 'read' | 'transaction'>,
  clock: Clock,
): OrganisationMemory {
  return {
    recall: (owner) => recallOrganisation(storage.read, owner),
    async note(owner, seen) {
      const known = await recallOrganisation(storage.read, owner);
      const setsRollout = seen?.setsRollout ?? known?.setsRollout ?? false;
      if ((known?.sha ?? null) === (seen?.sha ?? null) && (!known || known.setsRollout === setsRollout))
        return;
      const now = seen && { sha: seen.sha, setsRollout };
      await storage.transaction((tx) => noteOrganisation(tx, owner, now, clock.now()));
    },
  };
}

export async function recallOrganisation(
  { cursors }: Pick<Tx, 'cursors'>,
  owner: string,
): Promise<SeenOrganisation | undefined> {
  const position = await cursors.get(cursorName(owner));
  if (position === undefined || position === null) return undefined;
  const { sha, seen_at, sets_rollout = false } = seenSchema.parse(position);
  return { sha, seenAt: new Date(seen_at), setsRollout: sets_rollout };
}

/** @param seen `null` removes the entry */
export async function noteOrganisation(
  { cursors }: Pick<Tx, 'cursors'>,
  owner: string,
  seen: Pick<SeenOrganisation, 'sha' | 'setsRollout'> | null,
  at: Date,
): Promise<void> {
  const position = seen && {
    sha: seen.sha,
    seen_at: at.toISOString(),
    ...(seen.setsRollout && { sets_rollout: true }),
  };
  await cursors.set(cursorName(owner), position, at);
}

/** GitHub compares logins without case. */
const cursorName = (owner: string) => `organisation:${owner.toLowerCase()}`;
