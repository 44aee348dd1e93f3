import { createHash } from 'node:crypto';

/** What a token may be used for. `operate` also reads what concerns no repository, such as deliveries. */
export const API_SCOPES = ['read', 'operate'] as const;
export type ApiScope = (typeof API_SCOPES)[number];

/** An account on GitHub. */
export interface TokenOwner {
  id: number;
  login: string;
}

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
  /** Who made it in Studio: it sees nothing that this person does not see. `null`: the operator made it. */
  owner: TokenOwner | null;
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

/**
 * A new token, as stored, and the token itself.
 * @param bytes 32 random bytes
 */
export function newApiToken(
  parts: Omit<ApiToken, 'hash' | 'revokedAt' | 'usedAt'>,
  bytes: Uint8Array,
): { token: ApiToken; secret: string } {
  const secret = PREFIX + Array.from(bytes.subarray(0, LETTERS), (byte) => ALPHABET[byte % 32]).join('');
  return { token: { ...parts, hash: hashOf(secret), revokedAt: null, usedAt: null }, secret };
}

/** The hash of a token; `undefined` if the text cannot be one. */
export function hashOfApiToken(text: string): string | undefined {
  return text.startsWith(PREFIX) && text.length === PREFIX.length + LETTERS ? hashOf(text) : undefined;
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether it can be used now. */
export function isUsable({ revokedAt, expiresAt }: ApiToken, now: Date): boolean {
  return revokedAt === null && expiresAt > now;
}
