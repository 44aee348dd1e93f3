import { type RawBuilder, sql } from 'kysely';
import { isRunOver, RUN_STATUSES, type RunStatus } from '../../domain/run/run.ts';

/** The statuses of runs that have ended. */
export const ENDED_STATUSES: readonly RunStatus[] = RUN_STATUSES.filter(isRunOver);

/** The same, written out. */
export const ENDED = writtenOut(ENDED_STATUSES);

/** The statuses of runs that have not ended, written out as in the index `chain_runs_unfinished`: for parameters, no database uses it. */
export const UNFINISHED = writtenOut(RUN_STATUSES.filter((status) => !isRunOver(status)));

function writtenOut(statuses: readonly RunStatus[]): RawBuilder<unknown> {
  return sql.join(statuses.map((status) => sql.lit(status)));
}
