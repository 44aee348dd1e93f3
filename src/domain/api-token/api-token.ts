import { createHash } from 'node:crypto';

/** What a token may be used for. `operate` also reads what concerns no repository, such as deliveries. */
export const API_SCOPES = ['read', 'operate'] as const;
export type ApiScope = (typeof API_SCOPES)[number];

/** A token for the API, as stored: without the token itself. */
export interface ApiToken {
  id: string;
  /** What its owner calls it. */
  name: string;
  /** SHA-256 of the token, as hexadecimal. The token has 160 random bits, so nobody can guess it from its hash. */
  hash: string;
  scopes: readonly ApiScope[];
  /** The repositories that it can read; `null`: all. */
  repositoryIds: readonly number[] | null;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  /** To the minute, so that reading does not write each time. */
  usedAt: Date | null;
}

/** Says what it is in a leaked file, and secret scanners can find it. */
const PREFIX = 'cst_';
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LETTERS = 32;

/** @param bytes 32 random bytes */
export function newApiToken(bytes: Uint8Array): string {
  return PREFIX + Array.from(bytes.subarray(0, LETTERS), (byte) => ALPHABET[byte % 32]).join('');
}

/** The hash of a token; `undefined` if the text cannot be one. */
export function hashOfApiToken(text: string): string | undefined {
  if (!text.startsWith(PREFIX) || text.length !== PREFIX.length + LETTERS) return undefined;
  return createHash('sha256').update(text).digest('hex');
}

/** Whether it can be used now. */
export function isUsable({ revokedAt, expiresAt }: ApiToken, now: Date): boolean {
  return revokedAt === null && expiresAt > now;
}
