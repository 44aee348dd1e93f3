import type { AnsweredRequest } from '../../ports/github.ts';
import {
  type SentWrite,
  type Shares,
  type WaitingWrite,
  type Window,
  type Write,
  whenMayGo,
} from './fair-share.ts';

/**
 * Limits how fast one installation writes, and shares what GitHub allows. Bursts are allowed, because a fixed
 * gap between writes would delay every merge. Beyond that, a write waits until its window has capacity.
 * `fair-share.ts` decides the order.
 */
export interface WriteLimiter {
  /**
   * Takes capacity and returns `undefined`, or returns when to ask again.
   * @param options.atOnce does not wait for other writes, only for a pause that GitHub asked for
   */
  take(installationId: number, write: NewWrite, now: Date, options?: { atOnce?: boolean }): Date | undefined;
  /** Whether it knows what content the installation created before. */
  knows(installationId: number): boolean;
  /**
   * Learns that, in place of all that it knows of it, and when GitHub last refused it a write because of a limit. It does nothing if
   * it knew.
   * @param content oldest first
   */
  recall(
    installationId: number,
    before: { content: readonly SentWrite[]; writeRefusedAt: Date | undefined },
  ): void;
  /** What it knows of these is out of date, because another process has written for them. */
  forget(installationIds: readonly number[]): void;
  /** GitHub asked for a pause: no capacity before this time for anything. */
  hold(installationId: number, until: Date): void;
  /** Learns from any response: merges use the same limits, and a refusal means that GitHub allows less. */
  answered(request: Pick<AnsweredRequest, 'installationId' | 'route' | 'limited'>, now: Date): void;
}

interface NewWrite extends Write {
  /**
   * Whether it creates content, as a new comment does. Edits, check runs and reactions do not: GitHub's
   * description does not mark their endpoints with `triggersNotification`.
   */
  creates: boolean;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** How long a write that creates content counts, in milliseconds. */
export const CONTENT_COUNTS_MS = HOUR_MS;

/**
 * GitHub publishes 80 requests a minute and 500 an hour that create content
 * (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits).
 * Slightly less, because people's own actions also count.
 */
const CONTENT: readonly Window[] = [
  { ms: MINUTE_MS, writes: 75 },
  { ms: HOUR_MS, writes: 490 },
];
/** Questions get most of it: with fewer than 300 an hour, merges would wait for them. */
const CONTENT_SHARES: Shares = {
  from: { gate: 1, question: 0.85, report: 0.3, status: 0.2, reply: 0.15, reaction: 0.1 },
  upTo: { gate: 0.85, question: 0.88, report: 0.9, status: 0.93, reply: 0.97, reaction: 1 },
};

/**
 * Everything else costs five of the 900 points a minute. Merges, and all reads, come out of the same points
 * and are not counted here.
 */
const UPDATES: readonly Window[] = [{ ms: MINUTE_MS, writes: 120 }];
const UPDATE_SHARES: Shares = {
  from: { gate: 1, question: 0.85, report: 0.75, status: 0.6, reply: 0.4, reaction: 0.3 },
  upTo: { gate: 0.85, question: 0.9, report: 0.92, status: 0.94, reply: 0.97, reaction: 1 },
};

/** A write that was not seen for this long, in milliseconds, no longer waits. */
const FORGOTTEN_MS = 60_000;

/** How long an installation writes less after GitHub refused a write because of a limit, and how much less. */
const CAUTION_MS = HOUR_MS;
const CAUTION = 0.5;

const MERGE = /^PUT \/repos\/\{owner\}\/\{repo\}\/pulls\/\{pull_number\}\/merge$/;
const MERGE_WRITE: Write = { key: 'merge', class: 'gate', person: null, pullRequest: null };

interface Kind {
  windows: readonly Window[];
  shares: Shares;
  sent: SentWrite[];
  waiting: Map<string, WaitingWrite>;
}

interface Installation {
  isKnown: boolean;
  content: Kind;
  updates: Kind;
  heldUntil: number;
  cautiousUntil: number;
  /** Times of merges within the hour. */
  merges: number[];
}

export function createWriteLimiter(): WriteLimiter {
  const installations = new Map<number, Installation>();

  function of(installationId: number): Installation {
    const known = installations.get(installationId) ?? {
      isKnown: false,
      content: { windows: CONTENT, shares: CONTENT_SHARES, sent: [], waiting: new Map() },
      updates: { windows: UPDATES, shares: UPDATE_SHARES, sent: [], waiting: new Map() },
      heldUntil: 0,
      cautiousUntil: 0,
      merges: [],
    };
    installations.set(installationId, known);
    return known;
  }

  return {
    take(installationId, { creates, ...write }, time, { atOnce = false } = {}) {
      const one = of(installationId);
      const now = time.getTime();
      if (one.heldUntil > now) return new Date(one.heldUntil);
      const kind = creates ? one.content : one.updates;
      const longest = Math.max(...kind.windows.map(({ ms }) => ms));
      kind.sent = kind.sent.filter(({ at }) => at > now - longest);
      for (const { key, until } of kind.waiting.values()) {
        if (until < now - FORGOTTEN_MS) kind.waiting.delete(key);
      }
      const at = atOnce ? now : whenMayGo(write, situationOf(one, kind, now));
      if (at > now) {
        kind.waiting.set(write.key, { ...write, until: at });
        return new Date(at);
      }
      kind.waiting.delete(write.key);
      kind.sent.push({ ...write, at: now });
      return undefined;
    },
    knows(installationId) {
      return of(installationId).isKnown;
    },
    recall(installationId, { content, writeRefusedAt }) {
      const one = of(installationId);
      if (one.isKnown) return;
      one.isKnown = true;
      one.content.sent = [...content];
      if (writeRefusedAt)
        one.cautiousUntil = Math.max(one.cautiousUntil, writeRefusedAt.getTime() + CAUTION_MS);
    },
    forget(installationIds) {
      for (const id of installationIds) of(id).isKnown = false;
    },
    hold(installationId, until) {
      const one = of(installationId);
      one.heldUntil = Math.max(until.getTime(), one.heldUntil);
    },
    answered({ installationId, route, limited }, time) {
      if (installationId === undefined) return;
      const now = time.getTime();
      const one = of(installationId);
      if (limited && !route.startsWith('GET ')) one.cautiousUntil = now + CAUTION_MS;
      if (!limited && MERGE.test(route)) {
        one.merges = [...one.merges.filter((at) => at > now - HOUR_MS), now];
      }
    },
  };
}

/**
 * Merges go first and are never counted against themselves. Whether GitHub counts them as created content, its
 * documentation leaves open: it warns that "creating content too quickly using this endpoint" may be limited
 * (https://docs.github.com/en/rest/pulls/pulls#merge-a-pull-request). So new comments leave room for the
 * minute's merges, and for the hour's only after GitHub has refused a write.
 */
function situationOf(one: Installation, kind: Kind, now: number) {
  const isCautious = one.cautiousUntil > now;
  const since = now - (isCautious ? HOUR_MS : MINUTE_MS);
  const merges = kind === one.content ? one.merges.filter((at) => at > since) : [];
  return {
    sent: [...merges.map((at) => ({ ...MERGE_WRITE, at })), ...kind.sent].sort((a, b) => a.at - b.at),
    waiting: [...kind.waiting.values()],
    windows: isCautious
      ? kind.windows.map(({ ms, writes }) => ({ ms, writes: Math.ceil(writes * CAUTION) }))
      : kind.windows,
    shares: kind.shares,
    now,
  };
}
