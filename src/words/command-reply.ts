import { clipBytes, htmlComment } from './markdown.ts';

const MAX_BODY_BYTES = 60_000;

/** The answer to all commands of one comment, in the order they were written. */
export function commandReply(
  commentId: number,
  answers: readonly { ok: boolean; text: string }[],
): { marker: string; body: string } {
  const marker = htmlComment(`countersign:reply to=${commentId}`);
  const text = answers.map((answer) => answer.text).join('\n\n');
  return { marker, body: `${marker}\n${clipBytes(text, MAX_BODY_BYTES)}` };
}
