import { diffLines, type Edit, splitLines } from './lines.ts';

const CONTEXT = 3;

export interface TextDiff {
  additions: number;
  deletions: number;
  /** Hunks only, without file headers, as in the files API; empty for equal texts. */
  patch: string;
}

/** The unified diff of two texts, in git's format (hunk headers omit counts of 1). */
export function diffTexts(before: string, after: string): TextDiff {
  const a = splitLines(before);
  const b = splitLines(after);
  const edits = diffLines(a, b);
  const hunks: Edit[][] = [];
  for (const edit of edits) {
    const hunk = hunks.at(-1);
    const last = hunk?.at(-1);
    if (hunk && last && edit.from - last.to <= 2 * CONTEXT) hunk.push(edit);
    else hunks.push([edit]);
  }
  return {
    additions: edits.reduce((sum, edit) => sum + edit.afterTo - edit.afterFrom, 0),
    deletions: edits.reduce((sum, edit) => sum + edit.to - edit.from, 0),
    patch: hunks.map((hunk) => renderHunk(hunk, a, b)).join('\n'),
  };
}

/** Git treats a blob with a NUL in its first 8,000 bytes as binary. */
export function isBinary(data: Buffer): boolean {
  return data.subarray(0, 8_000).includes(0);
}

function renderHunk(hunk: readonly Edit[], a: readonly string[], b: readonly string[]): string {
  const first = hunk[0];
  const last = hunk.at(-1);
  if (!first || !last) return '';
  const lead = Math.min(CONTEXT, first.from);
  const trail = Math.min(CONTEXT, a.length - last.to);
  const start = first.from - lead;
  const afterStart = first.afterFrom - lead;
  const end = last.to + trail;
  const out: string[] = [];
  let position = start;
  for (const edit of hunk) {
    out.push(...a.slice(position, edit.from).map((line) => ` ${line}`));
    out.push(...a.slice(edit.from, edit.to).map((line) => `-${line}`));
    out.push(...b.slice(edit.afterFrom, edit.afterTo).map((line) => `+${line}`));
    position = edit.to;
  }
  out.push(...a.slice(position, end).map((line) => ` ${line}`));
  const header = `@@ -${range(start, end - start)} +${range(afterStart, last.afterTo + trail - afterStart)} @@`;
  const title = enclosing(a, start);
  const body = out.map((line) =>
    line.endsWith('\n') ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`,
  );
  return [title ? `${header} ${title}` : header, ...body].join('\n');
}

function range(start: number, count: number): string {
  if (count === 0) return `${start},0`;
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`;
}

/** Git's default hunk title: the nearest line above that starts with a letter, `_` or `$`. */
function enclosing(lines: readonly string[], start: number): string | undefined {
  for (let i = start - 1; i >= 0; i--) {
    const line = lines[i] ?? '';
    if (/^[A-Za-z_$]/.test(line)) return line.trimEnd().slice(0, 80);
  }
  return undefined;
}
