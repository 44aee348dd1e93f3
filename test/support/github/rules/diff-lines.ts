/** The lines of a file that a review comment may be on: those that its patch shows, on either side. */
export interface DiffLines {
  LEFT: ReadonlySet<number>;
  RIGHT: ReadonlySet<number>;
}

/**
 * The end of the hunk around a line, up to that line, as a review comment shows it.
 * https://docs.github.com/en/rest/pulls/comments#get-a-review-comment-for-a-pull-request
 */
export function hunkUpTo(patch: string, at: { line: number; side: 'LEFT' | 'RIGHT' }): string {
  const lines = patch.split('\n');
  const end = lines.findIndex((_, index) =>
    diffLinesOf(lines.slice(0, index + 1).join('\n'))[at.side].has(at.line),
  );
  const upTo = lines.slice(0, end + 1);
  return upTo.slice(upTo.findLastIndex((line) => line.startsWith('@@ '))).join('\n');
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
