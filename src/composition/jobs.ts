import { effectJobs } from '../engine/effects/perform.ts';
import { runJobs } from '../engine/runs/jobs.ts';
import { tracedJobs } from '../engine/traces/traced-jobs.ts';
import { recoveryJobs } from '../entrypoints/recovery/jobs.ts';
import { bodyJobs } from '../entrypoints/retention/pack-bodies.ts';
import { retentionJobs } from '../entrypoints/retention/retention.ts';
import { deliveryJobs } from '../entrypoints/webhook/delivery/process.ts';
import type { JobRunners } from '../ports/jobs.ts';
import { indexCheckJobs } from '../skills/catalogue/sync/check.ts';
import type { EngineParts } from './engine.ts';
import type { Platform } from './platform.ts';

/**
 * The runner of each kind of job. A new kind needs a payload in `ports/jobs.ts`, a runner in its feature's
 * folder, and a line here.
 */
export function buildJobs(
  platform: Platform,
  {
    engine,
    writers,
    onEvent,
    onEventWithin,
    sessions,
    mergeGroups,
    questions,
    notify,
    chains,
    schedules,
    ask,
    threads,
    ended,
  }: EngineParts,
): JobRunners {
  const { config, github, retention, tracer } = platform;
  const runners: JobRunners = {
    delivery: deliveryJobs({ ...platform, appId: github.appId, onEvent, onEventWithin }),
    ...runJobs({ ...platform, engine, onEvent: (event) => onEvent(event, null) }),
    session: sessions,
    review: sessions,
    effect: effectJobs({ ...platform, writers, limiter: platform.writeLimiter }),
    merge_group: mergeGroups,
    questions,
    notify,
    chains,
    schedules,
    ask,
    thread: threads,
    ...recoveryJobs({ ...platform, app: github.app }),
    retention: retentionJobs({ ...platform, periods: retention }),
    bodies: bodyJobs(platform),
    skill_indexes: indexCheckJobs({ ...platform, ...(config.skillIndexes ?? { indexes: [], everyMs: 0 }) }),
  };
  return tracer && ended ? tracedJobs(runners, { ...platform, tracer, ended }) : runners;
}
