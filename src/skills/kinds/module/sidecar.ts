import { AsyncLocalStorage } from 'node:async_hooks';
import type { Json } from '../../../core/canonical.ts';
import type { Clock } from '../../../core/clock.ts';
import { messageOf } from '../../../core/errors.ts';
import type { Died } from '../../../messages/skills/module.ts';
import type { Command } from '../../../sandbox/node-program.ts';
import { type SandboxedProcess, startProcess } from '../../../sandbox/process.ts';
import { sidecarCommand } from './process.ts';
import {
  type FromSidecar,
  fromSidecarSchema,
  type Request,
  type ToSidecar,
  type Wanted,
} from './sidecar/protocol.ts';

type Unnumbered<T> = T extends unknown ? Omit<T, 'id' | 'kind'> : never;

/**
 * What stands behind a task: it gives what the task wants, or words why not. It must end when the signal says so; what it throws
 * ends the task with that.
 */
export type Host = (wanted: Wanted, signal: AbortSignal) => Promise<{ value: Json } | { because: string }>;

export interface Task {
  ask: Unnumbered<Request>;
  host: Host;
  timeoutMs: number;
  signal: AbortSignal;
}

export type TaskEnd =
  | { kind: 'done'; value: Json }
  /** The engine of modules made nothing of it. */
  | { kind: 'failed'; because: string }
  | { kind: 'timed_out' }
  /** The process cannot be had: it does not start, or ended again and again. */
  | { kind: 'unavailable'; because: Died };

/** The one process in which modules run. It is there from the first task until none came for a while. */
export interface Sidecar {
  /** @throws the signal's reason when aborted, or what the host threw. */
  perform(task: Task): Promise<TaskEnd>;
  /** Of the process, while there is one. */
  pid(): number | undefined;
  /** Ends the process, and its tasks as `unavailable`. */
  stop(): Promise<void>;
}

export interface SidecarDeps {
  clock: Clock;
  command?: () => Promise<Pick<Command, 'command' | 'args'>>;
  /** Calls back once after so many milliseconds, and gives what takes that back. */
  later?: (ms: number, then: () => void) => () => void;
}

/** In milliseconds without a task. */
export const IDLE_MS = 120_000;
/** Ends without a task done in between, after which the process is left alone for a while. */
export const MOST_ENDS = 3;
const LEFT_ALONE_MS = 300_000;

/** The longest line holds a prompt, or an outcome of two hundred findings. */
const LIMITS = { memoryMb: 512, lineBytes: 4_000_000 };

interface Running extends Task {
  id: number;
  done: AbortController;
  settle(end: TaskEnd): void;
  fail(error: unknown): void;
}

export function createSidecar({
  clock,
  command = sidecarCommand,
  later = afterRealTime,
}: SidecarDeps): Sidecar {
  const running = new Map<number, Running>();
  let child: SandboxedProcess<Died> | undefined;
  let starting = false;
  let ends = 0;
  let lastEnd: { because: Died; at: number } | undefined;
  let last = 0;
  let stopped = false;
  let keepAlive = () => {};

  const retriesExhausted = (): Died | undefined => {
    if (stopped) return { kind: 'stopped' };
    if (ends < MOST_ENDS || !lastEnd) return undefined;
    if (clock.now().getTime() - lastEnd.at < LEFT_ALONE_MS) return lastEnd.because;
    ends = 0;
    return undefined;
  };

  const hear = (message: FromSidecar) => {
    const id = 'task' in message ? message.task : message.id;
    // A task that is over may still have been about to ask; one that never was is made up.
    if (id > last) return child?.stop({ kind: 'no_message' });
    const task = running.get(id);
    if (!task) return;
    if ('task' in message) return void answer(task, message);
    ends = 0;
    const { kind } = message;
    task.settle(kind === 'done' ? { kind, value: message.value } : { kind, because: message.because });
  };

  async function answer(task: Running, wanted: Wanted): Promise<void> {
    if (!child) return;
    const asking = child;
    const signal = AbortSignal.any([task.done.signal, asking.over]);
    const given = await task.host(wanted, signal).catch((error) => {
      if (!signal.aborted) task.fail(error);
    });
    // The next process counts its questions from one again, and must not hear answers to the last one's.
    if (!given || signal.aborted) return;
    const { id } = wanted;
    if ('value' in given) say(asking, { kind: 'answer', id, value: given.value });
    else say(asking, { kind: 'refusal', id, because: given.because });
  }

  const say = (to: SandboxedProcess<Died> | undefined, message: ToSidecar) =>
    to?.writeLine(JSON.stringify(message));
  const send = (task: Running) => say(child, { ...task.ask, kind: 'request', id: task.id } as Request);

  /** The tasks that were under way begin again: none has told anybody anything yet. */
  const onEnd = (because: Died): void => {
    child = undefined;
    if (because.kind !== 'idle') {
      ends += 1;
      lastEnd = { because, at: clock.now().getTime() };
    }
    if (running.size > 0) void start();
  };

  /** Without a process, every task waits for one; each is told to the one that there is then. */
  async function start(): Promise<void> {
    const because = retriesExhausted();
    if (because) {
      for (const task of running.values()) task.settle({ kind: 'unavailable', because });
      return;
    }
    if (starting) return;
    starting = true;
    const built = await command().catch((error) => ({ failed: messageOf(error) }));
    starting = false;
    if (stopped) return;
    if ('failed' in built) return onEnd({ kind: 'not_started', detail: built.failed });
    const begun = startProcess<Died, FromSidecar>(
      { ...built, limits: LIMITS },
      { schema: fromSidecarSchema, onMessage: hear },
    );
    void begun.ended.then(onEnd);
    child = begun;
    for (const task of running.values()) send(task);
  }

  return {
    pid: () => child?.pid,

    perform(task) {
      task.signal.throwIfAborted();
      keepAlive();
      return new Promise((resolve, reject) => {
        last += 1;
        const id = last;
        const done = new AbortController();
        const end = (finish: () => void) => {
          if (!running.delete(id)) return;
          clearTimeout(timer);
          task.signal.removeEventListener('abort', onAbort);
          done.abort();
          if (running.size === 0) keepAlive = later(IDLE_MS, () => child?.stop({ kind: 'idle' }));
          finish();
        };
        const fail = (error: unknown) => {
          say(child, { kind: 'cancel', id });
          end(() => reject(error));
        };
        const onAbort = () => fail(task.signal.reason);
        const timer = setTimeout(() => {
          // Whether it waits or loops cannot be seen from here; whoever shares the process begins again.
          end(() => resolve({ kind: 'timed_out' }));
          child?.stop({ kind: 'timed_out', ms: task.timeoutMs });
        }, task.timeoutMs);
        task.signal.addEventListener('abort', onAbort, { once: true });
        const one: Running = {
          ...task,
          // The process speaks in the context of whoever started it, whose lease on a job says nothing of this one.
          host: AsyncLocalStorage.bind(task.host),
          id,
          done,
          settle: (ended) => end(() => resolve(ended)),
          fail,
        };
        running.set(id, one);
        if (child) send(one);
        else void start();
      });
    },

    async stop() {
      stopped = true;
      keepAlive();
      for (const task of running.values()) task.settle({ kind: 'unavailable', because: { kind: 'stopped' } });
      // The last of them set the timer anew.
      keepAlive();
      child?.stop({ kind: 'stopped' });
      await child?.ended;
    },
  };
}

function afterRealTime(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms).unref();
  return () => clearTimeout(timer);
}
