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
 * Serves a task's calls: returns a value, or a reason for a refusal. It must end when the signal is aborted.
 * An exception ends the task with that error.
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
  /** The module engine could not produce an answer. */
  | { kind: 'failed'; because: string }
  | { kind: 'timed_out' }
  /** The process does not start, or ended repeatedly. */
  | { kind: 'unavailable'; because: Died };

/** The one process in which modules run. It exists from the first task until it has been idle for a while. */
export interface Sidecar {
  /** @throws the signal's reason if aborted, or the host's error */
  perform(task: Task): Promise<TaskEnd>;
  /** The process's id, while it runs. */
  pid(): number | undefined;
  /** Ends the process, and its tasks as `unavailable`. */
  stop(): Promise<void>;
}

export interface SidecarDeps {
  clock: Clock;
  command?: () => Promise<Pick<Command, 'command' | 'args'>>;
  /** Calls back once after the given milliseconds. Returns a function that cancels. */
  later?: (ms: number, then: () => void) => () => void;
}

/** In milliseconds without a task. */
const IDLE_MS = 120_000;
/** After this many ends without a finished task in between, the process is not restarted for a while. */
export const MAX_ENDS = 3;
const LEFT_ALONE_MS = 300_000;

/** The longest line holds a prompt, or an outcome with two hundred findings. */
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
    if (ends < MAX_ENDS || !lastEnd) return undefined;
    if (clock.now().getTime() - lastEnd.at < LEFT_ALONE_MS) return lastEnd.because;
    ends = 0;
    return undefined;
  };

  const handleMessage = (message: FromSidecar) => {
    const id = 'task' in message ? message.task : message.id;
    // A finished task can still have a call under way. An id that was never used is a protocol error.
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
    // A new process numbers its calls from one again, and must not receive answers to the previous one's.
    if (!given || signal.aborted) return;
    const { id } = wanted;
    if ('value' in given) writeMessage(asking, { kind: 'answer', id, value: given.value });
    else writeMessage(asking, { kind: 'refusal', id, because: given.because });
  }

  const writeMessage = (to: SandboxedProcess<Died> | undefined, message: ToSidecar) =>
    to?.writeLine(JSON.stringify(message));
  const sendTask = (task: Running) =>
    writeMessage(child, { ...task.ask, kind: 'request', id: task.id } as Request);

  /** The running tasks start again, which is safe because none has reported anything. */
  const onEnd = (because: Died): void => {
    child = undefined;
    if (because.kind !== 'idle') {
      ends += 1;
      lastEnd = { because, at: clock.now().getTime() };
    }
    if (running.size > 0) void start();
  };

  /** Without a process, tasks wait, and are sent when it runs. */
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
      { schema: fromSidecarSchema, onMessage: handleMessage },
    );
    void begun.ended.then(onEnd);
    child = begun;
    for (const task of running.values()) sendTask(task);
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
          writeMessage(child, { kind: 'cancel', id });
          end(() => reject(error));
        };
        const onAbort = () => fail(task.signal.reason);
        const timer = setTimeout(() => {
          // From here, waiting and looping look the same. The other tasks of the process start again.
          end(() => resolve({ kind: 'timed_out' }));
          child?.stop({ kind: 'timed_out', ms: task.timeoutMs });
        }, task.timeoutMs);
        task.signal.addEventListener('abort', onAbort, { once: true });
        const one: Running = {
          ...task,
          // Otherwise the host would run in the async context of the task that started the process, with a
          // different job's lease.
          host: AsyncLocalStorage.bind(task.host),
          id,
          done,
          settle: (ended) => end(() => resolve(ended)),
          fail,
        };
        running.set(id, one);
        if (child) sendTask(one);
        else void start();
      });
    },

    async stop() {
      stopped = true;
      keepAlive();
      for (const task of running.values()) task.settle({ kind: 'unavailable', because: { kind: 'stopped' } });
      // The last of them set the timer again.
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
