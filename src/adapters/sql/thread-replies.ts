import type { Kysely } from 'kysely';
import type { ThreadReplies } from '../../ports/thread-replies.ts';
import { toText } from './columns.ts';
import type { Database } from './schema.ts';

export function threadRepliesTable(db: Kysely<Database>): ThreadReplies {
  return {
    async add({ commentId, thread, repositoryId, pullRequest, askedBy, at }) {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('thread_replies')
        .values({
          comment_id: commentId,
          thread,
          repository_id: repositoryId,
          pull_request: pullRequest,
          asked_by: askedBy,
          asked_at: toText(at),
        })
        .onConflict((conflict) => conflict.column('comment_id').doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },

    async threadsSince({ repositoryId, pullRequest }, since) {
      const rows = await db
        .selectFrom('thread_replies')
        .select('thread')
        .where('repository_id', '=', repositoryId)
        .where('pull_request', '=', pullRequest)
        .where('asked_at', '>', toText(since))
        .execute();
      return rows.map(({ thread }) => thread);
    },
  };
}
