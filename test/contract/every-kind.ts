import type { JobKind } from '../../src/ports/jobs.ts';
import type { JobHandler } from '../../src/ports/queue.ts';

/** One handler for all kinds of jobs. */
export function everyKind(handler: JobHandler): Record<JobKind, JobHandler> {
  return {
    delivery: handler,
    event: handler,
    session: handler,
    review: handler,
    wake: handler,
    effect: handler,
    ask: handler,
    thread: handler,
    signal: handler,
    missed_deliveries: handler,
    reconcile: handler,
    merge_group: handler,
    questions: handler,
    notify: handler,
    retention: handler,
    bodies: handler,
    chains: handler,
    skill_indexes: handler,
    schedules: handler,
  };
}
