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

/** The same if there is no answer. @param because one sentence, of untrusted text */
export function noThreadReply(to: number, because: string): { marker: string; body: string } {
  return commandReply(`${to} in its conversation`, [
    { ok: false, text: answerLines(`No answer: ${because}`) },
  ]);
}
