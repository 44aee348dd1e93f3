import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import type { RuleName } from '../../domain/skill/analyzer-rules.ts';
import { headingSlugs } from './doc-links/slug.ts';
import { linkTarget } from './doc-links/target.ts';
import { eachFile, type FileSet, type Found, type OwnFile } from './each-file.ts';

type Rule = RuleName<'doc-links'>;

/** Finds links in documents to missing files of the repository, or to missing headings. */
export const analyze = eachFile(checkLinks);

const folders = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();
const lowered = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, string>>();

export function checkLinks(file: OwnFile, { files, tree }: FileSet): Found<Rule>[] {
  const found: Found<Rule>[] = [];
  for (const node of nodesOf(fromMarkdown(file.text))) {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') continue;
    const line = node.position?.start.line ?? 1;
    const endLine = node.position?.end.line ?? line;
    const at = (rule: Rule): Found<Rule> => ({ rule, line, endLine, message: node.url.slice(0, 200) });
    const target = linkTarget(node.url, file.path);
    if (!target) continue;
    const { path, anchor } = target;
    if (path !== file.path && !isThere(path, tree)) {
      const other = otherCase(path, tree);
      found.push(other === undefined ? at('broken-link') : { ...at('other-case'), message: other });
      continue;
    }
    const document = files.find((one) => one.path === path);
    // Unchanged documents are not read, and lines of code are not headings.
    if (anchor === '' || !document || !/\.(?:md|markdown)$/i.test(path)) continue;
    if (!slugsOf(document).has(anchor.toLowerCase())) found.push(at('broken-anchor'));
  }
  return found;
}

function* nodesOf(node: Nodes): Generator<Nodes> {
  const rest: Nodes[] = [node];
  for (let next = rest.pop(); next; next = rest.pop()) {
    yield next;
    if ('children' in next) rest.push(...next.children.toReversed());
  }
}

function isThere(path: string, tree: ReadonlySet<string>): boolean {
  if (path === '' || tree.has(path)) return true;
  let known = folders.get(tree);
  if (!known) {
    known = new Set([...tree].flatMap(ancestors));
    folders.set(tree, known);
  }
  return known.has(path);
}

function ancestors(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function otherCase(path: string, tree: ReadonlySet<string>): string | undefined {
  let known = lowered.get(tree);
  if (!known) {
    known = new Map([...tree].map((one) => [one.toLowerCase(), one]));
    lowered.set(tree, known);
  }
  return known.get(path.toLowerCase());
}

const slugs = new WeakMap<OwnFile, ReadonlySet<string>>();

function slugsOf(document: OwnFile): ReadonlySet<string> {
  const known = slugs.get(document) ?? headingSlugs(document.text);
  slugs.set(document, known);
  return known;
}
