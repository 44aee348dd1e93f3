import type { Kysely } from 'kysely';
import { type GateVerdict, gateVerdictSchema } from '../../domain/outcome/gate-verdict.ts';
import { newestVerdicts } from '../../domain/policy/gate/verdict.ts';
import { fromJson, reading } from './columns.ts';
import type { Database } from './schema.ts';

/**
 * The newest verdict of each gate of a run. Verdicts are artifacts like other outcomes. Rejected: a separate
 * table, which would store them twice, and the copies could differ.
 */
export async function verdictsOf(db: Kysely<Database>, runId: string): Promise<GateVerdict[]> {
  const rows = await db
    .selectFrom('artifacts')
    .select(['id', 'content'])
    .where('run_id', '=', runId)
    .where('kind', '=', 'gate_verdict')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const verdicts = rows.map(({ id, content }) =>
    reading('artifacts', id, () => fromJson(gateVerdictSchema, content ?? 'null')),
  );
  return newestVerdicts(verdicts);
}
