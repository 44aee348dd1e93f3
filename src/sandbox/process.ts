import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../core/errors.ts';
import { watchMemory } from './memory.ts';

/** How a child process is started, and what it may use. */
export interface ProcessSpec {
  command: string;
  args: readonly string[];
  /** Its working folder; `/` by default. */
  folder?: string;
  /** Its whole environment; empty by default. */
  env?: Readonly<Record<string, string>>;
  /** Written to its standard input, which then closes. Without it, the input stays open for `writeLine`. */
  input?: string;
  /** Standard error: `keep` counts it as output, `tail` keeps its end and does not count it. Dropped by default. */
  stderr?: 'keep' | 'tail';
  /** Descriptor 3: an open file of ours that it reads, or a `pipe` that it writes to. */
  descriptor3?: number | 'pipe' | undefined;
  limits: ProcessLimits;
  /** Kills it when aborted. */
  signal?: AbortSignal;
}

/** A limit that is left out does not apply. */
export interface ProcessLimits {
  /** Wall time, from the start to the end. */
  wallMs?: number;
  /** Resident memory of the process and everything that it started. */
  memoryMb?: number;
  /** Everything that it writes. */
  outputBytes?: number;
  /** One line of its standard output. */
  lineBytes?: number;
}

/** How a process ended. If there are several reasons, the first one counts. `Reason` is why its caller stops it. */
export type Ending<Reason = never> =
  | { kind: 'not_started'; detail: string }
  /** By itself, or killed by somebody who gave no reason: then `code` is `null`, and `detail` names the signal. */
  | { kind: 'exited'; code: number | null; detail: string }
  | { kind: 'timed_out'; ms: number }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'too_much_output'; limit: number }
  | { kind: 'stopped'; because: Reason };

export interface SandboxedProcess<Reason = never> {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** Aborted as soon as the process is being killed or is gone. */
  readonly over: AbortSignal;
  /**
   * Resolves when the process is gone and its output is closed.
   * @throws the reason of the signal in its spec, if that was aborted.
   */
  readonly ended: Promise<Ending<Reason>>;
  writeLine(line: string): void;
  /** Kills the process and everything in its group. Without a reason, it counts as exited. */
  stop(because?: Reason): void;
}

/** Standard output, standard error, and the pipe that it may have besides. */
export type Descriptor = 1 | 2 | 3;

export interface Listener {
  /** Everything that it writes, within its limits, until its output closes. */
  onOutput?(part: Buffer, from: Descriptor): void;
  /** Each line of its standard output; none any more once there is a reason for its end. */
  onLine?(line: string): void;
}

/**
 * Starts a process in a process group of its own, and kills the whole group when it exceeds a limit.
 * @throws the signal's reason if it is already aborted; everything else is an `Ending`.
 */
