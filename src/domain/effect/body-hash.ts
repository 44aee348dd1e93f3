import { createHash } from 'node:crypto';

/**
 * Hash of a comment's body, equal for what we sent and what GitHub returns: GitHub may turn line ends into
 * CRLF.
 */
export function bodyHash(body: string): string {
  return createHash('sha256').update(body.replaceAll('\r\n', '\n').trimEnd()).digest('hex');
}
