import { isIPv6 } from 'node:net';

/** How many bytes and bodies may be held at a time. */
export interface Share {
  bytes: number;
  bodies: number;
}

export interface BodyLimits {
  /** By all senders together. */
  all: Share;
  /** By all senders that never sent a signed webhook. What `all` has beyond it is kept for those that did. */
  unproven: Share;
  /** By one sender that never sent a signed webhook. */
  peer: Share;
}

/** Whose limit was reached: the sender's own, or that of all. */
export type OverLimit = 'peer' | 'all';

/** One body that is being held. */
export interface HeldBody {
  /** Takes so many more bytes, or says whose limit they would pass; then nothing is taken. */
  grow(bytes: number): OverLimit | undefined;
  /** All of it has arrived: it is not cut off any more to make room. */
  finish(): void;
  /** It was signed, so its sender knows the secret. */
  prove(): void;
  /** Nothing of it is held any more. Does nothing when it was released before. */
  release(): void;
}

export interface BodyShares {
  /**
   * @param peer the address of the sender, or of the proxy that speaks for it
   * @param interrupted told when the body has to go for the sake of others; it is released already
   */
  open(peer: string | undefined, interrupted: () => void): HeldBody | OverLimit;
}

/** How long a body has to arrive before it may be cut off for another's sake, in milliseconds. GitHub's take a fraction of it. */
const STALE_MS = 2_000;
/** GitHub sends from a few hundred addresses; whoever fills this without the secret cannot, so it only bounds memory. */
const MOST_PROVEN = 1_000;

interface Pool {
  limit: Share;
  over: OverLimit;
  bytes: number;
  bodies: number;
}

interface Entry {
  pools: readonly Pool[];
  since: number;
  bytes: number;
  state: 'arriving' | 'whole' | 'released';
  interrupted(): void;
}

/**
 * Shares out what may be held of bodies whose signature cannot be checked yet, so that nobody without the secret can fill the memory or
 * keep GitHub out. A sender without proof has a share of its own, all of them together have one that leaves room for the senders with
 * proof, and a body that stays unfinished goes first when room is needed. The last is what helps behind a proxy, where all senders have
 * one address: whoever holds bodies open loses them to those that arrive at once, as GitHub's do.
 * Addresses that GitHub publishes (`GET /meta`) were rejected as the proof: they say nothing behind a proxy or on GitHub Enterprise Server.
 */
export function createBodyShares(limits: BodyLimits, now: () => number): BodyShares {
  const all = pool(limits.all, 'all');
  const unproven = pool(limits.unproven, 'all');
  const peers = new Map<string, Pool>();
  const proven = new Set<string>();
  /** Oldest first. */
  const entries = new Set<Entry>();

  function release(entry: Entry): void {
    if (entry.state === 'released') return;
    entry.state = 'released';
    entries.delete(entry);
    for (const one of entry.pools) {
      one.bytes -= entry.bytes;
      one.bodies -= 1;
    }
  }

  /** Makes room in a pool by cutting off what has been arriving for too long, the oldest first. */
  function makeRoom(of: Pool, bytes: number, bodies: number, asker: Entry | undefined): boolean {
    const fits = () => of.bytes + bytes <= of.limit.bytes && of.bodies + bodies <= of.limit.bodies;
    for (const entry of entries) {
      if (fits()) return true;
      if (now() - entry.since < STALE_MS) break;
      if (entry === asker || entry.state !== 'arriving' || !entry.pools.includes(of)) continue;
      release(entry);
      entry.interrupted();
    }
    return fits();
  }

  function take(pools: readonly Pool[], bytes: number, bodies: number, asker?: Entry): OverLimit | undefined {
    const full = pools.find((one) => !makeRoom(one, bytes, bodies, asker));
    if (full) return full.over;
    for (const one of pools) {
      one.bytes += bytes;
      one.bodies += bodies;
    }
    return undefined;
  }

  return {
    open(address, interrupted) {
      const peer = peerOf(address);
      const own = peers.get(peer) ?? pool(limits.peer, 'peer');
      const pools = proven.has(peer) ? [all] : [own, unproven, all];
      const over = take(pools, 0, 1);
      if (over) return over;
      if (own.bodies > 0) peers.set(peer, own);
      const entry: Entry = { pools, since: now(), bytes: 0, state: 'arriving', interrupted };
      entries.add(entry);
      return {
        grow(bytes) {
          if (entry.state === 'released') return undefined;
          const full = take(pools, bytes, 0, entry);
          if (full === undefined) entry.bytes += bytes;
          return full;
        },
        finish() {
          if (entry.state === 'arriving') entry.state = 'whole';
        },
        prove() {
          proven.delete(peer);
          proven.add(peer);
          const [longestAgo = peer] = proven;
          if (proven.size > MOST_PROVEN) proven.delete(longestAgo);
        },
        release() {
          release(entry);
          if (own.bodies === 0) peers.delete(peer);
        },
      };
    },
  };
}

function pool(limit: Share, over: OverLimit): Pool {
  return { limit, over, bytes: 0, bodies: 0 };
}

/** One sender: an IPv6 network of 64 bits, which one machine has for itself, or an IPv4 address. */
function peerOf(address = ''): string {
  const [, mapped] = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...back];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
