/** Twenty nested quotes or lists on one line, or hundreds of emphasis marks in a row. */
const HOSTILE = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}|[*_]{200}/m;

/** The start of a quote or of a list item, anywhere in the text. */
const CONTAINER = />|(?:[*+-]|\d[.)])[ \t]/g;
const MAX_CONTAINERS = 1_000;

/**
 * Whether a text would keep a Markdown parser busy for seconds. People do not write such texts by hand.
 * Measured with micromark 4: `- ` 8,000 times takes 12 s, and a list of ten levels on each of 360 lines takes
 * 2 s.
 */
export function isHostileMarkdown(text: string): boolean {
  return HOSTILE.test(text) || (text.match(CONTAINER)?.length ?? 0) > MAX_CONTAINERS;
}
