import { visible } from './markdown.ts';

const GAP = '\u200B';

/**
 * What GitHub or its automation acts on in a commit message: mentions, references (also those that close an issue), a tag such as
 * `[skip ci]` (https://docs.github.com/en/actions/how-tos/manage-workflow-runs/skip-workflow-runs), and the name of a trailer, such as
 * `Countersigned-by:`.
 */
const NOTICED =
  /@(?=[\p{L}\p{N}_-])|#(?=\d)|\bGH-(?=\d)|\[(?=[^\]]*\])|\b[A-Za-z-]+-by(?=:)|\bskip-checks(?=:)|:(?=\/\/)/giu;

/**
 * Untrusted text inside a commit message, on one line. A zero-width space keeps GitHub from acting on it; a commit message has no
 * escapes.
 */
export function commitText(text: string): string {
  return visible(text.toWellFormed().replaceAll(/\s/g, ' '))
    .replaceAll(/ +/g, ' ')
    .trim()
    .replaceAll(NOTICED, (found) => found + GAP);
}
