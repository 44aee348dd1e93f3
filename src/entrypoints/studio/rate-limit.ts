import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { isPrivateAddress } from '../../core/private-address.ts';
import { senderOf, unmapped } from '../../core/sender.ts';

/** Allows so many attempts of each kind of key in a period. In memory: a restart forgets them. */
export function rateLimit(clock: Clock, { most, perMs }: { most: number; perMs: number }) {
  const counts = new LRUCache<string, { since: number; count: number }>({ max: 10_000 });
  return {
    /** Counts an attempt. Returns whether it is allowed. */
    allows(key: string): boolean {
      const now = clock.now().getTime();
      const known = counts.get(key);
      const current = known && now - known.since < perMs ? known : { since: now, count: 0 };
      current.count += 1;
      counts.set(key, current);
      return current.count <= most;
    },
  };
}

/**
 * Whom the attempt comes from. The server adds the other end of the connection; behind a proxy on a private address, that
 * is the proxy, and the entry before it is what the proxy says.
 */
export function addressOf(forwarded: string | undefined): string {
  const [before, peer = ''] = ['', ...(forwarded ?? '').split(',')]
    .slice(-2)
    .map((one) => unmapped(one.trim()));
  const isProxy = isIP(peer) !== 0 && isPrivateAddress(peer);
  return senderOf(isProxy && before ? before : peer);
}
