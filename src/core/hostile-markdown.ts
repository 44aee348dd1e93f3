/** Twenty nested quotes or lists on one line, or hundreds of emphasis marks in a row. */
const HOSTILE = /^(?:[ \t]*(?:>|(?:[*+-]|\d{1,9}[.)])[ \t])){20}|[*_]{200}/m;

/** What begins a quote or an item of a list, wherever it stands. */
const CONTAINER = />|(?:[*+-]|\d[.)])[ \t]/g;
const MAX_CONTAINERS = 1_000;

/**
 * Whether a text of some thousand characters is what nobody writes by hand and a parser of Markdown takes seconds for (measured with
 * micromark 4: `- ` 8,000 times is 12 s, and a list of ten levels on each of 360 lines is 2 s).
 */
export function isHostileMarkdown(text: string): boolean {
  return HOSTILE.test(text) || (text.match(CONTAINER)?.length ?? 0) > MAX_CONTAINERS;
}
