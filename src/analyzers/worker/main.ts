import { rmSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { Analysis, Analyze } from '../analyzer.ts';
import type { JobResult, ToWorker, WorkerRequest } from './protocol.ts';

/**
 * The worker process: loads analyzers before there is a pull request, runs those of one pull request one after
 * another, and writes each result as it arrives. Its standard output is a file, so a library's output does not
 * mix with the results.
 *
 * It never exits by itself. The parent kills it once it has all results, or if an analyzer does not end. If the
 * parent dies, standard input closes and the process ends itself; one in an endless loop ends at its limit of
 * processor time.
 */
const RESULTS = 3;
const MAX_LOG = 500_000;

let input: string[] = [];
let told = Promise.resolve();
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = text.split('\n');
  for (const [index, part] of lines.entries()) {
    input.push(part);
    if (index === lines.length - 1) continue;
    const message = JSON.parse(input.join('')) as ToWorker;
    input = [];
    told = told.then(() => act(message));
  }
});
process.stdin.on('close', () => process.kill(-process.pid, 'SIGKILL'));

async function act(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case 'load':
      await Promise.all(message.modules.map(load));
      return;
    case 'keep':
      flushCompileCache();
      process.exit(0);
      break;
    case 'review':
      await review(message);
  }
}

async function review({ jobs, files }: WorkerRequest): Promise<void> {
  for (const { module } of jobs) await load(module).catch(() => {});
  lock();
  for (const { analyzer, module, config, files: wanted } of jobs) {
    const begun = performance.now();
    const isWanted = new Set(wanted);
    const outcome = await load(module)
      .then((analyze) =>
        analyze(
          files.filter(({ index }) => isWanted.has(index)),
          config,
        ),
      )
      .then(
        (analysis): JobOutcome => ({ status: 'ok', ...analysis, log: clipped(analysis.log) }),
        (error: unknown): JobOutcome => ({
          status: 'crashed',
          message: error instanceof Error ? error.message : String(error),
        }),
      );
    write({ analyzer, durationMs: performance.now() - begun, ...outcome });
  }
}

type JobOutcome = ({ status: 'ok' } & Analysis) | { status: 'crashed'; message: string };

async function load(module: string): Promise<Analyze<unknown>> {
  const { analyze } = (await import(module)) as { analyze: Analyze<unknown> };
  return analyze;
}

/**
 * Before anything reads a text of the pull request: removes the only way to the compiled code that other
 * processes use too, and the permission to load native code.
 */
function lock(): void {
  rmSync('compiled', { force: true });
  const { permission } = process as { permission?: { drop?(scope: string): void } };
  permission?.drop?.('addon');
}

/** A pipe may take less than it is given. */
function write(result: JobResult): void {
  const line = Buffer.from(`${JSON.stringify(result)}\n`);
  for (let at = 0; at < line.length; ) at += writeSync(RESULTS, line, at);
}

/** Cuts at a line end: half a secret would not be recognised. */
function clipped(log: string): string {
  return log.length <= MAX_LOG ? log : log.slice(0, Math.max(0, log.lastIndexOf('\n', MAX_LOG)));
}