export function startProcess<Reason = never>(
  spec: ProcessSpec,
  { onOutput, onLine }: Listener = {},
): SandboxedProcess<Reason> {
  const { limits, signal } = spec;
  const { wallMs, memoryMb, outputBytes = Infinity, lineBytes = Infinity } = limits;
  signal?.throwIfAborted();
  const over = new AbortController();
  const child = spawned(spec);
  if (child instanceof Error) {
    over.abort();
    const ended = Promise.resolve({ kind: 'not_started', detail: messageOf(child) } as const);
    return { pid: undefined, over: over.signal, ended, writeLine() {}, stop() {} };
  }

  let ending: Ending<Reason> | undefined;
  const kill = () => {
    over.abort();
    killGroup(child.pid);
  };
  const fail = (because: Ending<Reason>) => {
    ending ??= because;
    kill();
  };

  let bytes = 0;
  const lines = cutLines();
  const hear = (part: Buffer, from: Descriptor) => {
    if (from !== 2 || spec.stderr === 'keep') bytes += part.length;
    if (bytes > outputBytes) return fail({ kind: 'too_much_output', limit: outputBytes });
    onOutput?.(part, from);
    if (from !== 1 || !onLine) return;
    if (lines.waitingBytes() + part.length > lineBytes) {
      return fail({ kind: 'too_much_output', limit: lineBytes });
    }
    for (const line of lines.add(part)) {
      if (ending) return;
      onLine(line);
    }
  };
  // Node leaves all of this out when it has no descriptor left for a pipe. Then `error` and `close` follow.
  for (const from of [1, 2, 3] as const) child.stdio?.[from]?.on('data', (part: Buffer) => hear(part, from));
  // A process that dies early breaks the pipe; `close` says how it ended.
  child.stdin?.on('error', () => {});
  if (spec.input !== undefined) child.stdin?.end(spec.input);

  const timeOut = () => fail({ kind: 'timed_out', ms: wallMs ?? 0 });
  const timer = wallMs === undefined ? undefined : setTimeout(timeOut, wallMs);
  const runOut = () => fail({ kind: 'too_much_memory', mb: memoryMb ?? 0 });
  const endWatch = child.pid && memoryMb ? watchMemory(child.pid, memoryMb, runOut) : undefined;
  signal?.addEventListener('abort', kill, { once: true });
  child.on('error', (error) => fail({ kind: 'not_started', detail: messageOf(error) }));
  const ended = new Promise<Ending<Reason>>((resolve, reject) => {
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      endWatch?.();
      signal?.removeEventListener('abort', kill);
      over.abort();
      if (signal?.aborted) return reject(signal.reason);
      resolve(ending ?? { kind: 'exited', code, detail: killedBy ?? `exit code ${code}` });
    });
  });

  return {
    pid: child.pid,
    over: over.signal,
    ended,
    writeLine: (line) => void child.stdin?.write(`${line}\n`),
    stop: (because) => (because === undefined ? kill() : fail({ kind: 'stopped', because })),
  };
}

const TAIL_BYTES = 1_000;

/**
 * Runs a process that nobody talks to: it reads its input and is over.
 * @returns how it ended, and what it wrote to the given descriptors, in the order in which it came.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export async function runProcess(
  spec: ProcessSpec,
): Promise<{ ending: Ending; output(...from: Descriptor[]): Buffer }> {
  const parts: { part: Buffer; from: Descriptor }[] = [];
  let tail = Buffer.alloc(0);
  const { ended } = startProcess(
    { input: '', ...spec },
    {
      onOutput(part, from) {
        if (from === 2 && spec.stderr === 'tail') tail = Buffer.concat([tail, part]).subarray(-TAIL_BYTES);
        else parts.push({ part, from });
      },
    },
  );
  const ending = await ended;
  return {
    ending,
    output: (...wanted) =>
      Buffer.concat(
        [...parts, { part: tail, from: 2 as const }]
          .filter(({ from }) => wanted.includes(from))
          .map(({ part }) => part),
      ),
  };
}

/** Some failures are thrown, others come as an event. */
function spawned({
  command,
  args,
  folder = '/',
  env = {},
  stderr,
  descriptor3,
}: ProcessSpec): ChildProcess | Error {
  try {
    return spawn(command, args, {
      cwd: folder,
      env,
      stdio: [
        'pipe',
        'pipe',
        stderr ? 'pipe' : 'ignore',
        ...(descriptor3 === undefined ? [] : [descriptor3]),
      ],
      // A process group of its own, so that one signal reaches the launcher, the process and what it started.
      detached: true,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is already gone.
  }
}

/** Cuts output into lines. What follows the last line break waits for the rest of its line. */
function cutLines() {
  // A string, because a process that writes byte by byte would cost a hundred bytes for each if the pieces were buffers.
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let waiting = 0;
  return {
    add(part: Buffer): string[] {
      rest += decoder.write(part);
      const end = part.lastIndexOf(10);
      waiting = end < 0 ? waiting + part.length : part.length - 1 - end;
      // Splitting a long line again with each piece of it would take quadratic time.
      if (end < 0) return [];
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      return lines;
    },
    waitingBytes: () => waiting,
  };
}
