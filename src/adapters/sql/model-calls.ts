import type { Kysely, Selectable } from 'kysely';
import type { ModelCall, ModelCalls } from '../../ports/model-calls.ts';
import { mustExist, reading, toDate, toDateOrNull, toText } from './columns.ts';
import type { Database, ModelCallsTable } from './schema.ts';

export function modelCallsTable(db: Kysely<Database>): ModelCalls {
  return {
    async begin(call) {
      const { id } = await db
        .insertInto('model_calls')
        .values({
          run_id: call.runId,
          session_id: call.sessionId,
          repository_id: call.repositoryId,
          pull_request: call.pullRequest,
          skill: call.skill,
          artifact: call.artifact,
          model: call.model,
          tokens: call.tokens,
          cost: call.cost,
          started_at: toText(call.startedAt),
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return id;
    },

    async end(id, { tokens, cost, completedAt, error }) {
      const usage = tokens && {
        tokens: tokens.input + tokens.output,
        cost,
        tokens_in: tokens.input,
        tokens_out: tokens.output,
      };
      const { numUpdatedRows } = await db
        .updateTable('model_calls')
        .set({ ...usage, completed_at: toText(completedAt), error })
        .where('id', '=', id)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'model_calls', id);
    },

    async spent(of) {
      const sums = db
        .selectFrom('model_calls')
        .select(({ fn }) => [fn.sum<number>('tokens').as('tokens'), fn.sum<number>('cost').as('cost')]);
      const matching =
        'runId' in of
          ? sums.where('run_id', '=', of.runId)
          : 'since' in of
            ? sums.where('started_at', '>=', toText(of.since))
            : sums.where('repository_id', '=', of.repositoryId).where('pull_request', '=', of.pullRequest);
      const { tokens, cost } = await matching.executeTakeFirstOrThrow();
      // SUM of no rows is NULL.
      return { tokens: Number(tokens ?? 0), cost: Number(cost ?? 0) };
    },

    async ofRun(runId) {
      const rows = await db
        .selectFrom('model_calls')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('id')
        .execute();
      return rows.map(callOf);
    },
  };
}

function callOf(row: Selectable<ModelCallsTable>): ModelCall {
  return reading('model_calls', row.id, () => ({
    id: row.id,
    runId: row.run_id,
    sessionId: row.session_id,
    repositoryId: row.repository_id,
    pullRequest: row.pull_request,
    skill: row.skill,
    artifact: row.artifact,
    model: row.model,
    tokens: row.tokens,
    cost: row.cost,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    startedAt: toDate(row.started_at),
    completedAt: toDateOrNull(row.completed_at),
    error: row.error,
  }));
}
