import { redact } from '../../core/redact/redact.ts';
import type { Blobs } from '../../ports/blobs.ts';

/** The store with all that is put into it redacted, so that no writer can forget it. */
export function redactedBlobs(blobs: Blobs): Blobs {
  return {
    ...blobs,
    put: (path, data) => blobs.put(path, typeof data === 'string' ? redact(data) : redactedBytes(data)),
  };
}

/** Secrets are ASCII: read byte by byte, bytes of any encoding or of none come back as they were around them. */
function redactedBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const hidden = redact(text);
  return hidden === text ? bytes : Buffer.from(hidden, 'latin1');
}
