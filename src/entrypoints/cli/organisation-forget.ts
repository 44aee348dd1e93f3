import { CountersignError } from '../../core/errors.ts';
import { noteOrganisation, recallOrganisation } from '../../engine/configuration/organisation-memory.ts';
import { organisationForgotten, unknownOrganisation } from '../../messages/cli/cli.ts';
import type { Context, DatabaseOption, Output } from './context.ts';

/**
 * Confirms that an organisation no longer has settings. GitHub answers 404 both for that and for a lost
 * access to the settings' repository, so a person must decide.
 */
export function organisationForget(
  { clock, tools }: Context,
  owner: string,
  { database }: DatabaseOption,
): Promise<Output> {
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
