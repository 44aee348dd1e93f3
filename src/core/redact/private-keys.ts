import type { Span } from './span.ts';

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
/**
 * Headers of an encrypted key, then lines of base64, with the separators that code, JSON, YAML and diffs put
 * between them.
 */
const LINES =
  /(?:(?:\\[nr]|\s){1,4}[A-Za-z-]{3,20}: [\w ,.-]{1,100}){0,4}(?:(?:\\[nr]|[\s"'+,|>()]){0,40}[A-Za-z0-9+/=]{16,})+/y;
const ONLY_SEPARATORS = /^(?:\\[nr]|[\s"'+,|>()])*$/;
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

/**
 * Where to cut lines of which more will follow, so that no private key is cut: at their end, or at the beginning of the
 * line where a key begins that may go on. What comes before can be redacted without knowing what follows.
 */
export function endWithoutKey(lines: string): number {
  const begin = unfinished(lines);
  if (begin === undefined) return lines.length;
  let end = lines.lastIndexOf('\n', begin) + 1;
  // Another key may end on the same line.
  for (const key of privateKeys(lines).toReversed()) {
    if (key.start < end && key.end > end) end = lines.lastIndexOf('\n', key.start) + 1;
  }
  return end;
}

/** Where a key begins that, by the rules above, may go on beyond the end of the text. */
function unfinished(text: string): number | undefined {
  if (!text.includes('PRIVATE KEY')) return undefined;
  const begin = [...text.matchAll(BEGIN)].at(-1);
  if (!begin) return undefined;
  const body = begin.index + begin[0].length;
  END.lastIndex = 0;
  if (END.test(text.slice(body, body + LONGEST))) return undefined;
  LINES.lastIndex = body;
  const hidden = body + (LINES.exec(text)?.[0].length ?? 0);
  return text.length < body + LONGEST || ONLY_SEPARATORS.test(text.slice(hidden)) ? begin.index : undefined;
}
