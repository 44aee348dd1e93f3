import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { isHostileMarkdown } from '../../../../core/hostile-markdown.ts';

/** In characters. Real descriptions are shorter. */
const MAX_TITLE = 500;
const MAX_BODY = 8_000;

const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/**
 * GitHub's own syntax, unknown to the parser. GitHub hides a footnote that nothing refers to, and nothing
 * marks its end.
 */
const FOOTNOTE = /^(?:[ \t>]|[*+-][ \t]|\d{1,9}[.)][ \t])*\[\^[^\]\n]*\]:/m;
/** Emphasis hides no text, and it takes the parser longest. */
const WITHOUT_EMPHASIS = { extensions: [{ disable: { null: ['attention'] } }] };

/**
 * A description as people see it on GitHub: without HTML, images, link definitions, link targets and titles,
 * the info string of code fences, and footnotes with all text after them. Text that only programs read is
 * where instructions to programs are hidden. Inside code, such text stays, because people see it there.
 * Rejected: patterns instead of a parser, because each left gaps.
 * @returns an empty text if the input is built to exhaust the parser
 */
export function asReadersSee(markdown: string): string {
  // GitHub treats a lone carriage return as a line end, too.
  const text = withoutUnseen(markdown.slice(0, MAX_BODY).replaceAll(/\r\n?/g, '\n'));
  if (isHostileMarkdown(text)) return '';
  const footnotes = FOOTNOTE.exec(text)?.index ?? text.length;
  return cut(text.slice(0, footnotes)).trim();
}

export function titleAsReadersSee(title: string): string {
  return withoutUnseen(title.slice(0, MAX_TITLE)).trim();
}

/** Removed, unlike in code, where they are made visible: a description does not need them. */
function withoutUnseen(text: string): string {
  const isUnseen = (point: number) => point <= 0x10ffff && String.fromCodePoint(point).search(UNSEEN) === 0;
  return text
    .replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));/gi, (reference, hex?: string, decimal?: string) =>
      isUnseen(Number(hex === undefined ? decimal : `0x${hex}`)) ? '' : reference,
    )
    .replaceAll(UNSEEN, '');
}

interface Range {
  start: number;
  end: number;
}

function cut(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of unseenIn(fromMarkdown(text, WITHOUT_EMPHASIS), text)) {
    kept.push(text.slice(from, start));
    from = end;
  }
  return [...kept, text.slice(from)].join('');
}

/** The ranges that people do not see, in order and without overlaps. */
function unseenIn(node: Nodes, text: string): Range[] {
  const { start, end } = rangeOf(node);
  const inside = 'children' in node ? node.children.flatMap((child) => unseenIn(child, text)) : [];
  switch (node.type) {
    case 'html':
    case 'definition':
    case 'image':
    case 'imageReference':
      return [{ start, end }];
    case 'link':
    case 'linkReference': {
      const [first, last] = [node.children[0], node.children.at(-1)];
      if (!first || !last) return [{ start, end }];
      return [{ start, end: rangeOf(first).start }, ...inside, { start: rangeOf(last).end, end }];
    }
    case 'code': {
      const [line = '', fence = ''] = /^\s*(`{3,}|~{3,})[^\n]*/.exec(text.slice(start, end)) ?? [];
      return [{ start: start + line.indexOf(fence) + fence.length, end: start + line.length }];
    }
    default:
      return inside;
  }
}

function rangeOf(node: Nodes): Range {
  return { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 };
}
