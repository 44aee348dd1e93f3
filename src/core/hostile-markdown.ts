/** Twenty nested quotes or lists on one line, or hundreds of emphasis marks in a row. */
const HOSTILE = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}|[*_]{200}/m;

/** The start of a quote or of a list item, anywhere in the text. */
const CONTAINER = />|(?:[*+-]|\d[.)])[ \t]/g;
const MAX_CONTAINERS = 1_000;

/** A line that makes a heading of the line before it. */
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/gm;
const MAX_UNDERLINES = 500;

const EMPHASIS = /[*_]/g;
const MAX_EMPHASIS = 10_000;

/**
 * Whether a text would keep a Markdown parser busy for seconds. People do not write such texts by hand.
 * Measured with micromark 4: `- ` 8,000 times takes 12 s, a list of ten levels on each of 360 lines 2 s, 8,000 headings that are
 * underlined 17 s and 500 a tenth of one, and 16,000 marks of emphasis 3 s.
 */
export function isHostileMarkdown(text: string): boolean {
  return (
    HOSTILE.test(text) ||
    isMoreThan(MAX_CONTAINERS, CONTAINER) ||
    isMoreThan(MAX_UNDERLINES, UNDERLINE) ||
    isMoreThan(MAX_EMPHASIS, EMPHASIS)
  );

  function isMoreThan(most: number, pattern: RegExp): boolean {
    return (text.match(pattern)?.length ?? 0) > most;
  }
}
