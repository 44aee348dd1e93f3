/** The lines of a head's file that a pull request added or changed, from 1. `all`: every line counts. */
export type ChangedLines = ReadonlySet<number> | 'all';

/** One line of a hunk. `line` is its number in the head; `null` for one that is removed. */
export type HunkLine =
  | { mark: '+' | ' '; text: string; line: number }
  | { mark: '-'; text: string; line: null };

export interface Hunk {
  /** What GitHub writes behind the numbers: mostly the function around. */
  heading: string;
  lines: HunkLine[];
}

export interface ParsedPatch {
  /** Head line number → the line's text, without its line feed. */
  added: ReadonlyMap<number, string>;
  /** False when a line fits no hunk or a hunk ends early, as in a patch that was cut. */
  whole: boolean;
}

const HEADER = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)/;

/**
 * Reads the hunks of a unified patch as GitHub's files API sends it: hunks only, no file header. A missing count is 1.
 * Lines are taken by the header's counts, so that text which looks like a header is still text.
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
 * Which lines of `content` the pull request is answerable for. Whenever the patch cannot be trusted to say so
 * (cut, or of another version than the content), every line counts: a finding too many is explained in a comment,
 * a finding too few is merged.
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

/** The lines in order, made once for each set: nested code can make thousands of findings that reach to the file's end. */
const inOrder = new WeakMap<ReadonlySet<number>, readonly number[]>();

/** The first changed line from `from` to `to`, both included, or `undefined` when none of them was changed. */
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
