import { redact } from '../core/redact/redact.ts';

const MAX_EVIDENCE = 200;

/** Characters that are invisible or change how the text around them is shown. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/**
 * Hides every given secret wherever it occurs; longer ones first, so that no part of one is left. What is known by its look is
 * hidden before: with the head of a private key masked, nothing would tell any more that the rest is one.
 */
export function masker(secrets: Iterable<string>): (text: string) => string {
  const byLength = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length);
  return (text) =>
    byLength.reduce((masked, secret) => masked.replaceAll(secret, hidden(secret)), redact(text));
}

/** At most four characters, and never more than a quarter: enough to find the secret, too little to use it. */
function hidden(secret: string): string {
  return `${secret.slice(0, Math.min(4, Math.floor(secret.length / 4)))}•••`;
}

/** One line of hostile text, fit to be shown: no invisible characters, clipped. */
export function shown(text: string, max = MAX_EVIDENCE): string {
  const clean = text.trim().replace(/\t/g, ' ').replace(UNSEEN, '·');
  return clean.length <= max ? clean : `${clean.slice(0, max - 1)}…`;
}
