import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { WebhookOutage } from '../../engine/self-check/webhook-watch.ts';
import {
  type AnsweredRequest,
  type RateLimitStatus,
  type SignedOut,
  URGENCIES,
  type Urgency,
} from '../../ports/github.ts';
import type { JobKind } from '../../ports/jobs.ts';
import type { Queue } from '../../ports/queue.ts';
import type { Storage } from '../../ports/storage.ts';
import type { WorkShare } from '../../ports/work-share.ts';

/** The sources of the gauges, read at every scrape. */
interface MetricsSources {
  storage: Pick<Storage, 'read'>;
  clock: Clock;
  log: Log;
  rateLimits(): readonly RateLimitStatus[];
  signedOut(): readonly SignedOut[];
  webhookOutage(): WebhookOutage | undefined;
  /** Jobs deferred until a rate limit ends. */
  waitingForGitHub(): ReadonlyMap<JobKind, number>;
  slots: Queue['slots'];
  /** The disks of the database and the artifacts. */
  disks(): readonly { of: string; freeBytes: number; sizeBytes: number }[];
  /** `undefined` if none is checked for new versions. */
  skillIndexes(): Promise<{ newer: number; failing: number } | undefined>;
}

/** Reviews have slots of their own. */
const POOLS = ['reviews', 'others'] as const;

export interface Metrics {
  registry: Registry;
  answered(request: AnsweredRequest): void;
  heldBack(urgency: Urgency): void;
  /** Of traces, how many spans were sent or given up. */
  spans(result: 'sent' | 'dropped', count: number): void;
  /** What this process has of the work that it divides with others. */
  leasesOf(share: Pick<WorkShare, 'leases'>): void;
  /** Whether the operator allows merges. */
  merging(isOn: boolean): void;
  /** Updates the gauges. Never rejects: while the database fails, the other gauges are especially useful. */
  collect(sources: MetricsSources): Promise<void>;
}

