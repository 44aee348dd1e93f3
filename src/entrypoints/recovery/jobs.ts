import { type JobRunners, type NewJob, reconcileJob } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import { fetchMissedDeliveries, type MissedDeliveriesDeps, POLL_EVERY_MS } from './missed-deliveries.ts';
import { type ReconcileDeps, reconcile, skipFailedRepository } from './reconcile.ts';

/** The two jobs that find what no webhook reported. Each then schedules itself. */
export function firstRecoveryJobs(runAt: Date): NewJob[] {
  return [
    {
      kind: 'missed_deliveries',
      installationId: null,
      key: 'missed-deliveries',
      payload: {},
      runAt,
      coalesce: true,
    },
    reconcileJob(runAt),
  ];
}

/** These jobs never end: when retries are exhausted, the job is scheduled for its usual time. */
export function recoveryJobs(
  deps: MissedDeliveriesDeps & ReconcileDeps & { queue: Pick<Queue, 'enqueue'> },
): Pick<JobRunners, 'missed_deliveries' | 'reconcile'> {
  const { storage, queue, clock, log } = deps;

  async function pollLater(job: string, err: unknown): Promise<void> {
    log.error({ job, err }, 'gave up looking for missed deliveries');
    const runAt = new Date(clock.now().getTime() + POLL_EVERY_MS);
    await storage.transaction((tx) => queue.enqueue(tx, ...firstRecoveryJobs(runAt)));
  }

  return {
    missed_deliveries: {
      run: (_, signal) => fetchMissedDeliveries(deps, signal),
      onRetriesExhausted: (_, error) => pollLater('missed_deliveries', error),
    },
    reconcile: {
      run: (payload, signal) => reconcile(deps, payload, signal),
      async onRetriesExhausted(payload, error) {
        await skipFailedRepository(deps, payload);
        await pollLater('reconcile', error);
      },
    },
  };
}
