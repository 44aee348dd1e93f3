import { dirname } from 'node:path';
import type { RenderFault } from '../../messages/skills/prompt.ts';
import { type Command, commandOf } from '../../sandbox/node-program.ts';
import { type Ending, type SandboxedProcess, startProcess } from '../../sandbox/process.ts';

/** The limits of the process, whatever a template asks for. */
const BOUNDS = { heapMb: 96, wasmMb: 128 };

/** Why there is no answer. The process is dead by then. */
export type NoAnswer = { kind: 'too_long' } | Extract<RenderFault, { kind: 'timed_out' | 'crashed' }>;
type Reply = { kind: 'answer'; text: string } | NoAnswer;

/**
 * A process that answers one question at a time: a line on its standard input, then a line on its standard
 * output.
 */
export interface AnsweringProcess extends SandboxedProcess<NoAnswer> {
  /**
   * @param question without line breaks
   * @throws the signal's reason if aborted; the process is dead by then
   */
  ask(question: string, bounds: { timeoutMs: number; signal: AbortSignal }): Promise<Reply>;
}

const OUT_OF_TURN: NoAnswer = { kind: 'crashed', detail: 'it said more than it was asked' };

/**
 * The command for a module that reads only its own folder and the given ones, writes nothing and starts
 * nothing.
 */
export function commandFor(main: string, readable: readonly string[]): Promise<Command> {
  return commandOf({ main, readable: [dirname(main), ...readable], deny: ['code-from-strings'], ...BOUNDS });
}

/** Starts a process that is killed if an answer takes too long or it writes anything else. */
export function startAnswering(command: Command, maxAnswerBytes: number): AnsweringProcess {
  /** Set while a question is open. */
  let onAnswer: ((text: string) => void) | undefined;
  const child = startProcess<NoAnswer>(
    { ...command, limits: { lineBytes: maxAnswerBytes } },
    {
      onOutput(part) {
        const end = part.indexOf('\n');
        // It must not answer the next question in advance.
        if (!onAnswer || (end >= 0 && end < part.length - 1)) child.stop(OUT_OF_TURN);
      },
      onMessage(text) {
        onAnswer?.(text);
        onAnswer = undefined;
      },
    },
  );
  const failed = child.ended.then(noAnswerFor);
  const ask: AnsweringProcess['ask'] = async (question, { timeoutMs, signal }) => {
    const answered = new Promise<Reply>((resolve) => {
      onAnswer = (text) => resolve({ kind: 'answer', text });
    });
    const timer = setTimeout(() => child.stop({ kind: 'timed_out', ms: timeoutMs }), timeoutMs);
    const onAbort = () => child.stop();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    child.writeLine(question);
    const reply = await Promise.race([answered, failed]);
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (signal.aborted) await failed;
    signal.throwIfAborted();
    return reply;
  };
  return { ...child, ask };
}

function noAnswerFor(ending: Ending | NoAnswer): NoAnswer {
  if (ending.kind === 'timed_out' || ending.kind === 'too_long') return ending;
  if (ending.kind === 'too_much_output') return { kind: 'too_long' };
  return { kind: 'crashed', detail: 'detail' in ending ? ending.detail : ending.kind };
}
