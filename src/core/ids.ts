import { randomBytes } from 'node:crypto';

/**
 * The kind of row that an id belongs to. As a prefix, it makes an id in a log or a URL say what it
 * identifies.
 */
type IdPrefix = 'chn' | 'run' | 'inv' | 'ses' | 'art' | 'eff' | 'apr' | 'ask' | 'fir' | 'tok';

/** Makes new ids. Injected, so that tests get readable ones. */
export interface Ids {
  next(prefix: IdPrefix): string;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Ids that sort by time of creation (9 characters of milliseconds) and cannot be guessed (80 random bits).
 * Like ULID, with a readable prefix. Rejected: UUIDs, because people read these ids aloud and in check runs.
 */
export function timeSortedIds(now: () => Date): Ids {
  return {
    next(prefix) {
      let time = now().getTime();
      let head = '';
      for (let i = 0; i < 9; i++) {
        head = ALPHABET[time % 32] + head;
        time = Math.floor(time / 32);
      }
      let tail = '';
      for (const byte of randomBytes(16)) tail += ALPHABET[byte % 32];
      return `${prefix}_${head}${tail}`;
    },
  };
}
