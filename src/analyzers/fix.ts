/** A replacement of text, from one position to before another. Lines and columns count from 1, columns in UTF-16 units. */
export interface Edit {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  text: string;
}

/** As `fix` of a finding allows, in characters. */
const MAX_FIX = 2_000;

/**
 * The text that replaces exactly these lines once the edits are made, without a line feed at its end; empty if nothing is
 * left of them. `undefined` if the edits reach beyond the lines, overlap or change nothing, and for text whose columns tools
 * count in different ways.
 */
export function fixOf(
  edits: readonly Edit[],
  lines: readonly string[],
  { line, endLine }: { line: number; endLine: number },
): string | undefined {
  const old = lines.slice(line - 1, endLine);
  const text = old.map((one) => `${one}\n`).join('');
  // A carriage return, or a character of two units.
  if (edits.length === 0 || /[\r\ud800-\udfff]/.test(text)) return undefined;
  const starts = [0];
  for (const one of old) starts.push((starts.at(-1) ?? 0) + one.length + 1);
  const offset = (atLine: number, column: number): number => {
    const start = starts[atLine - line];
    const length = old[atLine - line]?.length ?? 0;
    return start === undefined || column < 1 || column - 1 > length ? Number.NaN : start + column - 1;
  };
  const places = edits
    .map((edit) => ({
      from: offset(edit.line, edit.column),
      to: offset(edit.endLine, edit.endColumn),
      text: edit.text,
    }))
    .sort((a, b) => a.from - b.from);
  let made = '';
  let at = 0;
  for (const edit of places) {
    if (!(edit.from >= at && edit.to >= edit.from)) return undefined;
    made += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  made += text.slice(at);
  if (made === text || made.length > MAX_FIX || /[\r\ud800-\udfff]/.test(made)) return undefined;
  if (made === '') return made;
  // Otherwise the next line would move up to the last one. An empty line is not the same as none.
  return made.endsWith('\n') && made !== '\n' ? made.slice(0, -1) : undefined;
}
