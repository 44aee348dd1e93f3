import type { Kysely, Selectable } from 'kysely';
import { decisionSchema } from '../../domain/skill/decision.ts';
import type { SkillCall, SkillCalls } from '../../ports/skill-traces.ts';
import { fromJsonOrNull, mustExist, reading, toDate, toDateOrNull, toJsonOrNull, toText } from './columns.ts';
import type { Database, SkillCallsTable } from './schema.ts';

export function skillCallsTable(db: Kysely<Database>): SkillCalls {
  const found = async (column: 'id' | 'comment_id', value: string | number) => {
    const row = await db.selectFrom('skill_calls').selectAll().where(column, '=', value).executeTakeFirst();
    return row && callOf(row);
  };

  return {
    async insert(call) {
      await db
        .insertInto('skill_calls')
        .values({
          id: call.id,
          installation_id: call.installationId,
          repository_id: call.repositoryId,
          repository: call.repository,
          pull_request: call.pullRequest,
          comment_id: call.commentId,
          asked_by: call.askedBy,
          question: call.question,
          decision_json: toJsonOrNull(call.decision),
          created_at: toText(call.createdAt),
          finished_at: toText(call.finishedAt),
        })
        .execute();
    },

    get: (id) => found('id', id),
    ofComment: (commentId) => found('comment_id', commentId),

    async save({ id, decision, finishedAt }) {
      const { numUpdatedRows } = await db
        .updateTable('skill_calls')
        .set({ decision_json: toJsonOrNull(decision), finished_at: toText(finishedAt) })
        .where('id', '=', id)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'skill_calls', id);
    },
  };
}

function callOf(row: Selectable<SkillCallsTable>): SkillCall {
  return reading('skill_calls', row.id, () => ({
    id: row.id,
    installationId: row.installation_id,
    repositoryId: row.repository_id,
    repository: row.repository,
    pullRequest: row.pull_request,
    commentId: row.comment_id,
    askedBy: row.asked_by,
    question: row.question,
    decision: fromJsonOrNull(decisionSchema, row.decision_json),
    createdAt: toDate(row.created_at),
    finishedAt: toDateOrNull(row.finished_at),
  }));
}
