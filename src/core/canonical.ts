import { createHash } from 'node:crypto';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * JSON with sorted keys and no white space, as in RFC 8785, for the values that we store (finite numbers, no
 * `undefined`). Equal values give equal texts, so their hashes can be compared.
 * @throws TypeError for values that JSON cannot hold (functions, NaN, infinities, cycles).
 */
export function canonicalJson(value: unknown): string {
  return write(value, new Set());
}

function write(value: unknown, ancestors: Set<object>): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`canonicalJson: ${value} is not a JSON number`);
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new TypeError(`canonicalJson: a ${typeof value} is not JSON`);
  if (ancestors.has(value)) throw new TypeError('canonicalJson: the value contains itself');
  ancestors.add(value);
  const text = Array.isArray(value)
    ? `[${value.map((item) => write(item ?? null, ancestors)).join(',')}]`
    : `{${Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([key, member]) => `${JSON.stringify(key)}:${write(member, ancestors)}`)
        .join(',')}}`;
  ancestors.delete(value);
  return text;
}

/** SHA-256 of the canonical JSON, as `sha256:<hex>`. */
export function contentHash(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

/** The first `digits` hex digits of the content hash, for ids that do not need all 64. */
export function shortHash(value: unknown, digits: number): string {
  return contentHash(value).slice('sha256:'.length, 'sha256:'.length + digits);
}
