import { URGENCIES, type Urgency } from '../../ports/github.ts';

/**
 * GitHub's secondary limits, which no header reports: rate and concurrency
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits).
 *
 * A job asks for its `turn` before its first request. Without capacity it goes back to the queue until the time
 * that it gets, so that it holds no place there. Once it has begun, its requests wait here at most briefly,
 * because a job that starts again would spend its points on reading the same things.
 */
export interface RequestLimiter {
  /**
   * Reserves points for a job's requests and returns `undefined`, or returns for how many milliseconds the job
   * must wait.
   * @param job the same for the same job, which keeps its place
   */
  turn(job: string, urgency: Urgency, points: number): number | undefined;
  /** Resolves when the request may be sent. Call the resolved function when its response has arrived. */
  enter(urgency: Urgency, request: LimitedRequest): Promise<() => void>;
  /** GitHub refused a request because of a limit, so it allows less than it publishes. */
  refused(): void;
  /** Requests without a response yet. */
  inFlight(): number;
  /** Requests waiting to be sent. */
  waiting(): Record<Urgency, number>;
}

export interface LimitedRequest {
  /** GitHub counts the points of its two APIs apart. */
  api: 'rest' | 'graphql';
  points: number;
}

export interface RequestLimiterOptions {
  concurrent: number;
  /** A read costs one point, a write five. */
  pointsPerMinute: number;
  graphqlPointsPerMinute: number;
  /** Milliseconds of a monotonic clock, because a rate is about elapsed time. */
  now?: () => number;
}

/**
 * Slightly below GitHub's published limits (900 points a minute, 2,000 for GraphQL, 100 concurrent requests), to
 * leave room for the app owner's other use.
 */
export const GITHUB_LIMITER: RequestLimiterOptions = {
  concurrent: 20,
  pointsPerMinute: 880,
  graphqlPointsPerMinute: 1_900,
};

/** The share of the limits that each urgency may use, so that more urgent requests always find room. */
const SHARE: Readonly<Record<Urgency, number>> = { person: 1, run: 0.85, background: 0.7 };
/** The share that each urgency gets even if more urgent requests use all of its own. */
const LEAST_SHARE = 0.05;
const WINDOW_MS = 60_000;

/** For how long a reservation is kept for requests that do not come, in milliseconds. */
const RESERVED_MS = 3_000;
/** A job that does not ask again within this many milliseconds of its time loses its place. */
const NO_SHOW_MS = 5_000;
/** How long less is used after a refusal, in milliseconds, and how much less. */
const CAUTION_MS = 10 * 60_000;
const CAUTION = 0.5;

interface Sent {
  at: number;
  points: number;
  urgency: Urgency;
}

interface Waiting extends LimitedRequest {
  leave: (answered: () => void) => void;
}

