import { realpathSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unreachable } from '../core/errors.ts';
import { OWN_CODE, OWN_EXTENSION, PACKAGE_ROOT } from '../core/package-root.ts';
import { type Command, commandOf } from '../sandbox/node-program.ts';
import { type Ending, startProcess } from '../sandbox/process.ts';
import { type JobResult, jobResultSchema, type WorkerRequest } from './worker/protocol.ts';

/** Enough for 200,000 findings, which the app reads in half a second. */
const MAX_OUTPUT_BYTES = 16_000_000;
const HEAP_MB = 768;
/** For all processes of a review together. The most text per review (24 MB) takes 1,000 at its peak. */
const MAX_MEMORY_MB = 2_048;
const MAIN = fileURLToPath(new URL(`./worker/main.${OWN_EXTENSION}`, import.meta.url));

interface Limits {
  /** For all jobs together. A single job gets 80 % of it. */
  timeoutMs: number;
  maxMemoryMb?: number;
  signal: AbortSignal;
}

/**
 * Runs the jobs in one sandboxed process, in an empty folder, and returns one result per job. Any failure
 * (crash, time, memory, too much or malformed output) becomes the result of the jobs that have none yet.
 * @throws the signal's reason if aborted; the process is dead by then
 */
export async function runWorker(
  request: Omit<WorkerRequest, 'analyzerTimeoutMs'>,
  limits: Limits,
): Promise<JobResult[]> {
  limits.signal.throwIfAborted();
  if (request.jobs.length === 0) return [];
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-review-')));
  try {
    const modules = request.jobs.map((job) => fileURLToPath(job.module));
    return await converse(await commandIn(folder, modules), folder, request, limits);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The process reads our code and packages, the modules and one folder, and writes to that folder. Node's
 * permissions do not stop native code, but they stop JavaScript that an attacker gets loaded. The package's
 * root is excluded, because people keep `.env` and the database there.
 */
function commandIn(folder: string, modules: readonly string[]): Promise<Command> {
  const ours = [OWN_CODE, `${PACKAGE_ROOT}package.json`, `${PACKAGE_ROOT}node_modules`];
  return commandOf({
    main: MAIN,
    readable: [...new Set([...ours, packageFolder(), ...modules, folder])],
    writable: [folder],
    allow: ['addons', 'child-process', 'worker'],
    heapMb: HEAP_MB,
  });
}

/**
 * The outermost `node_modules` that contains our dependencies, with links resolved: it is not always beside
 * our code.
 */
function packageFolder(): string {
  const entry = realpathSync(createRequire(import.meta.url).resolve('oxlint/package.json'));
  return /^.*?[\\/]node_modules(?=[\\/])/.exec(entry)?.[0] ?? entry;
}

async function converse(
  command: Command,
  folder: string,
  request: Omit<WorkerRequest, 'analyzerTimeoutMs'>,
  { timeoutMs, maxMemoryMb = MAX_MEMORY_MB, signal }: Limits,
): Promise<JobResult[]> {
  const results = new Map<string, JobResult>();
  const begun = performance.now();
  const limits = { wallMs: timeoutMs, memoryMb: maxMemoryMb, outputBytes: MAX_OUTPUT_BYTES };
  const child = startProcess<never, JobResult>(
    { ...command, folder, limits, signal },
    {
      schema: jobResultSchema,
      onMessage(result) {
        results.set(result.analyzer, result);
        if (request.jobs.every((job) => results.has(job.analyzer))) child.stop();
      },
    },
  );
  // The input stays open, which tells the worker that the app is alive.
  const analyzerTimeoutMs = Math.ceil(timeoutMs * 0.8);
  child.writeLine(JSON.stringify({ ...request, analyzerTimeoutMs } satisfies WorkerRequest));
  const ending = await child.ended;
  const missing = {
    status: ending.kind === 'timed_out' ? 'timed_out' : 'crashed',
    message: messageFor(ending),
    durationMs: performance.now() - begun,
  } as const;
  return request.jobs.map((job) => results.get(job.analyzer) ?? { analyzer: job.analyzer, ...missing });
}

function messageFor(ending: Ending): string {
  switch (ending.kind) {
    case 'not_started':
      return `the analyzers could not be started: ${ending.detail}`;
    case 'died':
      return `the analyzers' process ended with ${ending.detail}`;
    case 'timed_out':
      return `the whole review took longer than ${ending.ms} ms`;
    case 'too_much_memory':
      return `the analyzers took more than ${ending.mb.toLocaleString('en')} MB of memory`;
    case 'too_much_output':
      return 'the analyzers wrote more than can be read';
    case 'no_message':
      return 'the analyzers wrote something that is no result';
    default:
      return unreachable(ending);
  }
}
