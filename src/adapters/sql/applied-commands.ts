import type { Kysely } from 'kysely';
import { givenAtSchema } from '../../domain/command/order.ts';
import type { AppliedCommands } from '../../ports/storage.ts';
import { fromJson, reading } from './columns.ts';
import type { Database } from './schema.ts';

export function appliedCommandsTable(db: Kysely<Database>): AppliedCommands {
  return {
    async of(repositoryId, pullRequest) {
      const rows = await db
        .selectFrom('applied_commands')
        .selectAll()
        .where('repository_id', '=', repositoryId)
        .where('pull_request', '=', pullRequest)
        .orderBy('scope')
        .execute();
      return rows.map((row) =>
        reading('applied_commands', `${repositoryId}#${pullRequest} ${row.scope}`, () => ({
          scope: row.scope,
          verb: row.verb,
          actor: row.actor,
          given: fromJson(givenAtSchema, row.given_json),
        })),
      );
    },

    async put(repositoryId, pullRequest, { scope, verb, actor, given }) {
      const value = { verb, actor, given_json: JSON.stringify(given) };
      await db
        .insertInto('applied_commands')
        .values({ repository_id: repositoryId, pull_request: pullRequest, scope, ...value })
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'pull_request', 'scope']).doUpdateSet(value),
        )
        .execute();
    },
  };
}
