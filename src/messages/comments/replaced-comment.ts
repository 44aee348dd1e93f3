import { link } from '../text/link.ts';

/**
 * A comment of which a newer one took the place.
 * @param marker a line by which it is found
 * @param newer the page of the newer one, if it is known
 * @param answered what became of the question that it was
 */
export function replacedComment(marker: string, newer: string | null, answered?: string): string {
  const line = `⏭️ ${link('A newer comment', newer)} replaces this one.`;
  return [`${marker}\n${line}`, ...(answered === undefined ? [] : [formerQuestion(answered)])].join('\n\n');
}

/** For a comment that was a question, and shows something else by now. */
export function formerQuestion(answered: string): string {
  return `<sub>This comment was an approval request. ${answered} Reactions to it no longer count.</sub>`;
}
