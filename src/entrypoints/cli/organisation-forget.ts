import { CountersignError } from '../../core/errors.ts';
import { noteOrganisation, recallOrganisation } from '../../engine/configuration/organisation-memory.ts';
import { organisationForgotten, unknownOrganisation } from '../../messages/cli.ts';
import type { Context, DatabaseOption, Said } from './context.ts';

/**
 * Confirms that an organisation has no settings any more. Only a person can tell that from an app that was taken out of the
 * repository which holds them: GitHub answers both with 404.
 */
export function organisationForget(
  { clock, tools }: Context,
  owner: string,
  { database }: DatabaseOption,
): Promise<Said> {
  return tools.withDatabase(database, 'write', (storage) =>
    storage.transaction(async (tx) => {
      const seen = await recallOrganisation(tx, owner);
      if (!seen) throw new CountersignError('cli.unknown_organisation', unknownOrganisation(owner));
      await noteOrganisation(tx, owner, null, clock.now());
      return {
        text: organisationForgotten(owner, seen),
        json: { organisation: owner, sha: seen.sha, seen_at: seen.seenAt.toISOString() },
      };
    }),
  );
}
