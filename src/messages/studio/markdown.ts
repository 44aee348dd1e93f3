import { html } from 'hono/html';
import type { Nodes, Parents, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { isHostileMarkdown } from '../../core/hostile-markdown.ts';
import type { Html } from './layout.ts';
import { outwards, said, saidLines } from './untrusted.ts';

/** A longer one is shown as its source: parsing it would keep other pages waiting. */
const MAX_LETTERS = 60_000;
const MAX_DEPTH = 30;

/**
 * Markdown of a pull request as a page shows it; `undefined` if it is too large or would take long. Each kind of node has a
 * template here that escapes, so no markup of the text reaches the page: HTML is shown as text, and an image as its
 * description, because an image from elsewhere would tell its server who reads. Rejected: a renderer and a sanitiser
 * behind it, because what is never made need not be removed.
 */
export function markdown(text: string): Html | undefined {
  if (text.length > MAX_LETTERS || isHostileMarkdown(text)) return undefined;
  const root = fromMarkdown(text);
  const links = new Map<string, string>();
  for (const node of root.children) if (node.type === 'definition') links.set(node.identifier, node.url);
  return html`<div class="markdown">${root.children.map((node) => shown(node, { links, depth: 0 }))}</div>`;
}

interface Place {
  /** The addresses of links that are defined elsewhere, by their names. */
  links: ReadonlyMap<string, string>;
  depth: number;
  /** A link cannot be in a link. */
  inLink?: boolean;
}

function shown(node: RootContent, { links, depth, inLink = false }: Place): Html | string {
  if (depth > MAX_DEPTH) return saidLines(textOf(node));
  const inside = (parent: Parents, isLink = inLink) =>
    parent.children.map((child) => shown(child as RootContent, { links, depth: depth + 1, inLink: isLink }));
  const linked = (address: string | undefined, words: Html | string) =>
    inLink ? words : outwards(address, words);
  switch (node.type) {
    case 'text':
      return saidLines(node.value);
    case 'paragraph':
      return html`<p>${inside(node)}</p>\n`;
    case 'heading':
      return heading(node.depth, inside(node));
    case 'emphasis':
      return html`<em>${inside(node)}</em>`;
    case 'strong':
      return html`<strong>${inside(node)}</strong>`;
    case 'inlineCode':
      return html`<code>${said(node.value, 2_000)}</code>`;
    case 'code':
      return html`<pre tabindex="0" role="group" aria-label="Code">${saidLines(node.value)}</pre>\n`;
    case 'blockquote':
      return html`<blockquote>${inside(node)}</blockquote>\n`;
    case 'list':
      return node.ordered
        ? html`<ol start="${node.start ?? 1}">${inside(node)}</ol>\n`
        : html`<ul>${inside(node)}</ul>\n`;
    case 'listItem':
      return html`<li>${inside(node)}</li>\n`;
    case 'break':
      return html`<br>`;
    case 'thematicBreak':
      return html`<hr>\n`;
    case 'link':
      return linked(node.url, html`${inside(node, true)}`);
    case 'linkReference':
      return linked(links.get(node.identifier), html`${inside(node, true)}`);
    case 'image':
      return linked(node.url, said(node.alt || 'image', 300));
    case 'imageReference':
      return linked(links.get(node.identifier), said(node.alt || 'image', 300));
    case 'html':
      return html`<code>${said(node.value, 5_000)}</code>`;
    case 'definition':
      return '';
    default:
      return saidLines(textOf(node));
  }
}

/** Below the page's own heading. */
function heading(depth: number, words: readonly (Html | string)[]): Html {
  switch (depth) {
    case 1:
      return html`<h2>${words}</h2>\n`;
    case 2:
      return html`<h3>${words}</h3>\n`;
    case 3:
      return html`<h4>${words}</h4>\n`;
    default:
      return html`<h5>${words}</h5>\n`;
  }
}

/** What a node says, without its form. */
function textOf(node: Nodes): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}
