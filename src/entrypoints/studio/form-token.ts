import { randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

/** The secret that the forms of a sign-in prove to know. */
export function newFormSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * The secret under a mask that differs in each answer. Answers are compressed and can repeat what a request says, so
 * that their length would otherwise give the secret away bit by bit: https://breachattack.com
 */
export function masked(secret: string): string {
  const bytes = Buffer.from(secret, 'base64url');
  const mask = randomBytes(bytes.length);
  return Buffer.concat([mask, xor(mask, bytes)]).toString('base64url');
}

export function isMasked(token: string, secret: string): boolean {
  const given = Buffer.from(token, 'base64url');
  const bytes = Buffer.from(secret, 'base64url');
  if (given.length !== 2 * bytes.length || bytes.length === 0) return false;
  return timingSafeEqual(xor(given.subarray(0, bytes.length), given.subarray(bytes.length)), bytes);
}

function xor(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));
}
