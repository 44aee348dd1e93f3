import type { WriteCause } from '../../domain/effect/write-cause.ts';
import { WRITE_CLASSES, type WriteClass } from './write-class.ts';

export interface Write extends WriteCause {
  /** The same for the same desired effect. */
  key: string;
  class: WriteClass;
}

export interface SentWrite extends Write {
  /** In milliseconds since 1970, like all times here. */
  at: number;
}

export interface WaitingWrite extends Write {
  /** When it was asked to try again. */
  until: number;
}

/** A limit on an installation's writes within a period that ends now. */
export interface Window {
  ms: number;
  writes: number;
}

/** How the classes share each window. */
export interface Shares {
  /**
   * The share of a window that each class and all lower ones may use together. The rest is reserved for higher
   * classes, which need it immediately. Ordering alone would not help them: an exhausted window stays exhausted
   * for an hour.
   */
  from: Readonly<Record<WriteClass, number>>;
  /**
   * The share of a window that each class and all higher ones may use together. The rest is reserved for lower
   * classes, so that each eventually proceeds. Each value exceeds `from` of its class (but for the highest); otherwise that
   * class would use what is reserved for higher ones.
   */
  upTo: Readonly<Record<WriteClass, number>>;
}

export interface Situation {
  /** Oldest first, as far back as the longest window. */
  sent: readonly SentWrite[];
  /** In the order of their first request. */
  waiting: readonly WaitingWrite[];
  windows: readonly Window[];
  shares: Shares;
  now: number;
}

/**
 * The share of `Shares.from` for one pull request. It exceeds the share of one person, so that nobody can use
 * up a pull request's share.
 */
const SHARE_OF_PULL_REQUEST = 0.8;

/** The share of `Shares.from` for one person, lower for less important classes. */
const SHARE_OF_PERSON: Record<WriteClass, number> = {
  gate: 0.8,
  question: 0.8,
  report: 0.8,
  status: 0.7,
  reply: 0.5,
  reaction: 0.5,
};

/** A write that does not try again within this many milliseconds of its time counts as dropped. */
const NO_SHOW_MS = 5_000;

/** Writes that share a part of a window. */
interface Pool {
  share: number;
  has(write: Write): boolean;
}

/**
 * When a write may proceed: `now`, or a later time at which it should ask again. Pure, so that the order can
 * be tested without a queue. A write may proceed now if each of its pools has capacity for it and for all due
 * writes before it.
 */
export function whenMayGo(write: Write, { sent, waiting, windows, shares, now }: Situation): number {
  const isBefore = isBeforeIn(write, sent, waiting);
  const before = waiting.filter(
    (other) => other.key !== write.key && now < other.until + NO_SHOW_MS && isBefore(other),
  );
  let at = now;
  for (const pool of poolsOf(write, shares)) {
    const inPool = sent.filter(pool.has);
    const limits = windows.map(({ ms, writes }) => ({
      ms,
      limit: Math.max(1, Math.floor(writes * pool.share)),
    }));
    // Most pools are far from full, so the writes before it need not be counted.
    if (limits.every(({ limit }) => inPool.length + before.length < limit)) continue;
    const ahead = before.filter(pool.has);
    const dueAhead = ahead.filter(({ until }) => until <= now).length;
    for (const { ms, limit } of limits) {
      const used = inPool.filter((one) => one.at > now - ms);
      if (used.length + dueAhead < limit) continue;
      at = Math.max(at, now + 1, freeAt(used, used.length + ahead.length - limit, { ms, now }));
    }
  }
  return at;
}

/**
 * When the capacity with this index becomes free: capacities are freed in the order in which they were used,
 * cyclically.
 */
function freeAt(used: readonly SentWrite[], index: number, { ms, now }: { ms: number; now: number }): number {
  if (used.length === 0) return now + ms;
  const rounds = Math.floor(index / used.length);
  return (used[index % used.length]?.at ?? now) + ms * (rounds + 1);
}

function poolsOf(write: Write, shares: Shares): Pool[] {
  const rank = rankOf(write);
  const pools: Pool[] = [];
  for (const [index, name] of WRITE_CLASSES.entries()) {
    if (index <= rank) {
      const inClasses = (other: Write) => rankOf(other) >= index;
      const share = shares.from[name];
      pools.push({ share, has: inClasses });
      const ofOne = { person: SHARE_OF_PERSON[name], pullRequest: SHARE_OF_PULL_REQUEST };
      for (const by of ['person', 'pullRequest'] as const) {
        if (write[by] === null) continue;
        const has = (other: Write) => inClasses(other) && other[by] === write[by];
        pools.push({ share: share * ofOne[by], has });
      }
    }
    if (index >= rank) pools.push({ share: shares.upTo[name], has: (other) => rankOf(other) <= index });
  }
  return pools;
}

/** The order of waiting writes: by class, then by who has written less, then by time of request. */
function isBeforeIn(
  write: Write,
  sent: readonly SentWrite[],
  waiting: readonly WaitingWrite[],
): (other: WaitingWrite) => boolean {
  const people = countBy(sent, 'person');
  const pullRequests = countBy(sent, 'pullRequest');
  const byPerson = ({ person }: Write) => people.get(person ?? '') ?? 0;
  const onPullRequest = ({ pullRequest }: Write) => pullRequests.get(pullRequest ?? '') ?? 0;
  const positions = new Map(waiting.map(({ key }, place) => [key, place]));
  const positionOf = ({ key }: Write) => positions.get(key) ?? waiting.length;
  return (other) => {
    const order =
      rankOf(other) - rankOf(write) ||
      byPerson(other) - byPerson(write) ||
      onPullRequest(other) - onPullRequest(write) ||
      positionOf(other) - positionOf(write);
    return order < 0;
  };
}

function countBy(writes: readonly Write[], by: 'person' | 'pullRequest'): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { [by]: name } of writes) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const RANKS = Object.fromEntries(WRITE_CLASSES.map((name, rank) => [name, rank])) as Record<
  WriteClass,
  number
>;

function rankOf({ class: name }: Write): number {
  return RANKS[name];
}
