import type { Kysely } from 'kysely';
import type { Pushes } from '../../ports/storage.ts';
import { toText } from './columns.ts';
import type { Database } from './schema.ts';

/** SQLite limits the parameters of one statement. */
const BATCH = 500;

export function pushesTable(db: Kysely<Database>): Pushes {
  return {
    async record({ repositoryId, before, after, actorId }, at) {
      await db
        .insertInto('pushes')
        .values({
          repository_id: repositoryId,
          after_sha: after,
          before_sha: before,
          actor_id: actorId,
          recorded_at: toText(at),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async of(repositoryIds, shas) {
      const found = [];
      for (let from = 0; from < shas.length; from += BATCH) {
        const rows = await db
          .selectFrom('pushes')
          .select(['before_sha', 'after_sha', 'actor_id'])
          .where('repository_id', 'in', repositoryIds)
          .where('after_sha', 'in', shas.slice(from, from + BATCH))
          .execute();
        found.push(...rows);
      }
      return found.map(({ before_sha, after_sha, actor_id }) => ({
        before: before_sha,
        after: after_sha,
        actorId: actor_id,
      }));
    },
  };
}
