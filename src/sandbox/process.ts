import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { z } from 'zod';
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
  /** An open file of ours instead of a pipe for standard output. Messages then come from descriptor 3, a pipe. */
  outputFile?: number;
  /** Descriptor 3: an open file of ours that it reads, or a `pipe` that it writes to. */
  descriptor3?: number | 'pipe' | undefined;
  /** A limit that is left out does not apply. */
  limits: {
    /** Wall time, from the start to the end. */
    wallMs?: number;
    /** Resident memory of the process and everything that it started. */
    memoryMb?: number;
    /** Everything that it writes. */
    outputBytes?: number;
    /** One line of its standard output. */
    lineBytes?: number;
  };
  /** Kills it when aborted. */
  signal?: AbortSignal;
}

/** How a process ended. If there are several reasons, the first one counts. */
export type Ending =
  | { kind: 'not_started'; detail: string }
  /** By itself, or killed by somebody who gave no reason. `detail` names the exit code or the signal. */
  | { kind: 'died'; detail: string }
  | { kind: 'timed_out'; ms: number }
  | { kind: 'too_much_memory'; mb: number }
  | { kind: 'too_much_output'; limit: number }
  /** It wrote a line that is no message. */
  | { kind: 'no_message' };

/** A running process. `Reason` is what its caller stops it for. */
export interface SandboxedProcess<Reason = never> {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** `null` while it runs, and when a signal ended it. */
  exitCode(): number | null;
  /** Aborted as soon as the process is being killed or is gone. */
  readonly over: AbortSignal;
  /**
   * Resolves when the process is gone and its output is closed.
   * @throws the reason of the signal in its spec, if that was aborted.
   */
  readonly ended: Promise<Ending | Reason>;
  writeLine(line: string): void;
  /** Kills the process and everything in its group. Without a reason, it counts as died. */
  stop(because?: Reason): void;
}

/** Standard output, standard error, and the pipe that it may have besides. */
export type Descriptor = 1 | 2 | 3;

export interface Listener<Message = string> {
  /** Everything that it writes, within its limits, until its output closes. */
  onOutput?(part: Buffer, from: Descriptor): void;
  /** What each message must be, as JSON. Without it, a message is the line itself. */
  schema?: z.ZodType<Message>;
  /** A line of its standard output or of descriptor 3; none any more once there is a reason for its end. */
  onMessage?(message: Message): void;
}

/**
 * Starts a process in a process group of its own, and kills the whole group when it exceeds a limit.
 * @throws the signal's reason if it is already aborted; everything else is an `Ending`.
 */
