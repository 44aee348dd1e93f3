/** A part of a check run's summary as Markdown, and whether something was cut from it. */
export interface Section {
  markdown: string;
  /** What was cut is listed below the summary, in the check run's text. */
  cut: boolean;
}

export const BELOW = 'listed further down';

/** The lines of a list, and where the rest is shown if not all of them fitted. */
export function withRest({ lines, left }: { lines: string[]; left: number }, whereElse: string): string {
  return [...lines, ...(left === 0 ? [] : [`- … and ${left} more, ${whereElse}`])].join('\n');
}
