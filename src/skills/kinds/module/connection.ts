import { spawn } from 'node:child_process';
import { messageOf } from '../../../core/errors.ts';
import type { Died } from '../../../messages/module.ts';
import { killGroup } from '../../../sandbox/kill-group.ts';
import { cutLines } from '../../../sandbox/lines.ts';
import { watchMemory } from '../../../sandbox/memory.ts';
import type { Command } from './process.ts';
import { type FromSidecar, fromSidecarSchema, type ToSidecar } from './sidecar/protocol.ts';

/** One life of the sidecar's process. */
export interface Connection {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  say(message: ToSidecar): void;
  /** Ends the process; `onEnd` is told why, with the first reason there was. */
  end(because: Died): void;
}

export interface Ears {
  hear(message: FromSidecar): void;
  /** Once, when the process is gone. */
  onEnd(because: Died): void;
}

const MEMORY_MB = 512;
/** Of one line: the longest holds a prompt, or an outcome of two hundred findings. */
const MAX_LINE = 4_000_000;

/** Starts the process. What it says is checked; one that says anything else is ended. */
export function connect({ command, args }: Command, { hear, onEnd }: Ears): Connection {
  const child = spawn(command, args, {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    // A group of its own, so that one signal reaches the launcher and the process.
    detached: true,
  });
  let because: Died | undefined;
  const end = (reason: Died) => {
    because ??= reason;
    killGroup(child.pid);
  };
  const endWatch = child.pid
    ? watchMemory(child.pid, MEMORY_MB, () => end({ kind: 'too_much_memory', mb: MEMORY_MB }))
    : () => {};

  const lines = cutLines();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (because) return;
    if (lines.waiting() + text.length > MAX_LINE) return end({ kind: 'no_message' });
    for (const line of lines.add(text)) {
      const message = read(line);
      if (!message) return end({ kind: 'no_message' });
      hear(message);
      if (because) return;
    }
  });
  child.on('error', (error) => {
    because ??= { kind: 'not_started', detail: messageOf(error) };
  });
  child.on('close', (code, killedBy) => {
    endWatch();
    onEnd(because ?? { kind: 'died', detail: killedBy ?? `exit code ${code}` });
  });
  // A process that dies early breaks the pipe; its `close` tells the story.
  child.stdin.on('error', () => {});
  return {
    pid: child.pid,
    say: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    end,
  };
}

function read(line: string): FromSidecar | undefined {
  try {
    return fromSidecarSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
