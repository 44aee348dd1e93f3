import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts texts, so that only this server can read or make them. */
export interface Seal {
  seal(text: string): Uint8Array;
  /** `undefined` for what this server did not seal for this purpose, or sealed with another client secret. */
  open(sealed: Uint8Array): string | undefined;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a key that HKDF derives from the client secret, a different one for each purpose. Somebody who has the
 * database alone can read nothing, and a new client secret ends all sessions.
 * https://nvlpubs.nist.gov/nistpubs/Legacy/SP/nistspecialpublication800-38d.pdf https://www.rfc-editor.org/rfc/rfc5869
 */
export function sealFor(purpose: string, clientSecret: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', clientSecret, '', `countersign studio ${purpose}`, 32));
  return {
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), content]);
    },
    open(sealed) {
      if (sealed.length < IV_BYTES + TAG_BYTES) return undefined;
      const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
      const cipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAuthTag(tag);
      try {
        const content = sealed.subarray(IV_BYTES + TAG_BYTES);
        return Buffer.concat([cipher.update(content), cipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
