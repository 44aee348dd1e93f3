import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';

/**
 * The anchors of a document: those of its headings as GitHub generates them, numbered if they repeat, and
 * those in its HTML. https://docs.github.com/en/get-started/writing-on-github (section links)
 */
export function headingSlugs(text: string): ReadonlySet<string> {
  const slugs = new Set<string>();
  const counts = new Map<string, number>();
  const visit = (node: Nodes) => {
    if (node.type === 'heading') {
      const slug = slugOf(plainText(node));
      let count = counts.get(slug) ?? 0;
      let unique = count === 0 ? slug : `${slug}-${count}`;
      while (slugs.has(unique)) unique = `${slug}-${++count}`;
      counts.set(slug, count + 1);
      slugs.add(unique);
    }
    if (node.type === 'html') {
      for (const [, name = ''] of node.value.matchAll(/\s(?:id|name)\s*=\s*["']?([^"'\s>]+)/gi)) {
        slugs.add(name.toLowerCase());
      }
    }
    if ('children' in node) for (const child of node.children) visit(child);
  };
  visit(fromMarkdown(text));
  return slugs.add('').add('top');
}

function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

function plainText(node: Nodes): string {
  if ('value' in node) return node.type === 'html' ? '' : node.value;
  if (node.type === 'image') return node.alt ?? '';
  return 'children' in node ? node.children.map(plainText).join('') : '';
}
