import type { Kysely, Selectable } from 'kysely';
import type { NewSkillTrace, SkillTrace, SkillTraces } from '../../ports/skill-traces.ts';
import { reading, toDate, toText } from './columns.ts';
import { ENDED_STATUSES } from './run-statuses.ts';
import type { Database, SkillExecutionTracesTable } from './schema.ts';

export function skillTracesTable(db: Kysely<Database>): SkillTraces {
  return {
    async insert(trace) {
      await db
        .insertInto('skill_execution_traces')
        .values({
          run_id: null,
          session_id: null,
          call_id: null,
          ...ownerColumns(trace.of),
          skill: trace.skill,
          skill_id: trace.skillId,
          artifact: trace.artifact,
          kind: trace.kind,
          input_path: trace.inputPath,
          output_path: trace.outputPath,
          error: trace.error,
          started_at: toText(trace.startedAt),
          completed_at: toText(trace.completedAt),
          duration_ms: trace.completedAt.getTime() - trace.startedAt.getTime(),
          tokens_in: trace.tokens?.input ?? null,
          tokens_out: trace.tokens?.output ?? null,
          model: trace.model,
          cost: trace.cost,
          assertions_run: trace.assertionsRun,
          assertions_passed: trace.assertionsPassed,
        })
        .execute();
    },

    async ofRun(runId) {
      const rows = await db
        .selectFrom('skill_execution_traces')
        .selectAll()
        .where('run_id', '=', runId)
        .orderBy('id')
        .execute();
      return rows.map(traceOf);
    },

    async page({ after, limit, skill, since, overBefore }) {
      let query = db
        .selectFrom('skill_execution_traces')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(limit);
      if (skill !== undefined) query = query.where('skill', '=', skill);
      if (since !== undefined) query = query.where('started_at', '>=', toText(since));
      if (overBefore !== undefined) {
        const before = toText(overBefore);
        query = query.where(({ or, exists, selectFrom }) =>
          or([
            exists(
              selectFrom('chain_runs')
                .select('chain_runs.id')
                .whereRef('chain_runs.id', '=', 'skill_execution_traces.run_id')
                .where('chain_runs.status', 'in', ENDED_STATUSES)
                .where(
                  ({ fn, ref }) => fn.coalesce(ref('chain_runs.finished_at'), ref('chain_runs.updated_at')),
                  '<',
                  before,
                ),
            ),
            exists(
              selectFrom('skill_calls')
                .select('skill_calls.id')
                .whereRef('skill_calls.id', '=', 'skill_execution_traces.call_id')
                .where('skill_calls.finished_at', '<', before),
            ),
          ]),
        );
      }
      return (await query.execute()).map(traceOf);
    },

    async remove(ids) {
      if (ids.length > 0) await db.deleteFrom('skill_execution_traces').where('id', 'in', ids).execute();
    },
  };
}

function ownerColumns(of: NewSkillTrace['of']) {
  return 'callId' in of ? { call_id: of.callId } : { run_id: of.runId, session_id: of.sessionId };
}

function traceOf(row: Selectable<SkillExecutionTracesTable>): SkillTrace {
  const { tokens_in, tokens_out } = row;
  return reading('skill_execution_traces', row.id, () => ({
    id: row.id,
    of: ownerOf(row),
    skill: row.skill,
    skillId: row.skill_id,
    artifact: row.artifact,
    kind: row.kind,
    inputPath: row.input_path,
    outputPath: row.output_path,
    error: row.error,
    startedAt: toDate(row.started_at),
    completedAt: toDate(row.completed_at),
    tokens: tokens_in === null || tokens_out === null ? null : { input: tokens_in, output: tokens_out },
    model: row.model,
    cost: row.cost,
    assertionsRun: row.assertions_run,
    assertionsPassed: row.assertions_passed,
  }));
}

function ownerOf({ run_id, session_id, call_id }: Selectable<SkillExecutionTracesTable>): SkillTrace['of'] {
  if (call_id !== null) return { callId: call_id };
  if (run_id === null || session_id === null) throw new TypeError('it belongs to no run and to no call');
  return { runId: run_id, sessionId: session_id };
}
