/**
 * With more pairs of lines than this to compare, everything between the first and the last change counts as
 * changed.
 */
const MAX_PAIRS = 4_000_000;

export interface Patch {
  /** One hunk with all lines, in the format of the files API. */
  text: string;
  additions: number;
  deletions: number;
}

/** The line-by-line difference between two texts. An empty text means that the file does not exist. */
export function patchBetween(before: string, after: string): Patch {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const edits = editsBetween(old, fresh);
  const additions = edits.filter(({ sign }) => sign === '+').length;
  const deletions = edits.filter(({ sign }) => sign === '-').length;
  const header = `@@ -${range(old.length)} +${range(fresh.length)} @@`;
  const body = edits.map(({ sign, line }) =>
    line.endsWith('\n') ? sign + line.slice(0, -1) : `${sign}${line}\n\\ No newline at end of file`,
  );
  return { text: [header, ...body].join('\n'), additions, deletions };
}

function range(count: number): string {
  return count === 0 ? '0,0' : `1,${count}`;
}

/** Keeps line ends, so that a missing last one shows. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

interface Edit {
  sign: ' ' | '-' | '+';
  line: string;
}

function editsBetween(old: readonly string[], fresh: readonly string[]): Edit[] {
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(old.length, fresh.length) - head &&
    old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]
  ) {
    tail++;
  }
  const marked = (sign: Edit['sign'], lines: readonly string[]) =>
    lines.map((line): Edit => ({ sign, line }));
  const [a, b] = [old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)];
  const middle =
    a.length * b.length > MAX_PAIRS ? [...marked('-', a), ...marked('+', b)] : longestCommon(a, b);
  return [...marked(' ', old.slice(0, head)), ...middle, ...marked(' ', old.slice(old.length - tail))];
}

/**
 * Keeps the longest common subsequence of lines. `lengths[i][j]` is its length for the lines from `i` and `j`
 * on.
 */
function longestCommon(a: readonly string[], b: readonly string[]): Edit[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    const row = lengths[i] ?? new Uint32Array();
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old, fresh] = [a[i], b[j]];
    if (old !== undefined && old === fresh) {
      edits.push({ sign: ' ', line: old });
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      edits.push({ sign: '-', line: old });
      i++;
    } else if (fresh !== undefined) {
      edits.push({ sign: '+', line: fresh });
      j++;
    }
  }
  return edits;
}
