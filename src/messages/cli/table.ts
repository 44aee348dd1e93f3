import { redact } from '../../core/redact/redact.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { clip } from '../text/pretty.ts';
import { type Meaning, PLAIN, paint, type Screen } from '../text/screen.ts';

const GAP = '  ';
/** In columns, so that one long branch name does not push the other columns off the screen. */
const MAX_CELL = 60;
/** The narrowest screen that tables fit, in columns. On a narrower one, lines wrap. */
const NARROWEST = 70;
/** What is left of a clipped cell at least, in columns. With it, a list of runs fits the narrowest screen. */
const LEAST = 7;
/** A cell can be read if that much is left of it, in columns. Before less is, columns are left out. */
const READABLE = 18;

/** A column; a text is its heading. */
export type Column = string | ColumnOptions;

interface ColumnOptions {
  heading: string;
  /** Never clipped on a narrow screen: what people copy, such as an id, and words that mean nothing if half of them is missing. */
  whole?: true;
  /** Clipped at its beginning: the end tells cells apart. */
  keeps?: 'end';
  /** Left out if the screen is too narrow for it; the highest number goes first. */
  leftOut?: number;
  /** The colour of a cell. */
  meaning?: (cell: string) => Meaning | undefined;
}

/** Ids of rows and of deliveries. People copy them, so no table clips them. */
const ID = /^(?:[a-z]{3}_[0-9a-z]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * A table with aligned columns. In a pipe it has no colours, and cells are only clipped if they are very long; on a screen
 * it fits the columns there are: the widest cells are clipped first, and then columns are left out. Cells can contain
 * untrusted text, which is made safe here.
 * @param options.last how wide the last column may be
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { last = MAX_CELL, screen = PLAIN }: { last?: number; screen?: Screen } = {},
): string {
  const options = columns.map((column) => (typeof column === 'string' ? { heading: column } : column));
  const cells = rows.map((row) =>
    options.map((_, at) => shorter(plainLine(row[at] ?? ''), at === options.length - 1 ? last : MAX_CELL)),
  );
  const widest = options.map(({ heading }, at) =>
    Math.max(width(heading), ...cells.map((row) => width(row[at] ?? ''))),
  );
  const least = options.map(({ heading, whole }, at) => {
    const all = widest[at] ?? 0;
    const isWhole = whole === true || cells.some((row) => ID.test(row[at] ?? ''));
    return isWhole ? all : Math.min(all, Math.max(width(heading), LEAST));
  });
  const shown = fitting(options, widest, least, screen.columns);
  const line = (row: readonly string[], painted: (cell: string, of: ColumnOptions) => string) =>
    shown
      .map(({ at, columns: wide }) => {
        const of = options[at] ?? { heading: '' };
        const text = narrower(row[at] ?? '', wide, of.keeps);
        return painted(text, of) + ' '.repeat(wide - width(text));
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      options.map(({ heading }) => heading),
      (cell) => paint('heading', cell, screen),
    ),
    ...cells.map((row) =>
      line(row, (cell, { meaning }) => {
        const means = meaning?.(cell);
        return means === undefined ? cell : paint(means, cell, screen);
      }),
    ),
  ].join('\n');
}

interface Shown {
  at: number;
  columns: number;
}

/** The columns that are shown, and how wide. */
function fitting(
  options: readonly ColumnOptions[],
  widest: readonly number[],
  least: readonly number[],
  columns: number | undefined,
): Shown[] {
  const all = options.map((_, at) => at);
  const whole = (at: number) => ({ at, columns: widest[at] ?? 0 });
  if (columns === undefined) return all.map(whole);
  const total = (shown: readonly number[], of: readonly number[]) =>
    shown.reduce((sum, at) => sum + (of[at] ?? 0), GAP.length * Math.max(0, shown.length - 1));
  const most = Math.max(columns, NARROWEST);
  const readable = all.map((at) => Math.max(least[at] ?? 0, Math.min(widest[at] ?? 0, READABLE)));
  let kept = all;
  for (const at of leftOutInOrder(options)) {
    if (total(kept, readable) <= most) break;
    kept = kept.filter((one) => one !== at);
  }
  const widths = [...widest];
  for (let over = total(kept, widths) - most; over > 0; over--) {
    const narrowable = kept.filter((at) => (widths[at] ?? 0) > (least[at] ?? 0));
    const [first, ...others] = narrowable;
    if (first === undefined) break;
    const at = others.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), first);
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return kept.map((at) => ({ at, columns: widths[at] ?? 0 }));
}

function leftOutInOrder(options: readonly ColumnOptions[]): number[] {
  return options
    .flatMap(({ leftOut }, at) => (leftOut === undefined ? [] : [{ at, leftOut }]))
    .sort((a, b) => b.leftOut - a.leftOut)
    .map(({ at }) => at);
}

/** Secrets go before a text is clipped: half of one would not be recognized. */
function shorter(text: string, letters: number): string {
  return text.length <= letters ? text : clip(redact(text), letters);
}

/** A text in so many columns of the screen. */
function narrower(text: string, columns: number, keeps: 'end' | undefined): string {
  if (width(text) <= columns) return text;
  const points = Array.from(redact(text));
  const side = keeps === 'end' ? () => points.shift() : () => points.pop();
  while (points.length > 0 && width(points.join('')) > columns - 1) side();
  return keeps === 'end' ? `…${points.join('')}` : `${points.join('')}…`;
}

/** Loading the data for a segmenter takes 5 to 10 ms, and most cells need none. */
const ASCII = /^[\x20-\x7e…]*$/;
let segmenter: Intl.Segmenter | undefined;
const WIDE =
  /\uFE0F|[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uFF01-\uFF60]/u;

/** The columns that a terminal uses for the text: two for East Asian characters and emoji, otherwise one. */
function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += WIDE.test(segment) ? 2 : 1;
  return columns;
}
