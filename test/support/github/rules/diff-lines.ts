/** The lines of a file that a review comment may be on: those that its patch shows, on either side. */
export interface DiffLines {
  LEFT: ReadonlySet<number>;
  RIGHT: ReadonlySet<number>;
}

export function diffLinesOf(patch: string): DiffLines {
  const left = new Set<number>();
  const right = new Set<number>();
  let [before, after] = [0, 0];
  for (const line of patch.split('\n')) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (header) [before, after] = [Number(header[1]), Number(header[2])];
    else if (line.startsWith('-')) left.add(before++);
    else if (line.startsWith('+')) right.add(after++);
    else if (line.startsWith(' ')) {
      left.add(before++);
      right.add(after++);
    }
  }
  return { LEFT: left, RIGHT: right };
}
