/**
 * Puts untrusted text into Markdown for GitHub so that it stays text: no markup, no HTML, no notification, no
 * cross-reference, nothing invisible. Everything the app says on GitHub about a pull request goes through here.
 */

/**
 * What nobody sees: controls, bidirectional overrides, zero-width and other ignorable characters, but for line feed and tab. The
 * emoji presentation selector (U+FE0F) stays, because without it ordinary emoji turn into black-and-white signs, and so does
 * the joiner (U+200D) between two signs of one emoji.
 */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}](?<![\uFE0F\n\t])(?<!\p{Extended_Pictographic}\uFE0F?\u200D(?=\p{Extended_Pictographic}))/gu;

/**
 * A zero-width space. GitHub finds mentions, references and links in the rendered text, after backslashes and
 * entities are resolved, so an escape does not stop them; this does, and it also survives replies by e-mail, which
 * quote the plain text. `<!-- -->` was rejected for that reason. Dependabot and Renovate do the same.
 */
const GAP = '&#8203;';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '|': '&#124;',
  $: '&#36;',
};

/** Markup that works anywhere in a line; what works only at its start is `BLOCK_START`. */
const MARKUP = /[\\`*_~[\]]/;

/** Lists, headings, underlines, and the slash with which one speaks to bots; the sign to escape follows the group. */
const BLOCK_START = /^(\d{1,9}(?=[.)])|(?=[-+=#:/]))/;

/** Places at which GitHub would see a mention, an address, a reference, an emoji name or a link. */
const NOTICED =
  /@(?=[\p{L}\p{N}_-])|#(?=\d)|\bGH-(?=\d)|:(?=\/\/|[\w+-]+:)|\bwww(?=\.)|\b(?:mailto|xmpp)(?=:)/giu;

/**
 * Untrusted text inside a sentence, on one line.
 * @param max How many characters (code points) of the text are kept; a cut is shown as `…`. All when not given.
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
 * Untrusted text in which backticks stand around code, as in rules and reasons. The code is shown as code, and each part is
 * encoded for where it stands; a backtick without its partner stays a character.
 */
export function prose(text: string, max = Number.POSITIVE_INFINITY): string {
  return withCode(text, max, code);
}

/** The same inside a table. */
export function tableProse(text: string, max = Number.POSITIVE_INFINITY): string {
  return withCode(text, max, tableCode);
}

function withCode(text: string, max: number, asCode: (text: string) => string): string {
  const parts = clip(oneLine(text), max).split(/(`[^`]+`)/);
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return asCode(part.slice(1, -1));
      // Two pieces of code side by side would read as one.
      const between = part === '' && index > 0 && index < parts.length - 1;
      return between ? ' ' : edged(part);
    })
    .join('');
}

/** `inline` may not end a part at a space that the next part needs. */
function edged(part: string): string {
  const [before = ''] = /^\s*/.exec(part) ?? [];
  const [after = ''] = part.trim() === '' ? [''] : (/\s*$/.exec(part) ?? []);
  return `${before === '' ? '' : ' '}${inline(part.trim())}${after === '' ? '' : ' '}`;
}

/** Untrusted text as one cell of a table: `inline` leaves no bar and no line end, so that the cell cannot end early. */
export function tableCell(text: string, max = Number.POSITIVE_INFINITY): string {
  return inline(text, max);
}

/** Untrusted text as inline code, on one line; invisible characters are written out, as in `⟨U+202E⟩`. */
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
 * Untrusted text as a fenced block of its own lines; invisible characters are written out.
 * @param lang Names the highlighting; left out when it is no plain word.
 */
export function codeBlock(text: string, lang = ''): string {
  const shown = visible(text.toWellFormed().replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')).replace(/\n$/, '');
  const fence = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${fence}${/^[\w+#.-]{1,30}$/.test(lang) ? lang : ''}\n${shown}\n${fence}`;
}

/** A whole HTML comment: invisible in the rendered page. Two hyphens would end it, so they are set apart. */
export function htmlComment(text: string): string {
  return `<!-- ${oneLine(text).replaceAll(/-(?=-)/g, '- ')} -->`;
}

/** The longest beginning of the text that fits into so many bytes of UTF-8, with `…` (3 bytes) when it was cut. */
export function clipBytes(text: string, maxBytes: number): string {
  const whole = text.toWellFormed();
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  if (maxBytes < 3) return '';
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(maxBytes - 3));
  return `${whole.slice(0, read)}…`;
}

/** On one line, and with nothing in it that a reader cannot see. */
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

/** What a reader cannot see written out, as in `⟨U+202E⟩`; line feeds and tabs stay. Not escaped for Markdown. */
export function visible(text: string): string {
  return text.replaceAll(
    INVISIBLE,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}

function longestRun(text: string): number {
  return text.match(/`+/g)?.reduce((longest, run) => Math.max(longest, run.length), 0) ?? 0;
}
