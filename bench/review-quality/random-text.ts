import { createHash } from 'node:crypto';

export const DIGITS = '0123456789';
export const HEX = '0123456789abcdef';
export const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const LOWER = 'abcdefghijklmnopqrstuvwxyz';
export const LETTERS = UPPER + LOWER;
export const ALPHANUMERIC = LETTERS + DIGITS;
export const BASE64URL = `${ALPHANUMERIC}-_`;

/** Text that is the same for the same seed, on every machine. */
export interface RandomText {
  of(alphabet: string, length: number): string;
  bytes(length: number): Buffer;
  uuid(): string;
  pick<T>(items: readonly [T, ...T[]]): T;
}

export function randomText(seed: string): RandomText {
  let block = 0;
  let pool: number[] = [];
  const byte = (): number => {
    if (pool.length === 0) pool = [...createHash('sha256').update(`${seed} ${block++}`).digest()];
    return pool.pop() ?? 0;
  };
  const index = (length: number) => (byte() * 256 + byte()) % length;
  const of = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[index(alphabet.length)]).join('');
  return {
    of,
    bytes: (length) => Buffer.from(Array.from({ length }, byte)),
    uuid: () => [8, 4, 4, 4, 12].map((length) => of(HEX, length)).join('-'),
    pick: (items) => items[index(items.length)] ?? items[0],
  };
}