export function startProcess<Reason = never, Message = string>(
  spec: ProcessSpec,
  { onOutput, onMessage, schema }: Listener<Message>,
): SandboxedProcess<Reason> {
  const { limits, signal } = spec;
  const { wallMs, memoryMb, outputBytes = Infinity, lineBytes = Infinity } = limits;
  signal?.throwIfAborted();
  const over = new AbortController();
  const { promise: ended, resolve, reject } = Promise.withResolvers<Ending | Reason>();
  let ending: Ending | Reason | undefined;
  let child: ChildProcess | undefined;
  let closed = false;
  const stop = (because?: Ending | Reason) => {
    ending ??= because;
    over.abort();
    // Once it is closed, another process may have its number.
    if (!closed) killGroup(child?.pid);
  };
  const onAbort = () => stop();

  let bytes = 0;
  const messages = spec.outputFile === undefined ? 1 : 3;
  const lines = cutLines();
  const onData = (part: Buffer, from: Descriptor) => {
    if (from !== 2 || spec.stderr === 'keep') bytes += part.length;
    if (bytes > outputBytes) return stop({ kind: 'too_much_output', limit: outputBytes });
    onOutput?.(part, from);
    if (from !== messages || !onMessage) return;
    if (lines.waitingBytes() + part.length > lineBytes) {
      return stop({ kind: 'too_much_output', limit: lineBytes });
    }
    for (const line of lines.add(part)) {
      if (ending) return;
      const message = schema ? parsed(schema, line) : (line as Message);
      if (message === undefined) return stop({ kind: 'no_message' });
      onMessage(message);
    }
  };

  try {
    child = spawn(spec.command, spec.args, {
      cwd: spec.folder ?? '/',
      env: spec.env ?? {},
      stdio: [
        'pipe',
        spec.outputFile ?? 'pipe',
        spec.stderr ? 'pipe' : 'ignore',
        messages === 3 ? 'pipe' : (spec.descriptor3 ?? 'ignore'),
      ],
      // A process group of its own, so that one signal reaches the launcher, the process and what it started.
      detached: true,
    });
  } catch (error) {
    // Node throws some failures to start. For the others it emits `error` and then `close`.
    stop({ kind: 'not_started', detail: messageOf(error) });
  }
  const timer = wallMs && setTimeout(stop, wallMs, { kind: 'timed_out', ms: wallMs });
  const runOut = () => stop({ kind: 'too_much_memory', mb: memoryMb ?? 0 });
  const endWatch = memoryMb && child?.pid ? watchMemory(() => [child?.pid], memoryMb, runOut) : () => {};
  signal?.addEventListener('abort', onAbort, { once: true });
  const onClose = (code: number | null, killedBy: string | null) => {
    closed = true;
    clearTimeout(timer);
    endWatch();
    signal?.removeEventListener('abort', onAbort);
    over.abort();
    if (signal?.aborted) reject(signal.reason);
    else resolve(ending ?? { kind: 'died', detail: killedBy ?? `exit code ${code}` });
  };
  if (!child) onClose(null, null);
  child?.on('error', (error) => stop({ kind: 'not_started', detail: messageOf(error) }));
  child?.on('close', onClose);
  // There are no streams if no descriptor was left for a pipe.
  for (const from of [1, 2, 3] as const) child?.stdio?.[from]?.on('data', (part) => onData(part, from));
  // A process that dies early breaks the pipe; `close` says how it ended.
  child?.stdin?.on('error', () => {});
  if (spec.input !== undefined) child?.stdin?.end(spec.input);

  return {
    pid: child?.pid,
    exitCode: () => child?.exitCode ?? null,
    over: over.signal,
    ended,
    writeLine: (line) => void child?.stdin?.write(`${line}\n`),
    stop,
  };
}

/** Of a process whose lines nobody reads. */
type Failure = Exclude<Ending, { kind: 'no_message' }>;

const TAIL_BYTES = 1_000;

/**
 * Runs a process that nobody talks to.
 * @param onOutput what it writes to standard output and standard error, as it comes
 * @returns why it failed, if it did not exit with code 0; and what it wrote to the given descriptors, in its order.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export async function runProcess(
  spec: ProcessSpec,
  onOutput?: (part: Buffer) => void,
): Promise<{
  failure: Failure | undefined;
  output(...from: Descriptor[]): Buffer;
}> {
  const parts: { part: Buffer; from: Descriptor }[] = [];
  let tail = Buffer.alloc(0);
  const child = startProcess<never, never>(
    { input: '', ...spec },
    {
      onOutput(part, from) {
        if (from === 2 && spec.stderr === 'tail') tail = Buffer.concat([tail, part]).subarray(-TAIL_BYTES);
        else parts.push({ part, from });
        if (from !== 3) onOutput?.(part);
      },
    },
  );
  const ending = await child.ended;
  parts.push({ part: tail, from: 2 });
  return {
    failure: child.exitCode() === 0 && ending.kind === 'died' ? undefined : (ending as Failure),
    output: (...from) =>
      Buffer.concat(parts.filter((one) => from.includes(one.from)).map(({ part }) => part)),
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It is already gone.
  }
}

function parsed<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Cuts output into lines. What follows the last line break waits for the rest of its line. */
function cutLines() {
  // A string and not pieces: a process that writes byte by byte would cost a hundred bytes for each.
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let waiting = 0;
  return {
    add(part: Buffer): string[] {
      rest += decoder.write(part);
      const end = part.lastIndexOf('\n');
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
