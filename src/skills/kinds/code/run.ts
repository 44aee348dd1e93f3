import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Json } from '../../../core/canonical.ts';
import { messageOf, unreachable } from '../../../core/errors.ts';
import { type CodeFault, codeFailure } from '../../../messages/code.ts';
import { killGroup } from '../../../sandbox/kill-group.ts';
import { cutLines } from '../../../sandbox/lines.ts';
import { watchMemory } from '../../../sandbox/memory.ts';
import type { ArtifactOutput } from '../../runtime/handler.ts';
import { answer } from './answer.ts';
import { Ledger } from './budget.ts';
import type { CodeHost } from './host.ts';
import type { CodeLimits } from './limits.ts';
import type { Command } from './process.ts';
import { type Message, messageSchema, type Start } from './protocol.ts';
import type { Snapshot } from './snapshot.ts';
import { Transcript } from './transcript.ts';

interface Execution {
  host: CodeHost;
  limits: CodeLimits;
  signal: AbortSignal;
  snapshot?: Snapshot | undefined;
}

/** What one process may write altogether, questions and logs included: more is no conversation. */
const MAX_TALK_BYTES = 64_000_000;

/**
 * Runs a template in a process of its own and answers its questions until it submits, fails or has to be ended.
 * @returns the submitted value, or a stated failure; the process is dead by then.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export function converse(
  { command, args }: Command,
  start: Start,
  execution: Execution,
): Promise<ArtifactOutput> {
  const { host, limits, signal, snapshot } = execution;
  return new Promise((resolve, reject) => {
    const child = begin(command, args, snapshot);
    const { stdin, stdout } = child;
    const done = new AbortController();
    const ended = AbortSignal.any([signal, done.signal]);
    const ledger = new Ledger(limits.budgets);
    const transcript = new Transcript(limits.logBytes);
    let submitted: { value: Json } | undefined;
    let failure: CodeFault | undefined;
    let nextId = 1;
    let asking = false;

    const stop = () => {
      done.abort();
      killGroup(child.pid);
    };
    const fail = (fault: CodeFault) => {
      failure ??= fault;
      stop();
    };
    const timer = setTimeout(() => fail({ kind: 'timed_out', ms: limits.timeoutMs }), limits.timeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    const endWatch = child.pid
      ? watchMemory(child.pid, limits.processMb, () =>
          fail({ kind: 'too_much_memory', mb: limits.processMb }),
        )
      : () => {};

    const hear = (message: Message) => {
      if (submitted) return fail({ kind: 'said_more', what: message.kind });
      switch (message.kind) {
        case 'log':
          if (!transcript.add(message.text)) fail({ kind: 'printed_too_much', limit: limits.logBytes });
          return;
        case 'call': {
          if (asking || message.id !== nextId) return fail({ kind: 'out_of_turn' });
          asking = true;
          nextId += 1;
          return void answer(message, host, ledger, ended).then((reply) => {
            asking = false;
            if (!ended.aborted) stdin.write(`${JSON.stringify(reply)}\n`);
          });
        }
        case 'submit':
          if (Buffer.byteLength(JSON.stringify(message.value)) > limits.resultBytes) {
            return fail({ kind: 'result_too_large', limit: limits.resultBytes });
          }
          submitted = { value: message.value };
          return stop();
        case 'end':
          transcript.addAll(message.details);
          return fail(endedWithout(message, limits));
      }
    };

    let bytes = 0;
    const lines = cutLines();
    stdout.setEncoding('utf8').on('data', (text: string) => {
      bytes += text.length;
      if (bytes > MAX_TALK_BYTES) return fail({ kind: 'wrote_too_much', limit: MAX_TALK_BYTES });
      for (const line of lines.add(text)) {
        if (failure) return;
        const message = read(line);
        if (!message) return fail({ kind: 'no_message' });
        hear(message);
      }
    });
    child.on('error', (error) => fail({ kind: 'not_started', detail: messageOf(error) }));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      endWatch();
      done.abort();
      signal.removeEventListener('abort', stop);
      if (signal.aborted) return reject(signal.reason);
      const log = transcript.text();
      if (submitted && !failure) return resolve({ kind: 'done', value: submitted.value, log });
      failure ??= { kind: 'died', detail: killedBy ?? `exit code ${code}` };
      resolve({
        kind: 'failed',
        because: codeFailure(start.name, failure),
        retryable: mayPass(failure),
        log,
      });
    });
    // A process that dies early breaks the pipe; its `close` tells the story.
    stdin.on('error', () => {});
    stdin.write(`${JSON.stringify(start)}\n`);
  });
}

type Talking = ChildProcess & { stdin: Writable; stdout: Readable };

function begin(command: string, args: readonly string[], snapshot: Snapshot | undefined): Talking {
  return spawn(command, args, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore', snapshot?.fd ?? 'ignore'],
    // A group of its own, so that one signal reaches the launcher and the process.
    detached: true,
  }) as Talking;
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

/** Whether the machine may have had a part in it, so that another attempt may end otherwise. */
function mayPass({ kind }: CodeFault): boolean {
  return kind === 'timed_out' || kind === 'not_started' || kind === 'died';
}

function read(line: string): Message | undefined {
  try {
    return messageSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
