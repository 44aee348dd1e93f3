import { clipBytes, htmlComment } from '../text/markdown.ts';
import { type StatusView, stateCards } from './state-cards.ts';

export const STATUS_MARKER = htmlComment('countersign:status');

/**
 * GitHub's limit for a comment is 65,536 characters. A text has at least as many bytes, so counting bytes
 * stays within it.
 */
export const MAX_COMMENT_BYTES = 65_536;

/**
 * The comment on a pull request that shows its current state: the newest run of each chain.
 * @param found a further line by which the comment is found, if it was an approval comment
 */
export function statusComment(views: readonly StatusView[], found?: string): string {
  const marker = found === undefined ? STATUS_MARKER : `${STATUS_MARKER}\n${found}`;
  const space = MAX_COMMENT_BYTES - Buffer.byteLength(marker) - 1;
  return `${marker}\n${clipBytes(stateCards(views), space)}`;
}
