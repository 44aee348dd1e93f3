/** Markdown of a part of a check run's summary, and whether something of it did not fit. */
export interface Section {
  markdown: string;
  /** What did not fit is listed below the summary, in the check run's text. */
  cut: boolean;
}

export const BELOW = 'listed further down';

/** The lines of a list, and where the rest is to be read when not all of them fitted. */
export function withRest({ lines, left }: { lines: string[]; left: number }, whereElse: string): string {
  return [...lines, ...(left === 0 ? [] : [`- … and ${left} more, ${whereElse}`])].join('\n');
}
