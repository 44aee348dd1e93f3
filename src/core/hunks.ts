/** The lines of the head's file that a pull request added or changed, from 1. `all`: every line counts. */
export type ChangedLines = ReadonlySet<number> | 'all';

/** One line of a hunk. `line` is its number in the head, `null` for a removed line. */
export type HunkLine =
  | { mark: '+' | ' '; text: string; line: number }
  | { mark: '-'; text: string; line: null };

export interface Hunk {
  /** The text after the numbers in GitHub's header: usually the enclosing function. */
  heading: string;
  lines: HunkLine[];
}

export interface ParsedPatch {
  /** Maps line numbers in the head to texts without line feed. */
  added: ReadonlyMap<number, string>;
  /** False if a line belongs to no hunk or a hunk is too short, as in a truncated patch. */
  whole: boolean;
}

const HEADER = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)/;

/**
 * Parses the hunks of a unified patch from GitHub's files API, which has no file header. A missing count is
 * 1. The header's counts delimit the lines, so text that looks like a header is still text.
 */
export function readHunks(patch: string): { hunks: Hunk[]; whole: boolean } {
  const hunks: Hunk[] = [];
  let lines: HunkLine[] = [];
  let whole = true;
  let oldLeft = 0;
  let newLeft = 0;
  let line = 0;
  for (const text of patch.split('\n')) {
    if (text.startsWith('\\')) continue;
    if (oldLeft <= 0 && newLeft <= 0) {
      const header = HEADER.exec(text);
      if (header) {
        oldLeft = Number(header[1] ?? 1);
        newLeft = Number(header[3] ?? 1);
        line = Number(header[2]);
        lines = [];
        hunks.push({ heading: header[4] ?? '', lines });
      } else if (text !== '') {
        whole = false;
      }
      continue;
    }
    if (text.startsWith('+')) {
      lines.push({ mark: '+', text: text.slice(1), line });
      line++;
      newLeft--;
    } else if (text.startsWith('-')) {
      lines.push({ mark: '-', text: text.slice(1), line: null });
      oldLeft--;
    } else if (text.startsWith(' ')) {
      lines.push({ mark: ' ', text: text.slice(1), line });
      line++;
      newLeft--;
      oldLeft--;
    } else {
      whole = false;
    }
  }
  return { hunks, whole: whole && oldLeft === 0 && newLeft === 0 };
}

/** The lines that a patch adds. */
export function parsePatch(patch: string): ParsedPatch {
  const { hunks, whole } = readHunks(patch);
  const added = new Map<number, string>();
  for (const { lines } of hunks) {
    for (const { mark, text, line } of lines) if (mark === '+') added.set(line, text);
  }
  return { added, whole };
}

/**
 * The lines of `content` that the pull request is responsible for. If the patch is unreliable (truncated, or
 * of another version than the content), every line counts: an extra finding can be explained in a comment,
 * but a missing one gets merged.
 */
export function changedLines(patch: string, content: string): ChangedLines {
  const { added, whole } = parsePatch(patch);
  if (!whole) return 'all';
  const lines = content.split('\n');
  for (const [number, text] of added) {
    const actual = lines[number - 1];
    if (actual !== text && actual !== text.replace(/^\uFEFF/, '')) return 'all';
  }
  return new Set(added.keys());
}

/**
 * The sorted lines, cached per set: nested code can have thousands of findings that reach to the end of the
 * file.
 */
const inOrder = new WeakMap<ReadonlySet<number>, readonly number[]>();

/** The first changed line from `from` to `to` inclusive, or `undefined`. */
export function firstChanged(changed: ChangedLines, from: number, to: number): number | undefined {
  if (changed === 'all') return from;
  const lines = inOrder.get(changed) ?? [...changed].sort((a, b) => a - b);
  inOrder.set(changed, lines);
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  const first = lines[low];
  return first !== undefined && first <= to ? first : undefined;
}
