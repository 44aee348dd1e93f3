import { createHash } from 'node:crypto';
import type { PullRequestFile } from '../../ports/github.ts';

/**
 * Reads the output of `git diff` as the file list that GitHub would give for the same change. `undefined` if
 * the text is not such output.
 */
export function filesInDiff(text: string): PullRequestFile[] | undefined {
  // Each line of a hunk begins with a sign, so no file content can look like this header.
  const [before = '', ...sections] = text.replaceAll('\r\n', '\n').split(/^diff --git /m);
  if (sections.length === 0 || before.trim() !== '') return undefined;
  const files = sections.map(fileOf);
  return files.every((file) => file !== undefined) ? files : undefined;
}

function fileOf(section: string): PullRequestFile | undefined {
  const at = section.search(/^@@ /m);
  const head = at < 0 ? section : section.slice(0, at);
  const patch = at < 0 ? undefined : section.slice(at).replace(/\n$/, '');
  const headerValue = (key: string) => new RegExp(`^${key} (.+)$`, 'm').exec(head)?.[1];
  const isAdded = headerValue('new file mode') !== undefined;
  const isRemoved = headerValue('deleted file mode') !== undefined;
  const from = headerValue('rename from');
  const path =
    pathOf(isRemoved ? headerValue('---') : (headerValue('\\+\\+\\+') ?? headerValue('rename to'))) ??
    pathOfHeader(head);
  if (path === undefined) return undefined;
  const lines = patch?.split('\n') ?? [];
  return {
    path,
    ...(from === undefined ? {} : { previousPath: unquoted(from) }),
    status: isAdded ? 'added' : isRemoved ? 'removed' : from === undefined ? 'modified' : 'renamed',
    ...(patch === undefined ? {} : { patch }),
    blobSha: isRemoved ? null : blobIdOf(path),
    additions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
    headSha: null,
  };
}

/** Stands for the working folder's file at that path. */
export function blobIdOf(path: string): string {
  return createHash('sha1').update(path).digest('hex');
}

/** Accepts `b/src/a.ts` from `+++` and `src/a.ts` from `rename to`. */
function pathOf(written: string | undefined): string | undefined {
  if (written === undefined || written === '/dev/null') return undefined;
  return unquoted(written.replace(/\t$/, '')).replace(/^[ab]\//, '');
}

/**
 * If no other line names the file, for example when only its mode changes, both halves of the first line are
 * equal.
 */
function pathOfHeader(head: string): string | undefined {
  const [line = ''] = head.split('\n');
  const [, path] = /^a\/(.+) b\/\1$/.exec(line) ?? [];
  return path;
}

/** Git quotes paths with special characters and writes each byte as an octal number. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path;
  const bytes = path
    .slice(1, -1)
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    .replace(/\\(.)/g, (_, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter);
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
