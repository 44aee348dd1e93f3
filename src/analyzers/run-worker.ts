import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../core/errors.ts';
import { OWN_EXTENSION } from '../core/package-root.ts';
import { killGroup } from '../sandbox/kill-group.ts';
import { cutLines } from '../sandbox/lines.ts';
import { watchMemory } from '../sandbox/memory.ts';
import { sandbox } from '../sandbox/sandbox.ts';
import { permissions } from './permissions.ts';
import { type JobResult, jobResultSchema, type WorkerRequest } from './worker/protocol.ts';

/** 200,000 findings, of which the app's own process makes sense in half a second. */
const MAX_OUTPUT_BYTES = 16_000_000;
const HEAP_MB = 768;
/**
 * The most that the processes of a review may hold together. The most text that one review reads (24 MB) takes 1,000 at its peak.
 */
const MAX_MEMORY_MB = 2_048;
const ARGUMENTS = [
  `--max-old-space-size=${HEAP_MB}`,
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL(`./worker/main.${OWN_EXTENSION}`, import.meta.url)),
];

interface Limits {
  /** For all jobs together; one job gets 80 % of it. */
  timeoutMs: number;
  maxMemoryMb?: number;
  signal: AbortSignal;
}

/**
 * Runs the jobs in one child process without environment, in an empty folder and shut in as far as the
 * machine allows (`sandbox.ts`), and returns one result a job. Whatever goes wrong (crash, time, memory, too much output, nonsense) becomes the result of the jobs that had none yet.
 * @throws the signal's reason when aborted; the process is dead by then.
 */
export async function runWorker(
  request: Omit<WorkerRequest, 'analyzerTimeoutMs'>,
  limits: Limits,
): Promise<JobResult[]> {
  limits.signal.throwIfAborted();
  if (request.jobs.length === 0) return [];
  const { launcher } = await sandbox();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'countersign-review-')));
  const modules = request.jobs.map((job) => fileURLToPath(job.module));
  const command = [...launcher, process.execPath, ...permissions(folder, modules), ...ARGUMENTS];
  try {
    limits.signal.throwIfAborted();
    return await converse(command, folder, request, limits);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function converse(
  [command = '', ...args]: readonly string[],
  folder: string,
  request: Omit<WorkerRequest, 'analyzerTimeoutMs'>,
  { timeoutMs, maxMemoryMb = MAX_MEMORY_MB, signal }: Limits,
): Promise<JobResult[]> {
  return new Promise((resolve, reject) => {
    const results = new Map<string, JobResult>();
    const begun = performance.now();
    const child = spawn(command, args, {
      cwd: folder,
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      // A group of its own, so that one signal reaches the linters it started too.
      detached: true,
    });

    let failure: Pick<Extract<JobResult, { message: string }>, 'status' | 'message'> | undefined;
    const stop = (status: 'crashed' | 'timed_out', message: string) => {
      failure ??= { status, message };
      killGroup(child.pid);
    };
    const onAbort = () => killGroup(child.pid);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(
      () => stop('timed_out', `the whole review took longer than ${timeoutMs} ms`),
      timeoutMs,
    );

    const endWatch = child.pid
      ? watchMemory(child.pid, maxMemoryMb, () =>
          stop('crashed', `the analyzers took more than ${maxMemoryMb.toLocaleString('en')} MB of memory`),
        )
      : () => {};

    let bytes = 0;
    const lines = cutLines();
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      bytes += text.length;
      if (bytes > MAX_OUTPUT_BYTES) return stop('crashed', 'the analyzers wrote more than can be read');
      for (const line of lines.add(text)) {
        const result = readResult(line);
        if (result === undefined) return stop('crashed', 'the analyzers wrote something that is no result');
        results.set(result.analyzer, result);
      }
      if (request.jobs.every((job) => results.has(job.analyzer))) killGroup(child.pid);
    });
    child.on('error', (error) => stop('crashed', `the analyzers could not be started: ${messageOf(error)}`));
    child.on('close', (code, killedBy) => {
      clearTimeout(timer);
      endWatch();
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) return reject(signal.reason);
      failure ??= {
        status: 'crashed',
        message: `the analyzers' process ended with ${killedBy ?? `exit code ${code}`}`,
      };
      const missing = { ...failure, durationMs: performance.now() - begun };
      resolve(request.jobs.map((job) => results.get(job.analyzer) ?? { analyzer: job.analyzer, ...missing }));
    });

    // A process that dies early breaks the pipe; its `close` tells the story.
    child.stdin.on('error', () => {});
    const analyzerTimeoutMs = Math.ceil(timeoutMs * 0.8);
    // Not ended: an open standard input is how the worker knows that we are alive.
    child.stdin.write(`${JSON.stringify({ ...request, analyzerTimeoutMs } satisfies WorkerRequest)}\n`);
  });
}

function readResult(line: string): JobResult | undefined {
  try {
    return jobResultSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
