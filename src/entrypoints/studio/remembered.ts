import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';

interface Asked<T> {
  answer: Promise<T>;
  until: number;
}

interface Remembered<Key, T> {
  /** The answer for the key, or what `ask` answers now. */
  get(key: Key, ask: () => Promise<T>): Promise<T>;
  /** Only that answer: there can be a newer one. */
  forget(key: Key, answer: Promise<T>): void;
}

/**
 * Answers that count for so long, in milliseconds. Several that want the same at once ask once.
 * @param options.failedForMs how long a failure counts
 * @param options.most how many answers are kept
 */
export function remembered<Key extends string | number, T>(
  clock: Clock,
  { forMs, failedForMs, most }: { forMs: number; failedForMs: number; most: number },
): Remembered<Key, T> {
  const known = new LRUCache<Key, Asked<T>>({ max: most });
  return {
    forget(key, answer) {
      if (known.get(key)?.answer === answer) known.delete(key);
    },
    get(key, ask) {
      const now = clock.now().getTime();
      const found = known.get(key);
      if (found && found.until > now) return found.answer;
      const asked: Asked<T> = { answer: ask(), until: now + forMs };
      asked.answer.catch(() => {
        asked.until = Math.min(asked.until, clock.now().getTime() + failedForMs);
      });
      known.set(key, asked);
      return asked.answer;
    },
  };
}
