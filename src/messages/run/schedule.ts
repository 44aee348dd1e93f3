import { type Reason, reason } from '../../domain/explanation/reason.ts';
import type { Run } from '../../domain/run/run.ts';

/** The reason of a run that `overlap: cancel_running` ends. */
export function scheduledRunReplaced({ id, chain }: Pick<Run, 'id' | 'chain'>): Reason {
  return reason('run.cancelled.newer_run', `replaced by the next scheduled run of ${chain}`, [
    { kind: 'run', id, label: chain },
  ]);
}
