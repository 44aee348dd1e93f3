import { URGENCIES, type Urgency } from '../../ports/github.ts';

/**
 * GitHub's secondary limits, which no header reports: rate and concurrency. Requests wait here briefly
 * instead of failing, because a job that is rescheduled would start again and spend its points on reading the
 * same things.
 */
export interface RequestLimiter {
  /** Resolves when the request may be sent. Call the resolved function when its response has arrived. */
  enter(urgency: Urgency, points: number): Promise<() => void>;
  /** Requests without a response yet. */
  inFlight(): number;
  /** Requests waiting to be sent. */
  waiting(): Record<Urgency, number>;
}

export interface RequestLimiterOptions {
  concurrent: number;
  /** A read costs one point, a write five. */
  pointsPerMinute: number;
  /** Milliseconds of a monotonic clock, because a rate is about elapsed time. */
  now?: () => number;
}

/**
 * Slightly below GitHub's published limits (900 points a minute, 100 concurrent requests), to leave room for
 * the app owner's other use.
 */
export const GITHUB_LIMITER: RequestLimiterOptions = { concurrent: 20, pointsPerMinute: 800 };

/** The share of the limits that each urgency may use, so that more urgent requests always find room. */
const SHARE: Readonly<Record<Urgency, number>> = { person: 1, run: 0.8, background: 0.5 };
const WINDOW_MS = 60_000;

interface Waiting {
  points: number;
  leave: (answered: () => void) => void;
}

export function createRequestLimiter({
  concurrent,
  pointsPerMinute,
  now = () => performance.now(),
}: RequestLimiterOptions): RequestLimiter {
  const queues: Record<Urgency, Waiting[]> = { person: [], run: [], background: [] };
  let sent: { at: number; points: number }[] = [];
  let spent = 0;
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  function fits(urgency: Urgency, points: number): boolean {
    const share = SHARE[urgency];
    // A single request always fits. Otherwise one that costs more than its share would wait forever.
    return (
      inFlight < Math.max(1, concurrent * share) && (spent === 0 || spent + points <= pointsPerMinute * share)
    );
  }

  function dropExpired(): void {
    const gone = sent.filter(({ at }) => at <= now() - WINDOW_MS);
    sent = sent.slice(gone.length);
    spent -= gone.reduce((sum, { points }) => sum + points, 0);
  }

  /**
   * Sends all requests that fit. Shares decrease with urgency, so the first request that does not fit ends
   * the loop.
   */
  function sendWaiting(): void {
    dropExpired();
    for (const urgency of URGENCIES) {
      for (let first = queues[urgency][0]; first; first = queues[urgency][0]) {
        if (!fits(urgency, first.points)) {
          scheduleRecheck();
          return;
        }
        queues[urgency].shift();
        leave(first);
      }
    }
  }

  function leave({ points, leave }: Waiting): void {
    inFlight += 1;
    spent += points;
    sent.push({ at: now(), points });
    let answered = false;
    leave(() => {
      if (answered) return;
      answered = true;
      inFlight -= 1;
      sendWaiting();
    });
  }

  /** A response frees a concurrent slot; only time frees points. */
  function scheduleRecheck(): void {
    const oldest = sent[0];
    if (timer !== undefined || !oldest) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        sendWaiting();
      },
      Math.max(1, Math.ceil(oldest.at + WINDOW_MS - now())),
    );
    timer.unref();
  }

  return {
    enter(urgency, points) {
      return new Promise((resolve) => {
        queues[urgency].push({ points, leave: resolve });
        sendWaiting();
      });
    },
    inFlight: () => inFlight,
    waiting: () => ({
      person: queues.person.length,
      run: queues.run.length,
      background: queues.background.length,
    }),
  };
}
