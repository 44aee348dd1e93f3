import { URGENCIES, type Urgency } from '../../ports/github.ts';

/**
 * How fast and how many at once: GitHub's secondary limits, which no header tells. Requests wait here for a moment
 * instead of failing: a job that was sent away would begin anew and spend its points on what it had read already.
 */
export interface RequestLimiter {
  /** Resolves when the request may leave; what it resolves to is called once its answer is there. */
  enter(urgency: Urgency, points: number): Promise<() => void>;
  /** Requests that have left and are not answered. */
  inFlight(): number;
  /** Requests that wait for room. */
  waiting(): Record<Urgency, number>;
}

export interface RequestLimiterOptions {
  concurrent: number;
  /** A read is one point, a write five. */
  pointsPerMinute: number;
  /** Milliseconds that only ever go up; a rate is about time that has really passed, not about the hour of the day. */
  now?: () => number;
}

/** A little below what GitHub publishes (900 points a minute, 100 requests at once), for what else the app's owner does. */
export const GITHUB_LIMITER: RequestLimiterOptions = { concurrent: 20, pointsPerMinute: 800 };

/** Up to which part of the lane each may fill it, so that whoever is more urgent always finds room. */
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
    // A request alone in the lane always fits, or one dearer than its share would wait for ever.
    return (
      inFlight < Math.max(1, concurrent * share) && (spent === 0 || spent + points <= pointsPerMinute * share)
    );
  }

  function forget(): void {
    const gone = sent.filter(({ at }) => at <= now() - WINDOW_MS);
    sent = sent.slice(gone.length);
    spent -= gone.reduce((sum, { points }) => sum + points, 0);
  }

  /** Lets out whoever fits. Shares shrink with urgency, so the first who does not fit ends it for all after them. */
  function letOut(): void {
    forget();
    for (const urgency of URGENCIES) {
      for (let first = queues[urgency][0]; first; first = queues[urgency][0]) {
        if (!fits(urgency, first.points)) {
          lookAgain();
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
      letOut();
    });
  }

  /** An answer makes room in number; only time makes room in points. */
  function lookAgain(): void {
    const oldest = sent[0];
    if (timer !== undefined || !oldest) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        letOut();
      },
      Math.max(1, Math.ceil(oldest.at + WINDOW_MS - now())),
    );
    timer.unref();
  }

  return {
    enter(urgency, points) {
      return new Promise((resolve) => {
        queues[urgency].push({ points, leave: resolve });
        letOut();
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
