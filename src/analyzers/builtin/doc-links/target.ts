export interface Target {
  /** In the repository; empty for its root. */
  path: string;
  /** The decoded text after `#`; empty if there is none. */
  anchor: string;
}

/**
 * The target of a link within the repository, as GitHub resolves it: relative to the document's folder, or to
 * the root if it begins with a slash. `undefined` if it leads outside, for example to another site or to an
 * issue by `../../issues/1`.
 */
export function linkTarget(url: string, from: string): Target | undefined {
  if (url === '' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(url) || /\{\{|\$\{|<%/.test(url)) return undefined;
  const [, written = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(url) ?? [];
  const anchor = decoded(fragment);
  const path = decoded(written);
  if (anchor === undefined || path === undefined) return undefined;
  if (path === '') return { path: from, anchor };
  const parts = path.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..' && parts.length === 0) return undefined;
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return { path: parts.join('/'), anchor };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
