import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import { sandbox } from '../../sandbox/sandbox.ts';
import type { RenderFault } from '../../words/prompt.ts';

/** 128 MB in pages of 64 KB: the most that WebAssembly has, whatever a template asks for. */
const WASM_PAGES = 2_048;
const HEAP_MB = 96;

export interface ProcessBounds {
  /** Folders that may be read, besides that of the module. */
  readable: readonly string[];
  maxOutputBytes: number;
  timeoutMs: number;
  signal: AbortSignal;
}

export type ProcessEnd =
  | { kind: 'said'; text: string }
  | { kind: 'too_long' }
  | Extract<RenderFault, { kind: 'timed_out' | 'crashed' }>;

/**
 * Runs a module with a text on its standard input, and gives back what it said: in a process without environment and network,
 * that reads nothing but the given folders, writes and starts nothing, and is killed when it takes too long or says too much.
 * Node's permissions do not cover the network, so `sandbox` takes that away where the machine allows it.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export async function runShutIn(main: string, input: string, bounds: ProcessBounds): Promise<ProcessEnd> {
  const { maxOutputBytes, timeoutMs, signal } = bounds;
  const { launcher } = await sandbox();
  signal.throwIfAborted();
  const [command, ...args] = [
    ...launcher,
    process.execPath,
    ...flags([dirname(main), ...bounds.readable]),
    main,
  ];

  return new Promise((resolve, reject) => {
    const child = spawn(command ?? '', args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    let end: ProcessEnd | undefined;
    const stop = (because: ProcessEnd) => {
      end ??= because;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => stop({ kind: 'timed_out', ms: timeoutMs }), timeoutMs);
    const onAbort = () => child.kill('SIGKILL');
    signal.addEventListener('abort', onAbort, { once: true });

    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) stop({ kind: 'too_long' });
      else chunks.push(chunk);
    });
    child.on('error', (error) => stop({ kind: 'crashed', detail: messageOf(error) }));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) return reject(signal.reason);
      if (code !== 0) end ??= { kind: 'crashed', detail: killedBy ?? `exit code ${code}` };
      resolve(end ?? { kind: 'said', text: Buffer.concat(chunks).toString('utf8') });
    });

    // A process that dies early breaks the pipe; its `close` tells the story.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
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
