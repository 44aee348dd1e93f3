import { clipBytes, htmlComment } from '../text/markdown.ts';

const MAX_BODY_BYTES = 60_000;

/**
 * The reply to all commands of one comment, in the order in which they were written.
 * @param to the comment's id, or the name of the button that was pressed
 */
export function commandReply(
  to: number | string,
  answers: readonly { ok: boolean; text: string }[],
): { marker: string; body: string } {
  const marker = htmlComment(`countersign:reply to=${to}`);
  const text = answers.map((answer) => answer.text).join('\n\n');
  return { marker, body: `${marker}\n${clipBytes(text, MAX_BODY_BYTES)}` };
}
