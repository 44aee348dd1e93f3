/** A range of `before` (from, to) that became a range of `after`. Lines count from 0; `to` is exclusive. */
export interface Edit {
  from: number;
  to: number;
  afterFrom: number;
  afterTo: number;
}

/** Above this many edited lines the middle counts as replaced: Myers' algorithm is quadratic in them. */
const MOST_STEPS = 1_500;

/** Splits into lines that keep their line ends, so that a missing last line end is noticed. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The edits that turn `before` into `after`, in order (Myers 1986, after cutting off the common head and tail). */
export function diffLines(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  if (a.length === 0 && b.length === 0) return [];
  const kept = a.length === 0 || b.length === 0 ? [] : commonLines(a, b);
  const edits: Edit[] = [];
  let x = 0;
  let y = 0;
  for (const [i, j] of [...kept, [a.length, b.length] as const]) {
    if (i > x || j > y) edits.push({ from: x + head, to: i + head, afterFrom: y + head, afterTo: j + head });
    x = i + 1;
    y = j + 1;
  }
  return edits;
}

/** Pairs of equal lines, ascending in both; empty if the texts differ by more than `MOST_STEPS` lines. */
function commonLines(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  let furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  const at = (map: ReadonlyMap<number, number>, k: number): number => map.get(k) ?? -1;
  const goesDown = (map: ReadonlyMap<number, number>, k: number, d: number): boolean =>
    k === -d || (k !== d && at(map, k - 1) < at(map, k + 1));

  for (let d = 0; d <= Math.min(a.length + b.length, MOST_STEPS); d++) {
    const row = new Map<number, number>();
    for (let k = -d; k <= d; k += 2) {
      let x = goesDown(furthest, k, d) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      row.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(trace, goesDown, at, k, d, x);
    }
    trace.push(row);
    furthest = row;
  }
  return [];
}

function walkBack(
  trace: readonly ReadonlyMap<number, number>[],
  goesDown: (map: ReadonlyMap<number, number>, k: number, d: number) => boolean,
  at: (map: ReadonlyMap<number, number>, k: number) => number,
  lastK: number,
  lastD: number,
  lastX: number,
): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let k = lastK;
  let x = lastX;
  for (let d = lastD; d >= 0; d--) {
    const row = trace[d - 1] ?? new Map([[1, 0]]);
    const down = goesDown(row, k, d);
    const start = down ? at(row, k + 1) : at(row, k - 1) + 1;
    for (; x > start; x--) pairs.push([x - 1, x - 1 - k]);
    if (down) {
      k += 1;
      x = at(row, k);
    } else {
      k -= 1;
      x = at(row, k);
    }
  }
  return pairs.reverse();
}

/** Merges two versions of one text; `undefined` on a conflict. Adjacent edits conflict, as in git. */
export function mergeTexts(base: string, ours: string, theirs: string): string | undefined {
  const lines = splitLines(base);
  const sides = [ours, theirs].map((text) => {
    const after = splitLines(text);
    return diffLines(lines, after).map(({ from, to, afterFrom, afterTo }) => ({
      from,
      to,
      text: after.slice(afterFrom, afterTo).join(''),
    }));
  });
  const edits = sides.flat().sort((a, b) => a.from - b.from || a.to - b.to);
  let merged = '';
  let position = 0;
  let last: (typeof edits)[number] | undefined;
  for (const edit of edits) {
    if (last && edit.from === last.from && edit.to === last.to && edit.text === last.text) continue;
    if (last && edit.from <= last.to) return undefined;
    merged += lines.slice(position, edit.from).join('') + edit.text;
    position = edit.to;
    last = edit;
  }
  return merged + lines.slice(position).join('');
}
