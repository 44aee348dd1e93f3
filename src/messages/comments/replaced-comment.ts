import { link } from '../text/link.ts';

/** The line of a comment of which a newer one took the place. It is collapsed, where GitHub allows that. */
export function replacedLine(newer: string | null): string {
  return `⏭️ ${link('A newer comment', newer)} replaces this one.`;
}

/** A former comment of a pull request. @param marker lines by which it is found */
export function replacedComment(marker: string, newer: string | null): string {
  return `${marker}\n${replacedLine(newer)}`;
}
