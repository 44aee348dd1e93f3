import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { WebhookWatch } from '../../engine/self-check/webhook-watch.ts';
import { type DeliveryAttempt, type GitHubApp, GitHubError } from '../../ports/github.ts';
import type { JobResult } from '../../ports/jobs.ts';
import type { MissedDelivery, Storage } from '../../ports/storage.ts';

/**
 * How often the app asks GitHub for failed deliveries, in milliseconds. GitHub sends nothing again by itself.
 */
export const POLL_EVERY_MS = 10 * 60_000;
/** GitHub keeps deliveries for about three days. */
const KEPT_MS = 3 * 86_400_000;
/** The delay doubles each time a delivery fails again, up to this. */
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** The most deliveries requested in one job, so that other jobs get their turn. */
const BATCH = 50;
/**
 * The statuses with which this app permanently refuses a delivery: too large, not JSON, wrong content type.
 * It would refuse it again.
 */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 413, 415]);

const CURSOR = 'missed-deliveries';

/** Everything up to the attempt `until` has been read. An interrupted pass continues at its `next` page. */
const positionSchema = z.strictObject({
  until: z.int(),
  pass: z.strictObject({ newest: z.int(), next: z.string() }).nullable(),
});
type Position = z.infer<typeof positionSchema>;

export interface MissedDeliveriesDeps {
  storage: Storage;
  app: GitHubApp;
  webhookWatch: Pick<WebhookWatch, 'saw'>;
  clock: Clock;
  log: Log;
}

/**
 * Finds the webhooks that GitHub could not deliver and requests them again, oldest first. The database alone
 * decides whether one is missing: a recorded delivery is not, even if GitHub did not get the answer. Progress
 * is stored after each page and each request, so a restart continues there.
 * @throws GitHubError if GitHub cannot be asked
 */
export async function fetchMissedDeliveries(
  deps: MissedDeliveriesDeps,
  signal: AbortSignal,
): Promise<JobResult> {
  const { clock } = deps;
  await readAttempts(deps, signal);
  const more = await requestMissed(deps, signal);
  return { kind: 'reschedule', at: new Date(clock.now().getTime() + (more ? 0 : POLL_EVERY_MS)) };
}

async function readAttempts(deps: MissedDeliveriesDeps, signal: AbortSignal): Promise<void> {
  const { app, storage, clock, webhookWatch } = deps;
  const stored = await storage.read.cursors.get(CURSOR);
  let position: Position = stored === undefined ? { until: 0, pass: null } : positionSchema.parse(stored);
  do {
    const { attempts, next } = await pageAt(app, position);
    if (position.pass === null) webhookWatch.saw(attempts[0]);
    const unread = attempts.filter(({ id }) => id > position.until);
    const newest = position.pass?.newest ?? attempts[0]?.id ?? position.until;
    const isLast = next === undefined || unread.length < attempts.length;
    position = isLast ? { until: newest, pass: null } : { until: position.until, pass: { newest, next } };
    await storage.transaction(async (tx) => {
      const failed = unread.filter(({ statusCode }) => statusCode < 200 || statusCode >= 300);
      const known = await tx.deliveries.known(failed.map(({ guid }) => guid));
      for (const attempt of failed) {
        if (known.has(attempt.guid)) continue;
        if (REFUSED_FOR_GOOD.has(attempt.statusCode)) {
          deps.log.warn(
            { delivery: attempt.guid, status: attempt.statusCode },
            'a webhook was refused for what it is and is not asked for again',
          );
          continue;
        }
        const before = await tx.missedDeliveries.get(attempt.guid);
        await tx.missedDeliveries.put(missed(attempt, before, clock.now()));
      }
      await tx.cursors.set(CURSOR, position, clock.now());
    });
  } while (position.pass && !signal.aborted);
}

/** The page at the position, or the newest page if GitHub no longer knows the position. */
async function pageAt(app: GitHubApp, { pass }: Position): ReturnType<GitHubApp['deliveryAttempts']> {
  try {
    return await app.deliveryAttempts(pass?.next);
  } catch (error) {
    if (!pass || !(error instanceof GitHubError) || error.kind !== 'invalid') throw error;
    return app.deliveryAttempts();
  }
}

/** Attempts are read newest first, so an older attempt adds nothing about a delivery. */
function missed(attempt: DeliveryAttempt, before: MissedDelivery | undefined, now: Date): MissedDelivery {
  const { guid, id, deliveredAt } = attempt;
  if (!before) return { guid, attemptId: id, deliveredAt, asked: 0, askAt: now };
  return { ...before, attemptId: Math.max(id, before.attemptId) };
}

/** @returns whether there are more to request at once */
async function requestMissed(deps: MissedDeliveriesDeps, signal: AbortSignal): Promise<boolean> {
  const { app, storage, clock, log } = deps;
  const due = await storage.read.missedDeliveries.due(clock.now(), BATCH);
  for (const one of due) {
    if (signal.aborted) return true;
    const { guid, asked } = one;
    const recorded = await storage.read.deliveries.known([guid]);
    const isGone = clock.now().getTime() - one.deliveredAt.getTime() > KEPT_MS;
    if (isGone) log.warn({ delivery: guid }, 'a webhook never came: GitHub does not keep it any longer');
    const sent = !recorded.has(guid) && !isGone && (await requestRedelivery(app, one.attemptId, log));
    await storage.transaction(async (tx) => {
      if (!sent) return tx.missedDeliveries.remove(guid);
      const pause = Math.min(POLL_EVERY_MS * 2 ** asked, LONGEST_PAUSE_MS);
      const askAt = new Date(clock.now().getTime() + pause);
      await tx.missedDeliveries.put({ ...one, asked: asked + 1, askAt });
    });
    if (sent) log.info({ delivery: guid, asked: asked + 1 }, 'asked GitHub for a webhook that was missed');
  }
  return due.length === BATCH;
}

/** @returns false if GitHub refuses because it no longer keeps the delivery */
async function requestRedelivery(app: GitHubApp, attemptId: number, log: Log): Promise<boolean> {
  try {
    await app.redeliver(attemptId);
    return true;
  } catch (error) {
    const isRefusal = error instanceof GitHubError && ['not_found', 'invalid'].includes(error.kind);
    if (!isRefusal) throw error;
    log.warn({ attempt: attemptId, err: error.message }, 'GitHub does not send a webhook again');
    return false;
  }
}
