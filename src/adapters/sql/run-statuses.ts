import { sql } from 'kysely';
import { isRunOver, RUN_STATUSES } from '../../domain/run/run.ts';

/** The statuses of runs that have not ended, written out as in the index `chain_runs_unfinished`: for parameters, no database uses it. */
export const UNFINISHED = sql.join(
  RUN_STATUSES.filter((status) => !isRunOver(status)).map((status) => sql.lit(status)),
);
