import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/**
 * Checks `X-Hub-Signature-256` (`sha256=<64 hex digits>`: HMAC-SHA-256 of the raw body with the webhook
 * secret) in constant time.
 *
 * Rejected: `verify` of @octokit/webhooks-methods, which takes the body only as text. That costs a decoding
 * and an encoding, and changes bytes that are not UTF-8 before they are verified.
 */
export function createSignatureCheck(secret: string): (body: Uint8Array, header: string) => boolean {
  const key = createSecretKey(secret, 'utf8');
  return (body, header) => {
    if (!isSignature(header)) return false;
    const given = Buffer.from(header.slice('sha256='.length), 'hex');
    return timingSafeEqual(given, createHmac('sha256', key).update(body).digest());
  };
}

/** Whether the header has the form of a signature. If not, the request is refused before its body is read. */
export function isSignature(header: string | undefined): header is string {
  return header !== undefined && /^sha256=[0-9a-f]{64}$/.test(header);
}
