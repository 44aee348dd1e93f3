/** Twenty nested quotes or lists on one line, or hundreds of emphasis marks in a row. */
const HOSTILE = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}|[*_]{200}/m;

/** The start of a quote or of a list item, anywhere in the text. */
const CONTAINER = />|(?:[*+-]|\d[.)])[ \t]/g;
const MAX_CONTAINERS = 1_000;

/** A line that makes a heading of the line before it. */
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/gm;
const MAX_UNDERLINES = 500;

/** What can begin or end something within a line: each is searched for what it belongs to. */
const MARK = /[*_`[\]\\<>&!]/g;
const MAX_MARKS = 4_000;

/** The start of an image. Each in another one is read again for its description. */
const IMAGE = /!\[/g;
const MAX_IMAGES = 200;

/** The start of an HTML comment, declaration or instruction, whose end is searched for in all of the text. */
const UNENDED = /<[!?]/g;
const MAX_UNENDED = 500;

const LINE = /\n|\r\n?/g;
/** Each line after a quote could go on with it. */
const MAX_LINES = 5_000;

/**
 * Whether a text would keep a Markdown parser busy for seconds. People do not write such texts by hand.
 * Measured with micromark 4: `- ` 8,000 times takes 12 s, a list of ten levels on each of 360 lines 2 s, 8,000 headings that are
 * underlined 17 s and 500 a tenth of one, 16,000 marks of emphasis 3 s, 9,000 nested images 104 s, 14,000 HTML instructions
 * 9 s, and 29,000 lines after a quote 9 s. Random repetitions of what has a meaning in Markdown stay below about half a second at
 * 60,000 characters within these bounds, and take up to 5 s at 30,000 without that of marks.
 */
export function isHostileMarkdown(text: string): boolean {
  return (
    HOSTILE.test(text) ||
    isMoreThan(MAX_CONTAINERS, CONTAINER) ||
    isMoreThan(MAX_UNDERLINES, UNDERLINE) ||
    isMoreThan(MAX_MARKS, MARK) ||
    isMoreThan(MAX_IMAGES, IMAGE) ||
    isMoreThan(MAX_UNENDED, UNENDED) ||
    isMoreThan(MAX_LINES, LINE)
  );

  function isMoreThan(most: number, pattern: RegExp): boolean {
    return (text.match(pattern)?.length ?? 0) > most;
  }
}
