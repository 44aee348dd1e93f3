import { answerLines } from './ask.ts';
import { commandReply } from './command-reply.ts';

/**
 * The answer to a reply in a conversation on a line. A model wrote it, so every line of it is encoded.
 * @param to the id of the reply
 */
export function threadReply(to: number, answer: string): { marker: string; body: string } {
  const text = `${answerLines(answer)}\n\n<sub>Answered by the language model. An answer changes no finding and no verdict.</sub>`;
  return commandReply(`${to} in its conversation`, [{ ok: true, text }]);
}

/** Why there is no answer if it is not known what must not be shown to a model. */
export const NOT_SEARCHED =
  'Nothing was sent to the language model, since the search for secrets failed and the text could hold some.';

/** The same if there is no answer. @param because one sentence, of untrusted text */
export function noThreadReply(to: number, because: string): { marker: string; body: string } {
  return commandReply(`${to} in its conversation`, [
    { ok: false, text: answerLines(`No answer: ${because}`) },
  ]);
}
