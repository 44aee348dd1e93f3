import { type CommandResult, isDone, replyText } from './replies.ts';

/** The reply to one command of a comment. */
export interface Reply {
  ok: boolean;
  /** Markdown. */
  text: string;
  /** The command arrived too late. Then a button gets a reply as well. */
  overtaken?: true;
  /** The id of the skill call whose answer follows in a comment of its own. */
  later?: string;
}

export function replyFor(result: CommandResult): Reply {
  return {
    ok: isDone(result),
    text: replyText(result),
    ...(result.kind === 'overtaken' ? { overtaken: true } : {}),
  };
}

/** The reply to a command that was executed in part. */
export function replyForAll(result: CommandResult, others: readonly CommandResult[]): Reply {
  return { ok: isDone(result), text: [result, ...others].map(replyText).join(' ') };
}

export function textReply(text: string): Reply {
  return { ok: true, text };
}
