import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Storage, Tx } from '../../ports/storage.ts';

const seenSchema = z.strictObject({ sha: z.string(), seen_at: z.iso.datetime() });

/** When an organisation last had files that govern, and the commit of its `.github` repository that held them. */
export interface SeenOrganisation {
  sha: string;
  seenAt: Date;
}

/**
 * What is remembered of organisations beyond what GitHub says now. GitHub answers 404 both for what is not there and for what an
 * app may not see, so only somebody who remembers can tell an organisation without settings from one that took the app out of the
 * repository that holds them.
 */
export interface OrganisationMemory {
  recall(owner: string): Promise<SeenOrganisation | undefined>;
  /** @param sha the commit that holds files that govern; `null` when GitHub shows that there are none */
  note(owner: string, sha: string | null): Promise<void>;
}

/** For whoever only looks once and keeps nothing: it remembers nothing, and so takes a 404 for what it says. */
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
  const position = await cursors.get(nameOf(owner));
  if (position === undefined || position === null) return undefined;
  const { sha, seen_at } = seenSchema.parse(position);
  return { sha, seenAt: new Date(seen_at) };
}

/** @param sha `null`: it is remembered no longer */
export async function noteOrganisation(
  { cursors }: Pick<Tx, 'cursors'>,
  owner: string,
  sha: string | null,
  at: Date,
): Promise<void> {
  await cursors.set(nameOf(owner), sha === null ? null : { sha, seen_at: at.toISOString() }, at);
}

/** Logins differ by case for people alone. */
const nameOf = (owner: string) => `organisation:${owner.toLowerCase()}`;
