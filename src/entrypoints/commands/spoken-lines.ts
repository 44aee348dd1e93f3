import type { Html, Nodes, Paragraph } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { isHostileMarkdown } from '../../core/hostile-markdown.ts';

/** Longer comments are not parsed: on hostile input, the parser's time is quadratic. */
export const MAX_COMMENT_LENGTH = 8_000;

/** A line addressed to the app, after up to three spaces, as Markdown allows. */
const SPOKEN = /^ {0,3}\/countersign(?![\w./-])/i;

/** A row of dashes makes a table of the lines around it on GitHub, though not in plain CommonMark. */
const TABLE_ROW = /^\|?:?-+:?(?:\|:?-+:?)*\|?$/;

/**
 * GitHub also adds footnotes and formulas. After a footnote, no line counts, because nothing marks the
 * footnote's last line.
 */
const FOOTNOTE = /^ {0,3}\[\^[^\]]*\]:/m;
const FORMULA = /^\$\$/;

/** A cheap check that rules out nearly all comments. */
export function mightSpeak(markdown: string): boolean {
  return markdown.split(/\r\n?|\n/).some((line) => SPOKEN.test(line));
}

/**
 * The lines of a comment that are addressed to the app, unchanged: those of paragraphs at the top level.
 * Lines in a quote, list, table, footnote, code, link, emphasis, HTML comment or open HTML element count as
 * quotations and are left out. In doubt, a line is left out.
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

/**
 * The addressed lines that begin in the paragraph's own text, not inside an inline element that spans lines.
 */
function linesOf(paragraph: Paragraph, markdown: string): Line[] {
  const own = paragraph.children.filter((node) => node.type === 'text').map(rangeOf);
  const { start, end } = rangeOf(paragraph);
  // The paragraph's node starts after its indentation, but the indentation matters.
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
 * Whether an HTML element is still open at the offset. Markdown does not know: to it, the paragraph between
 * `<blockquote>` and `</blockquote>` is at the top level. Malformed HTML counts as open.
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
