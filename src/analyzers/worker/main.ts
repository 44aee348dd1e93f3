import { Worker } from 'node:worker_threads';
import { OWN_EXTENSION } from '../../core/package-root.ts';
import type { Analysis } from '../analyzer.ts';
import type { Job, JobResult, WorkerRequest } from './protocol.ts';

/**
 * The worker process: runs every analyzer in its own thread, so that an endless loop or exhausted memory in
 * one does not affect the others, and writes each result as it arrives. Rejected: a process per analyzer,
 * because five starts of Node cost more than the analyses.
 *
 * It never exits by itself. The parent kills its process group once it has all results, which also ends
 * whatever an analyzer left behind. If the parent dies, standard input closes and the group ends itself.
 */
const THREAD = new URL(`./thread.${OWN_EXTENSION}`, import.meta.url);
const HEAP_MB = 512;
const MAX_LOG = 500_000;

let input = '';
let started = false;
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  if (started) return;
  input += text;
  if (!text.includes('\n')) return;
  started = true;
  const request = JSON.parse(input) as WorkerRequest;
  input = '';
  for (const job of request.jobs) run(job, request);
});
process.stdin.on('close', () => process.kill(-process.pid, 'SIGKILL'));

function run(job: Job, { files, analyzerTimeoutMs }: WorkerRequest): void {
  const begun = performance.now();
  let ended = false;
  const end = (
    result: ({ status: 'ok' } & Analysis) | { status: 'crashed' | 'timed_out'; message: string },
  ) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    const line: JobResult = { analyzer: job.analyzer, durationMs: performance.now() - begun, ...result };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    void thread.terminate();
  };
  const thread = new Worker(THREAD, {
    workerData: {
      module: job.module,
      config: job.config,
      files: files.filter((file) => job.files.includes(file.index)),
    },
    env: {},
    // A library's output must not mix with the results.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  const timer = setTimeout(
    () => end({ status: 'timed_out', message: `gave no result within ${analyzerTimeoutMs} ms` }),
    analyzerTimeoutMs,
  );
  thread.on('message', (analysis: Analysis) =>
    end({ status: 'ok', ...analysis, log: clipped(analysis.log) }),
  );
  thread.on('error', (error: unknown) =>
    end({ status: 'crashed', message: error instanceof Error ? error.message : String(error) }),
  );
  thread.on('exit', (code) =>
    end({ status: 'crashed', message: `ended with exit code ${code} and no result` }),
  );
}

/** Cuts at a line end: half a secret would not be recognised. */
function clipped(log: string): string {
  return log.length <= MAX_LOG ? log : log.slice(0, Math.max(0, log.lastIndexOf('\n', MAX_LOG)));
}
