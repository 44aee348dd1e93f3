/**
 * Inserts untrusted text into Markdown for GitHub as plain text: no markup, no HTML, no notification, no
 * cross-reference, nothing invisible. Everything that the app writes on GitHub about a pull request uses it.
 */

/**
 * Invisible characters: controls, bidirectional overrides, zero-width and other ignorable ones, except line
 * feed and tab. The emoji presentation selector (U+FE0F) stays, because without it common emoji become
 * black-and-white, and so does the joiner (U+200D) between two characters of one emoji.
 */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}](?<![\uFE0F\n\t])(?<!\p{Extended_Pictographic}\uFE0F?\u200D(?=\p{Extended_Pictographic}))/gu;

/**
 * A zero-width space. GitHub finds mentions, references and links in the rendered text, after it has resolved
 * backslashes and entities, so an escape does not prevent them. This does, and it also works in replies by
 * email, which quote the plain text. Rejected for that reason: `<!-- -->`. Dependabot and Renovate use the
 * same method.
 */
const GAP = '&#8203;';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
  $: '&#36;',
};

/** Markup that works anywhere in a line. `BLOCK_START` has what works only at its start. */
const MARKUP = /[\\`*_~[\]]/;

/** Lists, headings, underlines, and the slash of bot commands. The character to escape follows the group. */
const BLOCK_START = /^(\d{1,9}(?=[.)])|(?=[-+=#:/]))/;

/** Positions at which GitHub would recognise a mention, an address, a reference, an emoji name or a link. */
const NOTICED =
  /@(?=[\p{L}\p{N}_-])|#(?=\d)|\bGH-(?=\d)|:(?=\/\/|[\w+-]+:)|\bwww(?=\.)|\b(?:mailto|xmpp)(?=:)/giu;

/**
 * Untrusted text inside a sentence, on one line.
 * @param max the characters (code points) to keep; a cut is shown as `…`. Without it, all.
 */
export function inline(text: string, max = Number.POSITIVE_INFINITY): string {
  const kept = clip(oneLine(text), max);
  const gaps = new Set([...kept.matchAll(NOTICED)].map((match) => match.index + match[0].length));
  const blockMark = BLOCK_START.exec(kept)?.[1]?.length;
  let out = '';
  for (let at = 0; at < kept.length; at++) {
    const character = kept.charAt(at);
    if (gaps.has(at)) out += GAP;
    if (at === blockMark || MARKUP.test(character)) out += '\\';
    out += ENTITIES[character] ?? character;
  }
  return out;
}

/**
 * Untrusted text with code in backticks, as in rules and reasons. The code is shown as code, and each part is
 * encoded for its context. An unpaired backtick stays a character.
 */
export function prose(text: string, max = Number.POSITIVE_INFINITY): string {
  return withCode(text, max, code);
}

/** Seven digits of a commit are enough for GitHub to make a link. */
const COMMIT = /(?<![\p{L}\p{N}_])([\da-f]{3})([\da-f]{4,37})(?![\p{L}\p{N}_])/giu;

/** The same without links to commits, for what a model says: it may name any commit, and people would take the link for a reason. */
export function proseWithoutCommits(text: string, max = Number.POSITIVE_INFINITY): string {
  return withCode(text, max, code, (part) => inline(part).replaceAll(COMMIT, `$1${GAP}$2`));
}

/** The same on its own lines. Items of a list stay items, so that a skill's entries can be listed. */
export function proseLines(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map((line) => {
      const [, mark = '', rest = ''] = /^(\s*[-*] +)?(.*)$/.exec(line) ?? [];
      return `${mark === '' ? '' : '- '}${prose(rest)}`;
    })
    .join('\n');
}

/** The same inside a table. */
export function tableProse(text: string, max = Number.POSITIVE_INFINITY): string {
  return withCode(text, max, tableCode);
}

function withCode(
  text: string,
  max: number,
  asCode: (text: string) => string,
  asText: (text: string) => string = inline,
): string {
  const parts = clip(oneLine(text), max).split(/(`[^`]+`)/);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return asCode(part.slice(1, -1));
      // Two adjacent pieces of code would look like one.
      const between = part === '' && index > 0 && index < parts.length - 1;
      return between ? ' ' : keepEdgeSpaces(part, asText);
    })
    .join('');
}

/** Keeps the spaces at the edges of a part, which `inline` would trim. */
function keepEdgeSpaces(part: string, asText: (text: string) => string): string {
  const [before = ''] = /^\s*/.exec(part) ?? [];
  const [after = ''] = part.trim() === '' ? [''] : (/\s*$/.exec(part) ?? []);
  return `${before === '' ? '' : ' '}${asText(part.trim())}${after === '' ? '' : ' '}`;
}

/** Untrusted text as a table cell. `inline` leaves no bar and no line end that could end the cell early. */
export function tableCell(text: string, max = Number.POSITIVE_INFINITY): string {
  return inline(text, max);
}

/** Untrusted text as inline code, on one line. Invisible characters are spelled out, as in `⟨U+202E⟩`. */
export function code(text: string): string {
  const shown = visible(text.toWellFormed().replaceAll(/\s+/g, ' ')).trim();
  if (shown === '') return '` `';
  const fence = '`'.repeat(longestRun(shown) + 1);
  const padding = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return fence + padding + shown + padding + fence;
}

/** Inline code inside a table, where a bar ends the cell even within backticks. */
export function tableCode(text: string): string {
  return code(text).replaceAll('|', '\\|');
}

/**
 * Untrusted text as a fenced block that keeps its lines. Invisible characters are spelled out.
 * @param lang the language for highlighting; ignored if it is no plain word
 */
export function codeBlock(text: string, lang = ''): string {
  const shown = visible(text.toWellFormed().replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')).replace(/\n$/, '');
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${/^[\w+#.-]{1,30}$/.test(lang) ? lang : ''}\n${shown}\n${fence}`;
}

/**
 * A complete HTML comment, which is invisible on the page. Two hyphens would end it, so they are separated.
 */
export function htmlComment(text: string): string {
  return `<!-- ${oneLine(text).replaceAll(/-(?=-)/g, '- ')} -->`;
}

/**
 * The longest beginning of the text that fits into this many bytes of UTF-8, with `…` (3 bytes) if it was
 * cut.
 */
export function clipBytes(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  if (maxBytes < 3) return '';
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(maxBytes - 3));
  return `${whole.slice(0, read)}…`;
}

/** On one line, without invisible characters. */
function oneLine(text: string): string {
  return visible(text.toWellFormed().replaceAll(/[^\S\uFEFF]/g, ' '))
    .replaceAll(/ +/g, ' ')
    .trim();
}

function clip(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max
    ? text
    : `${characters
        .slice(0, Math.max(0, max - 1))
        .join('')
        .trimEnd()}…`;
}

/**
 * Invisible characters spelled out, as in `⟨U+202E⟩`, except line feeds and tabs. Not escaped for Markdown.
 */
export function visible(text: string): string {
  return text.replaceAll(
    INVISIBLE,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}

function longestRun(text: string): number {
  return text.match(/`+/g)?.reduce((longest, run) => Math.max(longest, run.length), 0) ?? 0;
}
