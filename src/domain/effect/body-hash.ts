import { createHash } from 'node:crypto';

/** Hash of a comment's body as both sides keep it: GitHub may hand line ends back as CRLF. */
export function bodyHash(body: string): string {
  return createHash('sha256').update(body.replaceAll('\r\n', '\n').trimEnd()).digest('hex');
}
