import type { Span } from './span.ts';

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
/**
 * Headers of an encrypted key, then lines of base64, with the separators that code, JSON, YAML and diffs put
 * between them.
 */
const LINES =
  /(?:(?:\\[nr]|\s){1,4}[A-Za-z-]{3,20}: [\w ,.-]{1,100}){0,4}(?:(?:\\[nr]|[\s"'+,|>()]){0,40}[A-Za-z0-9+/=]{16,})+/y;
/** In characters, more than a key of 16,384 bits needs. */
const LONGEST = 32_768;

/**
 * Private keys in PEM, complete or truncated. Rejected: one regular expression. In a text with many
 * beginnings and no end, it would search for the end from each of them.
 */
export function privateKeys(text: string): Span[] {
  if (!text.includes('PRIVATE KEY')) return [];
  const begins = [...text.matchAll(BEGIN)];
  return begins
    .map((begin, index) => {
      const body = begin.index + begin[0].length;
      const next = Math.min(begins[index + 1]?.index ?? text.length, body + LONGEST);
      END.lastIndex = 0;
      const end = END.exec(text.slice(body, next));
      LINES.lastIndex = body;
      const bodyEnd = end ? body + end.index + end[0].length : body + (LINES.exec(text)?.[0].length ?? 0);
      return { start: begin.index, end: bodyEnd, name: 'private key' };
    })
    .filter(({ start, end }) => /[A-Za-z0-9+/=]{16}/.test(text.slice(text.indexOf('-----', start + 5), end)));
}