export function createRequestLimiter({
  concurrent,
  pointsPerMinute,
  graphqlPointsPerMinute,
  now = () => performance.now(),
}: RequestLimiterOptions): RequestLimiter {
  const queueFor = (): Record<Urgency, Waiting[]> => ({ person: [], run: [], background: [] });
  const queues = { rest: queueFor(), graphql: queueFor() };
  const sent: Record<LimitedRequest['api'], Sent[]> = { rest: [], graphql: [] };
  const published = { rest: pointsPerMinute, graphql: graphqlPointsPerMinute };
  let reserved: { until: number; points: number; urgency: Urgency }[] = [];
  /** When each waiting job may ask again. */
  const booked = new Map<string, { at: number; urgency: Urgency }>();
  let cautiousUntil = 0;
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  const limitOf = (api: LimitedRequest['api']) => published[api] * (now() < cautiousUntil ? CAUTION : 1);
  const sum = (all: readonly { points: number }[]) => all.reduce((total, { points }) => total + points, 0);
  const isAsUrgent = (one: Urgency, as: Urgency) => URGENCIES.indexOf(one) <= URGENCIES.indexOf(as);

  function dropExpired(): void {
    const time = now();
    for (const api of ['rest', 'graphql'] as const) {
      if ((sent[api][0]?.at ?? time) <= time - WINDOW_MS) {
        sent[api] = sent[api].filter(({ at }) => at > time - WINDOW_MS);
      }
    }
    reserved = reserved.filter(({ until }) => until > time);
    for (const [job, { at }] of booked) if (at < time - NO_SHOW_MS) booked.delete(job);
  }

  /** Whether so many points more stay within the share, or within what the urgency gets in any case. */
  function fitsShare(urgency: Urgency, points: number): boolean {
    const limit = limitOf('rest');
    const used = [...sent.rest, ...reserved];
    const all = sum(used);
    if (all + points <= limit * SHARE[urgency]) return true;
    const own = sum(used.filter((one) => one.urgency === urgency));
    return own + points <= limit * LEAST_SHARE && all + points <= limit;
  }

  function turn(job: string, urgency: Urgency, points: number): number | undefined {
    if (limitOf('rest') === Number.POSITIVE_INFINITY) return undefined;
    dropExpired();
    const time = now();
    const mine = booked.get(job);
    if (mine && mine.at > time) return mine.at - time;
    const before = [...booked.values()].filter((one) => one !== mine && isAsUrgent(one.urgency, urgency));
    const isNext = mine ? before.every(({ at }) => at >= mine.at) : before.length === 0;
    if (isNext && fitsShare(urgency, points)) {
      booked.delete(job);
      reserved.push({ until: time + RESERVED_MS, points, urgency });
      return undefined;
    }
    const pace = (points * WINDOW_MS) / (limitOf('rest') * SHARE[urgency]);
    const last = Math.max(time, ...(mine ? [] : before.map(({ at }) => at)));
    // Whole milliseconds, as times of jobs are. A fraction would be cut off, and the job would be too early.
    const at = Math.ceil(Math.max(last + pace, freeAt(urgency, points)));
    booked.set(job, { at, urgency });
    return at - time;
  }

  /** When enough of the sent points are older than a minute. */
  function freeAt(urgency: Urgency, points: number): number {
    const allowed = limitOf('rest') * SHARE[urgency];
    let left = sum(sent.rest) + points - allowed;
    for (const one of sent.rest) {
      if (left <= 0) break;
      left -= one.points;
      if (left <= 0) return one.at + WINDOW_MS;
    }
    return now();
  }

  function fits(urgency: Urgency, { api, points }: LimitedRequest): boolean {
    if (inFlight >= Math.max(1, concurrent * SHARE[urgency])) return false;
    const spent = sum(sent[api]);
    // A single request always fits. Otherwise one that costs more than the limit would wait forever.
    if (spent === 0) return true;
    if (spent + points > limitOf(api)) return false;
    // Reserved points are counted already.
    return api === 'graphql' || reserved.length > 0 || fitsShare(urgency, points);
  }

  /** Sends all requests that fit, the most urgent first. */
  function sendWaiting(): void {
    dropExpired();
    for (const urgency of URGENCIES) {
      for (const queue of [queues.rest[urgency], queues.graphql[urgency]]) {
        for (let first = queue[0]; first; first = queue[0]) {
          if (!fits(urgency, first)) {
            scheduleRecheck();
            break;
          }
          queue.shift();
          leave(urgency, first);
        }
      }
    }
  }

  function leave(urgency: Urgency, { api, points, leave }: Waiting): void {
    inFlight += 1;
    sent[api].push({ at: now(), points, urgency });
    if (api === 'rest') consume(points);
    let answered = false;
    leave(() => {
      if (answered) return;
      answered = true;
      inFlight -= 1;
      sendWaiting();
    });
  }

  /** The requests of a job that got its turn follow at once, so the oldest reservation is theirs. */
  function consume(points: number): void {
    for (let left = points; left > 0 && reserved[0]; ) {
      const part = Math.min(left, reserved[0].points);
      reserved[0].points -= part;
      left -= part;
      if (reserved[0].points === 0) reserved.shift();
    }
  }

  /** A response frees a concurrent slot; only time frees points. */
  function scheduleRecheck(): void {
    const oldest = Math.min(...[...sent.rest.slice(0, 1), ...sent.graphql.slice(0, 1)].map(({ at }) => at));
    if (timer !== undefined || oldest === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        sendWaiting();
      },
      Math.max(1, Math.ceil(oldest + WINDOW_MS - now())),
    );
    timer.unref();
  }

  return {
    turn,
    enter(urgency, request) {
      return new Promise((resolve) => {
        queues[request.api][urgency].push({ ...request, leave: resolve });
        sendWaiting();
      });
    },
    refused() {
      cautiousUntil = now() + CAUTION_MS;
    },
    inFlight: () => inFlight,
    waiting() {
      const count = (urgency: Urgency) => queues.rest[urgency].length + queues.graphql[urgency].length;
      return { person: count('person'), run: count('run'), background: count('background') };
    },
  };
}
