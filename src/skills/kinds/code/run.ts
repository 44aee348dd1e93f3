import type { Json } from '../../../core/canonical.ts';
import { unreachable } from '../../../core/errors.ts';
import { redact } from '../../../core/redact/redact.ts';
import { type CodeFault, codeFailure } from '../../../messages/skills/code.ts';
import type { Command } from '../../../sandbox/node-program.ts';
import { startProcess } from '../../../sandbox/process.ts';
import type { ArtifactOutput } from '../../runtime/handler.ts';
import { answer } from './answer.ts';
import { Ledger } from './budget.ts';
import type { CodeHost } from './host.ts';
import type { CodeLimits } from './limits.ts';
import { type Message, messageSchema, type Start } from './protocol.ts';
import type { Snapshot } from './snapshot.ts';

interface Execution {
  host: CodeHost;
  limits: CodeLimits;
  signal: AbortSignal;
  snapshot?: Snapshot | undefined;
  /** What programs around it have used; by default nothing. */
  ledger?: Ledger | undefined;
  /** Called with what it prints, as it comes; not redacted. */
  onLog?: ((text: string) => void) | undefined;
}

/** For everything that one process writes, including calls and logs. */
const MAX_TALK_BYTES = 64_000_000;

/**
 * Runs a program in a process of its own and answers its calls until it submits a value, fails or is killed.
 * @returns the submitted value, or a failure; the process is dead by then
 * @throws the signal's reason if aborted; the process is dead by then
 */
export async function converse(
  command: Command,
  start: Start,
  { host, limits, signal, snapshot, ledger = new Ledger(limits.budgets), onLog }: Execution,
): Promise<ArtifactOutput> {
  const transcript = new Transcript(limits.logBytes);
  let submitted: { value: Json } | undefined;
  let nextId = 1;
  let asking = false;

  const child = startProcess<CodeFault, Message>(
    {
      ...command,
      descriptor3: snapshot?.fd,
      limits: { wallMs: limits.timeoutMs, memoryMb: limits.processMb, outputBytes: MAX_TALK_BYTES },
      signal,
    },
    {
      schema: messageSchema,
      onMessage: (message) => handleMessage(message),
    },
  );
  const over = AbortSignal.any([signal, child.over]);

  const handleMessage = (message: Message) => {
    if (submitted) return child.stop({ kind: 'said_more', what: message.kind });
    switch (message.kind) {
      case 'log':
        onLog?.(message.text);
        if (!transcript.add(message.text)) child.stop({ kind: 'printed_too_much', limit: limits.logBytes });
        return;
      case 'call': {
        if (asking || message.id !== nextId) return child.stop({ kind: 'out_of_turn' });
        asking = true;
        nextId += 1;
        return void answer(message, host, ledger, over).then((reply) => {
          asking = false;
          if (!over.aborted) child.writeLine(JSON.stringify(reply));
        });
      }
      case 'submit':
        if (Buffer.byteLength(JSON.stringify(message.value)) > limits.resultBytes) {
          return child.stop({ kind: 'result_too_large', limit: limits.resultBytes });
        }
        submitted = { value: message.value };
        return child.stop();
      case 'end':
        transcript.addAll(message.details);
        return child.stop(endedWithout(message, limits));
    }
  };

  child.writeLine(JSON.stringify(start));
  const fault = await child.ended;
  const log = transcript.text();
  if (submitted && fault.kind === 'died') return { kind: 'done', value: submitted.value, log };
  return { kind: 'failed', because: codeFailure(start.name, fault), retryable: mayBeTransient(fault), log };
}

function endedWithout(
  { how, message, at }: Extract<Message, { kind: 'end' }>,
  limits: CodeLimits,
): CodeFault {
  switch (how) {
    case 'returned':
      return { kind: 'no_result', message };
    case 'threw':
      return { kind: 'threw', message, at };
    case 'timed_out':
      return { kind: 'timed_out', ms: limits.timeoutMs };
    case 'out_of_memory':
      return { kind: 'out_of_memory', message, at };
    default:
      return unreachable(how);
  }
}

/** Whether the machine may have caused it, so that a retry may succeed. */
function mayBeTransient({ kind }: CodeFault): boolean {
  return kind === 'timed_out' || kind === 'not_started' || kind === 'died';
}

/** The output of a program, up to a limit. */
class Transcript {
  readonly #maxBytes: number;
  #bytes = 0;
  #texts: string[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns whether it still fits; otherwise it is not stored */
  add(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#maxBytes) return false;
    this.#texts.push(text);
    return true;
  }

  /** Adds the part that fits, for texts that are useful even if cut. */
  addAll(text: string): void {
    const left = this.#maxBytes - this.#bytes;
    this.add(
      Buffer.from(text)
        .subarray(0, Math.max(0, left))
        .toString()
        .replace(/\uFFFD$/, ''),
    );
  }

  /** Redacted, because its readers may lack access to the files that it quotes. */
  text(): string {
    return redact(this.#texts.join(''));
  }
}
