import { redact } from '../../core/redact/redact.ts';
import type { Blobs } from '../../ports/blobs.ts';

/** The store with redaction of everything that is written, so that no caller can forget it. */
export function redactedBlobs(blobs: Blobs): Blobs {
  return {
    ...blobs,
    put: (path, data) => blobs.put(path, typeof data === 'string' ? redact(data) : redactedBytes(data)),
  };
}

/**
 * Secrets are ASCII. Reading as latin1 maps each byte to one character, so other bytes survive unchanged in
 * any encoding.
 */
function redactedBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const hidden = redact(text);
  return hidden === text ? bytes : Buffer.from(hidden, 'latin1');
}