/**
 * The metrics for operators. docs/metrics.md names each, with useful alerts. No label has values that users
 * choose, such as repositories, logins or paths, so the number of series stays bounded by installations and
 * routes.
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  for (const metric of ofThisProcess()) registry.registerMetric(metric);
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `countersign_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `countersign_${name}`, help, labelNames, registers });

  const requests = counter('github_requests_total', 'Answers of GitHub, by route and status.', [
    'route',
    'status',
  ]);
  const unchanged = counter('github_unchanged_total', 'Answers 304, which GitHub does not count.', []);
  const limited = counter('github_limited_total', 'Requests that GitHub refused because of a limit.', []);
  const heldBack = counter(
    'github_held_back_total',
    'Requests the app itself did not send, to keep to a limit.',
    ['urgency'],
  );
  const seconds = new Histogram({
    name: 'countersign_github_request_seconds',
    help: 'From wanting to ask GitHub to its answer, with the wait for a turn.',
    labelNames: ['method'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });

  const limit = gauge('github_limit', 'Requests an hour that GitHub grants.', ['installation']);
  const remaining = gauge('github_remaining', 'Requests left of the hour.', ['installation']);
  const reset = gauge('github_reset_timestamp_seconds', 'When the hour ends.', ['installation']);
  const held = gauge('github_held_until_timestamp_seconds', 'Until when GitHub asked for a break.', [
    'installation',
  ]);
  const refused = gauge(
    'github_signed_out_since_timestamp_seconds',
    'Since when GitHub does not let this app sign in.',
    ['installation'],
  );
  const refusedWebhooks = gauge(
    'webhooks_not_accepted_since_timestamp_seconds',
    'Since when GitHub’s webhooks are not accepted, and why.',
    ['reason'],
  );
  const waiting = gauge('github_waiting_requests', 'Requests that wait for their turn.', ['urgency']);
  const putOff = gauge('github_waiting_jobs', 'Jobs put off until a limit ends.', ['kind']);
  const spans = counter('spans_total', 'Spans of traces, by whether they were sent.', ['result']);
  const merging = gauge('merging', 'Whether this server merges at all: 0 with COUNTERSIGN_MERGING=off.');
  const up = gauge('database_up', 'Whether the database answered this scrape.');
  const deliveries = gauge('deliveries', 'Recorded deliveries.', ['status']);
  const runs = gauge('runs', 'Chain runs.', ['status']);
  const effects = gauge('effects', 'Effects on GitHub.', ['status']);
  const firings = gauge('firings', 'Firings of schedules that are kept, by what became of them.', [
    'status',
    'reason',
  ]);
  const due = gauge('jobs_due', 'Jobs that are due or under way.');
  const oldest = gauge('oldest_due_job_age_seconds', 'How long the oldest due job has been waiting.');

  const slots = gauge('worker_slots', 'How many jobs can run at the same time.', ['pool']);
  const busy = gauge('worker_slots_busy', 'How many jobs are running.', ['pool']);
  const ready = gauge('jobs_waiting_for_slot', 'Jobs that need only a slot to run.', ['pool']);
  const readyAge = gauge('longest_wait_for_slot_seconds', 'How long the oldest of them has waited.', [
    'pool',
  ]);

  const free = gauge('disk_free_bytes', 'What the app can still write to a disk.', ['of']);
  const size = gauge('disk_size_bytes', 'The size of that disk.', ['of']);

  const leases = gauge('leases', 'What this process works for, where several divide the work.', ['of']);

  const newer = gauge('skill_updates', 'Installed skills of which an index has a newer version.');
  const failing = gauge('skill_indexes_failing', 'Indexes of skills that could not be checked last time.');

  function collectGitHub({ rateLimits, signedOut, webhookOutage, waitingForGitHub }: MetricsSources): void {
    for (const one of [limit, remaining, reset, held, refused, refusedWebhooks, putOff]) one.reset();
    const outage = webhookOutage();
    if (outage) refusedWebhooks.set({ reason: outage.finding.kind }, outage.since.getTime() / 1_000);
    for (const { installationId, since } of signedOut()) {
      refused.set({ installation: String(installationId ?? 'app') }, since.getTime() / 1_000);
    }
    const all = rateLimits();
    for (const { installationId, hour, heldUntil } of all) {
      const installation = String(installationId ?? 'app');
      if (heldUntil) held.set({ installation }, heldUntil.getTime() / 1_000);
      if (!hour) continue;
      limit.set({ installation }, hour.limit);
      remaining.set({ installation }, hour.remaining);
      reset.set({ installation }, hour.resetAt.getTime() / 1_000);
    }
    for (const urgency of URGENCIES) {
      waiting.set(
        { urgency },
        all.reduce((sum, status) => sum + status.waiting[urgency], 0),
      );
    }
    for (const [kind, count] of waitingForGitHub()) putOff.set({ kind }, count);
  }

  async function collectDatabase({ storage: { read }, clock, skillIndexes }: MetricsSources): Promise<void> {
    const now = clock.now();
    setAll(deliveries, await read.deliveries.countByStatus());
    setAll(runs, await read.runs.countByStatus());
    setAll(effects, await read.effects.countByStatus());
    firings.reset();
    for (const { status, reason, count } of await read.firings.counts())
      firings.set({ status, reason }, count);
    due.set(await read.jobs.countDue(now));
    const since = [await read.jobs.nextDue(new Date(0)), await read.deliveries.oldestToQueue(), now];
    const earliest = Math.min(...since.map((time) => (time ?? now).getTime()));
    oldest.set((now.getTime() - earliest) / 1_000);
    const indexes = await skillIndexes();
    newer.set(indexes?.newer ?? 0);
    failing.set(indexes?.failing ?? 0);
    const waits = await read.jobs.ready(now);
    for (const pool of POOLS) {
      const { count, since = now } = waits[pool];
      ready.set({ pool }, count);
      readyAge.set({ pool }, (now.getTime() - since.getTime()) / 1_000);
    }
  }

  function collectSlots(now: ReturnType<Queue['slots']>): void {
    for (const pool of POOLS) {
      slots.set({ pool }, now[pool].slots);
      busy.set({ pool }, now[pool].busy);
    }
  }

  let collectShare = () => {};

  function collectDisks({ disks, log }: MetricsSources): void {
    for (const one of [free, size]) one.reset();
    try {
      for (const { of, freeBytes, sizeBytes } of disks()) {
        free.set({ of }, freeBytes);
        size.set({ of }, sizeBytes);
      }
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'the room on the disks could not be read for the metrics');
    }
  }

  return {
    registry,
    answered({ route, status, durationMs, revalidated, limited: isLimited }) {
      requests.inc({ route, status });
      seconds.observe({ method: route.split(' ', 1)[0] ?? '' }, durationMs / 1_000);
      if (revalidated) unchanged.inc();
      if (isLimited) limited.inc();
    },
    heldBack: (urgency) => heldBack.inc({ urgency }),
    spans: (result, count) => spans.inc({ result }, count),
    leasesOf(share) {
      collectShare = () => {
        const { installations, ownWork } = share.leases();
        leases.set({ of: 'installations' }, installations);
        leases.set({ of: 'app' }, ownWork ? 1 : 0);
      };
    },
    merging: (isOn) => merging.set(isOn ? 1 : 0),
    async collect(sources) {
      collectGitHub(sources);
      collectSlots(sources.slots());
      collectShare();
      collectDisks(sources);
      try {
        await collectDatabase(sources);
        up.set(1);
      } catch (error) {
        // Stale values would look current.
        for (const one of [deliveries, runs, effects, firings, due, oldest, newer, failing, ready, readyAge])
          one.reset();
        up.set(0);
        sources.log.warn({ err: messageOf(error) }, 'the database could not be read for the metrics');
      }
    },
  };
}

function setAll(gauge: Gauge, counts: Readonly<Record<string, number>>): void {
  for (const [status, count] of Object.entries(counts)) gauge.set({ status }, count);
}

let processMetrics: Metric[] | undefined;

/**
 * Memory, CPU and event loop belong to the process, so they are collected once, even if it contains several
 * apps (as in tests).
 */
function ofThisProcess(): Metric[] {
  if (!processMetrics) {
    const register = new Registry();
    collectDefaultMetrics({ register });
    const names = register.getMetricsAsArray().map(({ name }) => name);
    processMetrics = names.flatMap((name) => register.getSingleMetric(name) ?? []);
  }
  return processMetrics;
}
