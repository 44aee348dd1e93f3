import type { NewJob } from '../../ports/queue.ts';
import type { ReconcileJob } from './reconcile.ts';

/** The two looks for what no webhook told, which come again by themselves from then on. */
export function recoveryJobs(runAt: Date): NewJob[] {
  const everything: ReconcileJob = { of: 'installations' };
  return [
    { kind: 'missed_deliveries', key: 'missed-deliveries', payload: {}, runAt, coalesce: true },
    { kind: 'reconcile', key: 'reconcile', payload: everything, runAt, coalesce: true },
  ];
}
