import type { Html, Nodes, Paragraph } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { isHostileMarkdown } from '../../core/hostile-markdown.ts';

/** Longer comments are not parsed. The parser's time grows with the square of what is hostile in them. */
export const MAX_COMMENT_LENGTH = 8_000;

/** A line on which somebody means to speak to the app; up to three spaces before it, as Markdown has it. */
const SPOKEN = /^ {0,3}\/countersign(?![\w./-])/i;

/** The row of dashes that makes a table of the lines around it on GitHub, though not in plain CommonMark. */
const TABLE_ROW = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/;

/** Footnotes and formulas are GitHub's own too. After a footnote nothing counts, as its last line has no mark. */
const FOOTNOTE = /^ {0,3}\[\^[^\]]*\]:/m;
const FORMULA = /^\$\$/;

/** Whether the comment might hold a command at all: nearly all comments are done with here, for next to nothing. */
export function mightSpeak(markdown: string): boolean {
  return markdown.split(/\r\n?|\n/).some((line) => SPOKEN.test(line));
}

/**
 * The lines of a comment that speak to the app, as they were written: those of paragraphs at the top level. A line in a
 * quote, a list, a table, a footnote, code, a link, emphasis, an HTML comment or inside an HTML element that was not
 * closed before it is somebody's quotation and is left out. Where it is unclear, a line is left out.
 */
export function spokenLines(markdown: string): string[] {
  if (isHostileMarkdown(markdown) || FOOTNOTE.test(markdown)) return [];
  const root = fromMarkdown(markdown);
  const tags = htmlIn(root);
  return root.children
    .filter((node) => node.type === 'paragraph')
    .filter((paragraph) => !isMoreOnGitHub(sourceOf(paragraph, markdown)))
    .flatMap((paragraph) => linesOf(paragraph, markdown))
    .filter(({ offset }) => !insideHtml(tags, offset))
    .map(({ line }) => line.trim());
}

function isMoreOnGitHub(paragraph: string): boolean {
  return paragraph
    .split(/\r\n?|\n/)
    .map((line) => line.replaceAll(/[ \t]/g, ''))
    .some((line) => TABLE_ROW.test(line) || FORMULA.test(line));
}

interface Line {
  line: string;
  offset: number;
}

/** The spoken lines that begin in the paragraph's own text, not within something inline that spans lines. */
function linesOf(paragraph: Paragraph, markdown: string): Line[] {
  const own = paragraph.children.filter((node) => node.type === 'text').map(rangeOf);
  const { start, end } = rangeOf(paragraph);
  // A paragraph begins after its indentation, which counts.
  const from = Math.max(markdown.lastIndexOf('\n', start - 1), markdown.lastIndexOf('\r', start - 1)) + 1;
  const lines: Line[] = [];
  for (const match of markdown.slice(from, end).matchAll(/[^\r\n]+/g)) {
    const [line] = match;
    const offset = from + match.index + line.length - line.trimStart().length;
    if (SPOKEN.test(line) && own.some((text) => text.start <= offset && offset < text.end)) {
      lines.push({ line, offset });
    }
  }
  return lines;
}

function htmlIn(node: Nodes): Html[] {
  if (node.type === 'html') return [node];
  return 'children' in node ? node.children.flatMap(htmlIn) : [];
}

const VOID_ELEMENT = /^(?:area|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const WHOLE_COMMENT = /^<!--(?!-?>)(?:(?!--)[\s\S])*-->\s*$/;

/**
 * Whether an element that was opened before the place is still open there. Markdown does not know: to it, the paragraph
 * between `<blockquote>` and `</blockquote>` stands at the top level. Comments that hold anything odd count as open.
 */
function insideHtml(html: readonly Html[], offset: number): boolean {
  const open: string[] = [];
  for (const node of html) {
    if (rangeOf(node).start >= offset) break;
    if (WHOLE_COMMENT.test(node.value)) continue;
    if (/<[!?]/.test(node.value)) return true;
    for (const [, slash, name = ''] of node.value.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
      const element = name.toLowerCase();
      if (VOID_ELEMENT.test(element)) continue;
      if (slash === '') open.push(element);
      else if (open.at(-1) === element) open.pop();
    }
  }
  return open.length > 0;
}

function rangeOf(node: Nodes): { start: number; end: number } {
  return { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 };
}

function sourceOf(node: Nodes, markdown: string): string {
  const { start, end } = rangeOf(node);
  return markdown.slice(start, end);
}
