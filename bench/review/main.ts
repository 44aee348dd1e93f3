import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createAiProvider } from '../../src/adapters/ai/provider.ts';
import { createAnalyzerPool } from '../../src/analyzers/pool.ts';
import { createModel } from '../../src/engine/models/ask.ts';
import type { Ledger } from '../../src/engine/models/ledger.ts';
import type { PullRequestFile } from '../../src/ports/github.ts';
import { startStubModel } from '../../test/support/model/stub.ts';
import { cpuOf } from '../cpu-of.ts';
import { bytesOf, hostilePullRequests, pullRequestOf } from './pull-request.ts';
import { reviewOnce } from './review.ts';

/**
 * How long a review takes for pull requests that add 1, 10, 100 and 1,000 TypeScript files: with the analyzers
 * alone, and with a model that answers at once. A real model adds its time, two questions in parallel. Also the
 * CPU time of child processes for a review with the analyzers alone, which includes the start of the process for
 * the next review. Before each review, that process has time to start, as between two pull requests.
 * Everything else is real: the analyzers' process, the process that renders prompts, the provider's protocol
 * over loopback. GitHub answers at once. `--sizes` names other numbers of files; with `--hostile`, each pull request has ten
 * files and one that is made to exhaust an analyzer.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '1,10,100,1000' },
    hostile: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(options.rounds);
const pullRequests = options.hostile
  ? hostilePullRequests()
  : options.sizes.split(',').map((size): [string, PullRequestFile[]] => {
      const files = pullRequestOf(Number(size));
      return [`${size} files, ${Math.round(bytesOf(files) / 1_000)} KB`, files];
    });
/** Enough for a process to start and load what every review needs. */
const PAUSE_MS = 400;

const stub = await startStubModel();
stub.answers({ text: '{"findings":[]}' });
const FREE: Ledger = { reserve: async () => ({ ok: true, id: 1 }), settle: async () => null };
const name = { provider: 'openai-compatible', model: 'stub' } as const;
const model = createModel({
  provider: await createAiProvider({ name, apiKey: 'none', baseUrl: `${stub.url}/v1` }),
  ledger: FREE,
});

const pool = createAnalyzerPool();
// The first review makes the compiled code for all others.
await timed(() => reviewOnce(pullRequestOf(1), { model: undefined, pool }));
await sleep(10 * PAUSE_MS);

const rows: Record<string, Record<string, number>> = {};
for (const [what, files] of pullRequests) {
  const alone: number[] = [];
  const withModel: number[] = [];
  const childrenMs: number[] = [];
  const before = stub.asked.length;
  for (let round = 0; round <= rounds; round++) {
    const { children } = cpuOf(process.pid);
    alone.push(await timed(() => reviewOnce(files, { model: undefined, pool })));
    childrenMs.push(cpuOf(process.pid).children - children);
    withModel.push(await timed(() => reviewOnce(files, { model, pool })));
  }
  const questions = (stub.asked.length - before) / (rounds + 1);
  rows[what] = {
    ...figures('analyzers alone', alone),
    ...figures('with a model', withModel),
    questions,
    ...figures('CPU of children', childrenMs),
  };
}
await stub.stop();
await pool.stop();

if (options.json)
  console.log(JSON.stringify({ rounds, node: process.version, cpus: cpus().length, ms: rows }));
else {
  console.log(`Milliseconds for one review, ${rounds} rounds:`);
  console.table(rows);
}

async function timed(work: () => Promise<string[]>): Promise<number> {
  const start = performance.now();
  const broken = await work();
  const ms = performance.now() - start;
  // Such a file may cost its analyzer.
  if (broken.length > 0 && !options.hostile) throw new Error(`it is incomplete: ${broken.join(', ')}`);
  if (broken.length > 0) console.error(`no result of ${broken.join(', ')}`);
  await sleep(PAUSE_MS);
  return ms;
}

/** Minimum, median and maximum without the first round, which warms up. The minimum depends least on what else the machine does. */
function figures(what: string, [, ...values]: readonly number[]): Record<string, number> {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  return {
    [`${what}, min`]: sorted[0] ?? 0,
    [`${what}, median`]: sorted[Math.floor(sorted.length / 2)] ?? 0,
    [`${what}, max`]: sorted.at(-1) ?? 0,
  };
}
