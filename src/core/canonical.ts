import { createHash } from 'node:crypto';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * JSON with sorted keys and no white space, after RFC 8785 for the values we store (finite numbers, no `undefined`).
 * The same value always gives the same text, so that hashes of it can be compared.
 * @throws TypeError for values JSON cannot hold (functions, NaN, infinities, cycles).
 */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

function write(value: unknown, above: Set<object>): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`canonicalJson: ${value} is not a JSON number`);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new TypeError(`canonicalJson: a ${typeof value} is not JSON`);
  if (above.has(value)) throw new TypeError('canonicalJson: the value contains itself');
  above.add(value);
  const text = Array.isArray(value)
    ? `[${value.map((item) => write(item ?? null, above)).join(',')}]`
    : `{${Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([key, member]) => `${JSON.stringify(key)}:${write(member, above)}`)
        .join(',')}}`;
  above.delete(value);
  return text;
}

/** SHA-256 of the canonical JSON, as `sha256:<hex>`. */
export function contentHash(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

/** The first so many hex digits of it, for ids that need not hold the whole hash. */
export function shortHash(value: unknown, digits: number): string {
  return contentHash(value).slice('sha256:'.length, 'sha256:'.length + digits);
}
