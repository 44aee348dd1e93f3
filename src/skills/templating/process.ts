import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { RenderFault } from '../../messages/prompt.ts';
import { cutLines } from '../../sandbox/lines.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';

/** 128 MB in pages of 64 KB: the most that WebAssembly has, whatever a template asks for. */
const WASM_PAGES = 2_048;
const HEAP_MB = 96;

export interface ProcessBounds extends Pick<Sandbox, 'launcher'> {
  /** Folders that may be read, besides that of the module. */
  readable: readonly string[];
  /** Of one answer. */
  maxOutputBytes: number;
}

/** What a question came to. Whatever is not `said` was the end of the process, which is dead by then. */
export type Said = { kind: 'said'; text: string } | Ending;
export type Ending = { kind: 'too_long' } | Extract<RenderFault, { kind: 'timed_out' | 'crashed' }>;

/** A process that is asked one thing at a time: a line on its standard input, answered by a line on its standard output. */
export interface ShutIn {
  /**
   * @param question Without a line break.
   * @throws the signal's reason when aborted; the process is dead by then.
   */
  ask(question: string, bounds: { timeoutMs: number; signal: AbortSignal }): Promise<Said>;
  /** Whether it answers no more. */
  isOver(): boolean;
  /** Ends it, and resolves when it is dead. */
  end(): Promise<void>;
}

const OUT_OF_TURN: Ending = { kind: 'crashed', detail: 'it said more than it was asked' };
const ENDED: Ending = { kind: 'crashed', detail: 'it was ended' };

/**
 * Starts a module in a process without environment and network, that reads nothing but the given folders, writes and starts nothing,
 * and is killed when it takes too long or says too much. Node's permissions do not cover the network, so the launcher takes that away
 * where the machine allows it.
 */
export function startShutIn(main: string, { launcher, readable, maxOutputBytes }: ProcessBounds): ShutIn {
  const [command = '', ...args] = [
    ...launcher,
    process.execPath,
    ...flags([dirname(main), ...readable]),
    main,
  ];
  const child = spawn(command, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore'] });

  let ending: Ending | undefined;
  const stop = (because: Ending) => {
    ending ??= because;
    child.kill('SIGKILL');
  };
  child.on('error', (error) => stop({ kind: 'crashed', detail: messageOf(error) }));
  const dead = new Promise<Ending>((resolve) => {
    child.on('close', (code, killedBy) => {
      ending ??= { kind: 'crashed', detail: killedBy ?? `exit code ${code}` };
      resolve(ending);
    });
  });
  // A process that dies early breaks the pipe; its `close` tells the story.
  child.stdin.on('error', () => {});

  /** Set while it is asked. */
  let hear: ((said: Said) => void) | undefined;
  let bytes = 0;
  const lines = cutLines();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // It must not answer the next question before it is put.
    if (!hear) return stop(OUT_OF_TURN);
    bytes += Buffer.byteLength(text);
    if (bytes > maxOutputBytes) return stop({ kind: 'too_long' });
    const [answer, ...more] = lines.add(text);
    if (answer === undefined) return;
    if (more.length > 0 || lines.waiting() > 0) return stop(OUT_OF_TURN);
    hear({ kind: 'said', text: answer });
    hear = undefined;
  });

  return {
    async ask(question, { timeoutMs, signal }) {
      const answer = new Promise<Said>((resolve) => {
        hear = resolve;
      });
      bytes = 0;
      const timer = setTimeout(() => stop({ kind: 'timed_out', ms: timeoutMs }), timeoutMs);
      const onAbort = () => stop(ENDED);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      child.stdin.write(`${question}\n`);
      const said = await Promise.race([answer, dead]);
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) {
        await dead;
        throw signal.reason;
      }
      return said;
    },
    isOver: () => ending !== undefined,
    async end() {
      stop(ENDED);
      await dead;
    },
  };
}

function flags(readable: readonly string[]): string[] {
  return [
    '--permission',
    ...readable.map((folder) => `--allow-fs-read=${folder}`),
    `--wasm-max-mem-pages=${WASM_PAGES}`,
    `--max-old-space-size=${HEAP_MB}`,
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
  ];
}
