import { senderOf } from '../../core/sender.ts';

/** A limit on the bytes and bodies held at the same time. */
interface Share {
  bytes: number;
  bodies: number;
}

export interface BodyLimits {
  /** All senders together. */
  all: Share;
  /** All senders that never sent a signed webhook. The rest of `all` is reserved for senders that did. */
  unproven: Share;
  /** One sender that never sent a signed webhook. */
  peer: Share;
}

/** The limit that was reached: the sender's own or the common one. */
export type OverLimit = 'peer' | 'all';

/** A body that is in memory. */
export interface HeldBody {
  /** Reserves more bytes. If they exceed a limit, reserves nothing and returns that limit. */
  grow(bytes: number): OverLimit | undefined;
  /** The body is complete, so it is not dropped to free memory for others. */
  finish(): void;
  /** The signature was valid, so the sender knows the secret. */
  prove(): void;
  /** Frees what the body holds. Calling it again has no effect. */
  release(): void;
}

export interface BodyShares {
  /**
   * @param peer the address of the sender, or of the proxy in front of it
   * @param interrupted called when the body is dropped, already released, to free memory for others
   */
  open(peer: string | undefined, interrupted: () => void): HeldBody | OverLimit;
}

/**
 * After this time, in milliseconds, an incomplete body may be dropped for others. GitHub's bodies take a
 * fraction of it.
 */
const STALE_MS = 2_000;
/**
 * Bounds memory only: GitHub sends from a few hundred addresses, and only a sender with the secret can add
 * one.
 */
const MAX_PROVEN = 1_000;

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
 * Divides the memory for bodies whose signature is not checked yet. Otherwise anybody without the secret
 * could exhaust the memory or block GitHub's deliveries.
 *
 * There are three limits: for each unproven sender, for all unproven senders, and for all senders. The second
 * leaves capacity for proven senders. When memory is short, incomplete bodies are dropped first. That also
 * works behind a proxy, where all senders share one address: a sender that keeps bodies open loses them to
 * bodies that arrive quickly, as GitHub's do.
 *
 * Rejected: GitHub's published addresses (`GET /meta`) as proof. Behind a proxy and on GitHub Enterprise
 * Server they say nothing.
 */
export function createBodyShares(limits: BodyLimits, now: () => number): BodyShares {
  const all = pool(limits.all, 'all');
  const unproven = pool(limits.unproven, 'all');
  const peers = new Map<string, Pool>();
  const proven = new Set<string>();
  /** In order of arrival. */
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

  /** Frees capacity in a pool by dropping bodies that have been incomplete for too long, oldest first. */
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
      const peer = senderOf(address);
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
          if (proven.size > MAX_PROVEN) proven.delete(longestAgo);
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
