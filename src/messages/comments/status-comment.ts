import { clipBytes, htmlComment } from '../text/markdown.ts';
import { formerQuestion } from './replaced-comment.ts';
import { type StatusView, stateCards } from './state-cards.ts';

export const STATUS_MARKER = htmlComment('countersign:status');

/**
 * GitHub's limit for a comment is 65,536 characters. A text has at least as many bytes, so counting bytes
 * stays within it.
 */
export const MAX_COMMENT_BYTES = 65_536;

/**
 * The comment on a pull request that shows its current state: the newest run of each chain.
 * @param former of an approval comment: a further line by which it is found, and what became of its question
 */
export function statusComment(
  views: readonly StatusView[],
  former?: { marker: string; answered: string | undefined },
): string {
  const marker = former ? `${STATUS_MARKER}\n${former.marker}` : STATUS_MARKER;
  const space = MAX_COMMENT_BYTES - Buffer.byteLength(marker) - 1;
  const before = former?.answered === undefined ? '' : `\n\n${formerQuestion(former.answered)}`;
  return `${marker}\n${clipBytes(`${stateCards(views)}${before}`, space)}`;
}
