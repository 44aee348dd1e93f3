import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { systemTimers, type Timers } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Html } from '../../messages/studio/layout.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Visible } from '../../ports/visible.ts';
import type { Viewer } from './viewer.ts';

/** How often the database is asked for changes while somebody listens: one query for all streams together. */
const TICK_MS = 500;
/** Proxies end connections that say nothing for a minute. */
const TICKS_OF_SILENCE = 50;
/** A session that ended, or access that was lost, ends a stream within a minute. */
const TICKS_OF_ACCESS = 120;
/** Each costs some memory, and a query when something changes. */
const MAX_STREAMS = 200;
/** Of one person, so that nobody takes those of others. Browsers end the streams of tabs that nobody looks at. */
const MOST_OF_ONE = 20;
/** Of all who did not sign in together. */
const MOST_OF_NOBODY = 100;
/** For a browser that comes when there are that many. */
const BUSY_RETRY_MS = 60_000;

/** Who follows a stream, and what they may see. */
export interface Seeing<Who = Viewer> {
  viewer: Who;
  visible: Visible;
}

/** Asks again who follows a stream, and what they may see. */
interface LastingAccess<Who> {
  again(context: Context): Promise<Who>;
  visible(viewer: Who): Promise<Visible>;
}

/** What an event shows, and the place in what grows that a browser reaches with it; without one, nothing grows. */
export interface Addition<Shown = Html> {
  html: Shown;
  place?: string;
}

/** What a stream shows: a part of a page, which can have something in it that only grows. */
interface Watched<Who> {
  /** Cheap, and differs when the part may have changed. `undefined` if there is nothing to see. */
  stamp(seeing: Seeing<Who>): Promise<string | undefined>;
  /** The part as it is now. `undefined` if there is nothing to see. @param place that the browser has reached */
  part(seeing: Seeing<Who>, place: string): Promise<Addition<Html | string> | undefined>;
  /** What has grown after the place, if anything; `other` if the browser needs the whole part. */
  added?(place: string): Promise<Addition | 'other' | undefined>;
}

/** What a page shows, as the id of the event that brought it. */
export function eventId(stamp: string, place = ''): string {
  return place === '' ? stamp : `${stamp}|${place}`;
}

/** Keeps parts of open pages up to date, by server-sent events. */
export interface Live<Who = Viewer> {
  /**
   * Answers with a stream that sends the part whenever it changed, and what is added to it. The id of each event is the
   * stamp of what it shows with the place that it reaches: a browser that returns after a break, also to another process,
   * sends the last one that it has and gets what differs. A page says with `?since=` which id it was made from, so that
   * nothing is lost before its stream begins.
   */
  follow(context: Context, seeing: Seeing<Who>, watched: Watched<Who>): Response;
}

interface Listener {
  wake(): void;
  whose: string;
  /** How many ticks ago something was sent, and access was checked. */
  silence: number;
  sinceAccess: number;
}

/**
 * Rejected: a polling loop in each browser, and a notice from the engine for each change, which would have to reach
 * other processes, too.
 */
export function liveUpdates<Who>({
  storage,
  access,
  whoseIs,
  log,
  timers = systemTimers,
}: {
  storage: Pick<Storage, 'version'>;
  access: LastingAccess<Who>;
  /** Streams of the same count together; `nobody`: all who did not sign in. */
  whoseIs(viewer: Who): string;
  log: Log;
  timers?: Pick<Timers, 'sleep'>;
}): Live<Who> {
  const listeners = new Set<Listener>();
  let isTicking = false;

  async function tick(): Promise<void> {
    isTicking = true;
    let last = '';
    while (listeners.size > 0) {
      await timers.sleep(TICK_MS);
      let version = last;
      try {
        if (listeners.size > 0) version = await storage.version();
      } catch (err) {
        log.warn({ err }, 'Studio could not ask the database for changes');
      }
      for (const listener of listeners) {
        listener.silence += 1;
        listener.sinceAccess += 1;
        const isDue = listener.silence >= TICKS_OF_SILENCE || listener.sinceAccess >= TICKS_OF_ACCESS;
        if (isDue || version !== last) listener.wake();
      }
      last = version;
    }
    isTicking = false;
  }

  function isFull(whose: string): boolean {
    if (listeners.size >= MAX_STREAMS) return true;
    const own = [...listeners].filter((listener) => listener.whose === whose).length;
    return own >= (whose === 'nobody' ? MOST_OF_NOBODY : MOST_OF_ONE);
  }

  async function follow(
    stream: SSEStreamingApi,
    context: Context,
    first: Seeing<Who>,
    { stamp, part, added }: Watched<Who>,
    listener: Listener,
    woken: () => Promise<void>,
  ): Promise<void> {
    let seeing = first;
    const last = context.req.header('last-event-id') ?? context.req.query('since') ?? '';
    let [known, place = ''] = last.split('|', 2);
    while (!stream.aborted && !stream.closed) {
      if (listener.sinceAccess >= TICKS_OF_ACCESS) {
        listener.sinceAccess = 0;
        const viewer = await access.again(context);
        seeing = { viewer, visible: await access.visible(viewer) };
      }
      const now = await stamp(seeing);
      const more = now === known && place !== '' ? await added?.(place) : undefined;
      const isOther = now !== known || more === 'other';
      const shown = now !== undefined && isOther ? await part(seeing, place) : more;
      if (now === undefined || (isOther && shown === undefined)) {
        // Without this event, the browser would come back for good.
        return stream.writeSSE({ event: 'end', data: '' });
      }
      if (shown !== undefined && shown !== 'other') {
        // The browser keeps what has grown in the part, and may lack the newest of it.
        const isBehind = now !== known && place !== '' && shown.place === place;
        [known, place = ''] = [now, shown.place];
        await stream.writeSSE({ id: eventId(now, place), data: String(await shown.html) });
        listener.silence = 0;
        if (isBehind) continue;
      } else if (listener.silence >= TICKS_OF_SILENCE) {
        await stream.write(':\n\n');
        listener.silence = 0;
      }
      await woken();
    }
  }

  return {
    follow(context, seeing, watched) {
      // Nobody would read the stream, so its end would never be noticed.
      if (context.req.method === 'HEAD')
        return context.body(null, 200, { 'content-type': 'text/event-stream' });
      const answer = streamSSE(
        context,
        async (stream) => {
          const whose = whoseIs(seeing.viewer);
          if (isFull(whose)) {
            return stream.writeSSE({ event: 'busy', data: '', retry: BUSY_RETRY_MS });
          }
          let wakeUp = Promise.withResolvers<void>();
          const listener: Listener = { whose, silence: 0, sinceAccess: 0, wake: () => wakeUp.resolve() };
          stream.onAbort(() => listener.wake());
          listeners.add(listener);
          if (!isTicking) void tick();
          try {
            // The headers wait for the first byte, and a browser returns only to a stream whose headers it has.
            await stream.write(':\n\n');
            await follow(stream, context, seeing, watched, listener, async () => {
              await wakeUp.promise;
              wakeUp = Promise.withResolvers<void>();
            });
          } finally {
            listeners.delete(listener);
          }
        },
        async (err) => log.error({ err, path: context.req.path }, 'a stream of Studio failed'),
      );
      answer.headers.set('cache-control', 'private, no-store');
      // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
      answer.headers.set('x-accel-buffering', 'no');
      return answer;
    },
  };
}

/** Whose stream a viewer's is. */
export function whoseStream(viewer: Viewer): string {
  return viewer.kind === 'person' ? String(viewer.id) : viewer.kind;
}
