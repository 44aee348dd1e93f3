import { diffLines, splitLines } from './lines.ts';
import type { FileEntry, GitObjects } from './objects.ts';
import { diffTexts, isBinary } from './patch.ts';

type Files = ReadonlyMap<string, FileEntry>;

/** One entry of `files` of a pull request, a comparison or a commit. */
export interface Change {
  path: string;
  previousPath?: string;
  status: 'added' | 'removed' | 'modified' | 'renamed';
  /** Name of the blob after the change; before it, for a removed file. */
  sha: string;
  additions: number;
  deletions: number;
  /** Omitted for binary and for very large changes, as on GitHub. */
  patch?: string;
}

/** GitHub publishes no exact figure for the files API; above about this size it omits `patch`. */
const LARGEST_PATCH_LINES = 3_000;
const LARGEST_PATCH_BYTES = 1_000_000;

/** Above this many (removed, added) pairs only exact renames are detected, as with git's rename limit. */
const MOST_RENAME_PAIRS = 10_000;

/** What changed between two trees, sorted by path. A file of which at least half the lines stayed is a rename. */
export function changesBetween(git: GitObjects, before: Files, after: Files): Change[] {
  const removed = new Map([...before].filter(([path]) => !after.has(path)));
  const added = new Map([...after].filter(([path]) => !before.has(path)));
  const renames = findRenames(git, removed, added);
  const changes: Change[] = [];
  for (const [path, entry] of after) {
    const was = before.get(path);
    const from = renames.get(path);
    if (was) {
      if (was.sha !== entry.sha || was.mode !== entry.mode)
        changes.push({ path, status: 'modified', sha: entry.sha, ...measure(git, was, entry) });
    } else if (from !== undefined) {
      const old = before.get(from);
      const sizes = old?.sha === entry.sha ? { additions: 0, deletions: 0 } : measure(git, old, entry);
      changes.push({ path, previousPath: from, status: 'renamed', sha: entry.sha, ...sizes });
    } else {
      changes.push({ path, status: 'added', sha: entry.sha, ...measure(git, undefined, entry) });
    }
  }
  const renamed = new Set(renames.values());
  for (const [path, entry] of removed) {
    if (!renamed.has(path))
      changes.push({ path, status: 'removed', sha: entry.sha, ...measure(git, entry, undefined) });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The whole change as one text in git's format, for the `diff` media type. */
export function renderDiff(changes: readonly Change[]): string {
  return changes
    .map((change) => {
      const from = change.previousPath ?? change.path;
      const head = [`diff --git a/${from} b/${change.path}`];
      if (change.status === 'added') head.push('new file mode 100644');
      if (change.status === 'removed') head.push('deleted file mode 100644');
      if (change.status === 'renamed') head.push(`rename from ${from}`, `rename to ${change.path}`);
      if (change.patch) {
        head.push(change.status === 'added' ? '--- /dev/null' : `--- a/${from}`);
        head.push(change.status === 'removed' ? '+++ /dev/null' : `+++ b/${change.path}`, change.patch);
      }
      return `${head.join('\n')}\n`;
    })
    .join('');
}

function measure(
  git: GitObjects,
  before: FileEntry | undefined,
  after: FileEntry | undefined,
): Pick<Change, 'additions' | 'deletions' | 'patch'> {
  const [a, b] = [contentOf(git, before), contentOf(git, after)];
  if (isBinary(a) || isBinary(b)) return { additions: 0, deletions: 0 };
  const { additions, deletions, patch } = diffTexts(a.toString(), b.toString());
  const shown =
    patch !== '' && additions + deletions <= LARGEST_PATCH_LINES && patch.length <= LARGEST_PATCH_BYTES;
  return { additions, deletions, ...(shown ? { patch } : {}) };
}

function contentOf(git: GitObjects, entry: FileEntry | undefined): Buffer {
  return (entry && git.blob(entry.sha)) ?? Buffer.alloc(0);
}

/** New path → old path. */
function findRenames(git: GitObjects, removed: Files, added: Files): Map<string, string> {
  const renames = new Map<string, string>();
  const left = new Map(removed);
  for (const [path, entry] of added) {
    const from = [...left].find(([, old]) => old.sha === entry.sha && contentOf(git, old).length > 0)?.[0];
    if (from === undefined) continue;
    renames.set(path, from);
    left.delete(from);
  }
  const open = [...added].filter(([path]) => !renames.has(path));
  if (open.length * left.size > MOST_RENAME_PAIRS) return renames;
  for (const [path, entry] of open) {
    let best: { from: string; score: number } | undefined;
    for (const [from, old] of left) {
      const score = similarity(contentOf(git, old), contentOf(git, entry));
      if (score >= 0.5 && (!best || score > best.score)) best = { from, score };
    }
    if (!best) continue;
    renames.set(path, best.from);
    left.delete(best.from);
  }
  return renames;
}

/** Share of lines that stayed, from 0 to 1. */
function similarity(a: Buffer, b: Buffer): number {
  if (isBinary(a) || isBinary(b)) return 0;
  const [before, after] = [splitLines(a.toString()), splitLines(b.toString())];
  const longest = Math.max(before.length, after.length);
  if (longest === 0 || Math.min(before.length, after.length) < longest / 2) return 0;
  const deleted = diffLines(before, after).reduce((sum, edit) => sum + edit.to - edit.from, 0);
  return (before.length - deleted) / longest;
}
