import { type CommandResult, isDone, replyTo } from './replies.ts';

/** What is said to one command of a comment. */
export interface Answer {
  ok: boolean;
  /** Markdown. */
  text: string;
  /** It came too late. Whoever pressed a button is told so, too. */
  overtaken?: true;
  /** Set when the answer comes later, in a comment of its own: the call that it will be of. */
  later?: string;
}

export function said(result: CommandResult): Answer {
  return {
    ok: isDone(result),
    text: replyTo(result),
    ...(result.kind === 'overtaken' ? { overtaken: true } : {}),
  };
}

/** What was done, and what was not, of what one command asked for. */
export function saidWith(result: CommandResult, others: readonly CommandResult[]): Answer {
  return { ok: isDone(result), text: [result, ...others].map(replyTo).join(' ') };
}

export function told(text: string): Answer {
  return { ok: true, text };
}
