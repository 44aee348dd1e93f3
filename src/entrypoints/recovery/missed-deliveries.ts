import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type DeliveryAttempt, type GitHubApp, GitHubError } from '../../ports/github.ts';
import type { JobResult } from '../../ports/jobs.ts';
import type { MissedDelivery, Storage } from '../../ports/storage.ts';

/** How often GitHub is asked what this app did not take, in milliseconds; it sends nothing again by itself. */
export const POLL_EVERY_MS = 10 * 60_000;
/** GitHub keeps deliveries for about three days. */
const KEPT_MS = 3 * 86_400_000;
/** A delivery that failed again is asked for after twice as long, up to this. */
const LONGEST_PAUSE_MS = 6 * 3_600_000;
/** Asked for in one go; then what came in between gets its turn. */
const BATCH = 50;
/** What this app refused for what it is: too large, no JSON, no JSON by its own word. It would be refused again. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 413, 415]);

const CURSOR = 'missed-deliveries';

/** Everything up to the attempt `until` has been read; a pass that was cut off goes on at its `next` page. */
const positionSchema = z.strictObject({
  until: z.int(),
  pass: z.strictObject({ newest: z.int(), next: z.string() }).nullable(),
});
type Position = z.infer<typeof positionSchema>;

export interface MissedDeliveriesDeps {
  storage: Storage;
  app: GitHubApp;
  clock: Clock;
  log: Log;
}

/**
 * Finds the webhooks that GitHub could not deliver and asks for them again, oldest first. Whether one is missing is
 * told by the database alone: a delivery that was recorded is not, even when GitHub did not hear the answer. Each page
 * that is read and each delivery that is asked for is written down, so that a restart goes on there.
 * @throws GitHubError when GitHub cannot be asked.
 */
export async function fetchMissedDeliveries(
  deps: MissedDeliveriesDeps,
  signal: AbortSignal,
): Promise<JobResult> {
  const { clock } = deps;
  await readAttempts(deps, signal);
  const more = await askAgain(deps, signal);
  return { kind: 'reschedule', at: new Date(clock.now().getTime() + (more ? 0 : POLL_EVERY_MS)) };
}

async function readAttempts(deps: MissedDeliveriesDeps, signal: AbortSignal): Promise<void> {
  const { app, storage, clock } = deps;
  const stored = await storage.read.cursors.get(CURSOR);
  let position: Position = stored === undefined ? { until: 0, pass: null } : positionSchema.parse(stored);
  do {
    const { attempts, next } = await pageAt(app, position);
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

/** A page at the position, or the newest one when GitHub does not know the position any more. */
async function pageAt(app: GitHubApp, { pass }: Position): ReturnType<GitHubApp['deliveryAttempts']> {
  try {
    return await app.deliveryAttempts(pass?.next);
  } catch (error) {
    if (!pass || !(error instanceof GitHubError) || error.kind !== 'invalid') throw error;
    return app.deliveryAttempts();
  }
}

/** Attempts are read newest first, so an older one tells nothing new about a delivery. */
function missed(attempt: DeliveryAttempt, before: MissedDelivery | undefined, now: Date): MissedDelivery {
  const { guid, id, deliveredAt } = attempt;
  if (!before) return { guid, attemptId: id, deliveredAt, asked: 0, askAt: now };
  return { ...before, attemptId: Math.max(id, before.attemptId) };
}

/** Whether there are more to ask for at once. */
async function askAgain(deps: MissedDeliveriesDeps, signal: AbortSignal): Promise<boolean> {
  const { app, storage, clock, log } = deps;
  const due = await storage.read.missedDeliveries.due(clock.now(), BATCH);
  for (const one of due) {
    if (signal.aborted) return true;
    const { guid, asked } = one;
    const recorded = await storage.read.deliveries.known([guid]);
    const isGone = clock.now().getTime() - one.deliveredAt.getTime() > KEPT_MS;
    if (isGone) log.warn({ delivery: guid }, 'a webhook never came: GitHub does not keep it any longer');
    const sent = !recorded.has(guid) && !isGone && (await ask(app, one.attemptId, log));
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

/** Whether GitHub will send it; it refuses what it does not keep any more. */
async function ask(app: GitHubApp, attemptId: number, log: Log): Promise<boolean> {
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
