import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { isHostileMarkdown } from '../../../../core/hostile-markdown.ts';

/** In characters; what a person writes about a change is shorter, and what is longer is no description. */
const MAX_TITLE = 500;
const MAX_BODY = 8_000;

const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** GitHub's own, which the parser does not know. One that nothing refers to is not shown, and where it ends has no mark. */
const FOOTNOTE = /^(?:[ \t>]|[*+-][ \t]|\d{1,9}[.)][ \t])*\[\^[^\]\n]*\]:/m;
/** Emphasis hides nothing, and is what takes the parser longest. */
const WITHOUT_EMPHASIS = { extensions: [{ disable: { null: ['attention'] } }] };

/**
 * A description as its readers see it on GitHub: without HTML, images, definitions of links, where links lead to and what is said when they are
 * pointed at, the words behind a fence of code, and footnotes with all that follows. What only a program reads is where orders to programs
 * are put. In code such texts stay: there, people do read them. Patterns in the place of a parser were rejected: each had its gaps.
 * @returns nothing of a text that was written to keep a parser busy.
 */
export function asReadersSee(markdown: string): string {
  // A lone carriage return ends a line on GitHub, too.
  const text = withoutUnseen(markdown.slice(0, MAX_BODY).replaceAll(/\r\n?/g, '\n'));
  if (isHostileMarkdown(text)) return '';
  const footnotes = FOOTNOTE.exec(text)?.index ?? text.length;
  return cut(text.slice(0, footnotes)).trim();
}

export function titleAsReadersSee(title: string): string {
  return withoutUnseen(title.slice(0, MAX_TITLE)).trim();
}

/** Taken out, not written out as in code: nobody needs to know of them here. */
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

/** What readers do not see, in the order of the text; no two of these overlap. */
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
