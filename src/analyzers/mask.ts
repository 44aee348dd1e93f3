import { redact } from '../core/redact/redact.ts';

const MAX_EVIDENCE = 200;

/** Characters that are invisible or change how the text around them appears. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Masks every given secret wherever it occurs, longer ones first, so that no part of one remains. Applies the
 * pattern-based redaction before that: without its header, the rest of a private key would not be recognised.
 */
export function masker(secrets: Iterable<string>): (text: string) => string {
  const byLength = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  return (text) =>
    byLength.reduce((masked, secret) => masked.replaceAll(secret, hidden(secret)), redact(text));
}

/** At most four characters and a quarter of the secret: enough to find it, too little to use it. */
function hidden(secret: string): string {
  return `${secret.slice(0, Math.min(4, Math.floor(secret.length / 4)))}•••`;
}

/** One line of hostile text, safe to show: without invisible characters, and clipped. */
export function shown(text: string, max = MAX_EVIDENCE): string {
  const clean = text.trim().replace(/\t/g, ' ').replace(UNSEEN, '·');
  return clean.length <= max ? clean : `${clean.slice(0, max - 1)}…`;
}
