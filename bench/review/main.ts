import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createAiProvider } from '../../src/adapters/ai/provider.ts';
import { createModel } from '../../src/engine/models/ask.ts';
import type { Ledger } from '../../src/engine/models/ledger.ts';
import { startStubModel } from '../../test/support/model/stub.ts';
import { bytesOf, pullRequestOf } from './pull-request.ts';
import { reviewOnce } from './review.ts';

/**
 * How long a review takes for pull requests that add 10, 100 and 1,000 TypeScript files: with the analyzers
 * alone, and with a model that answers at once. A real model adds its time, two questions in parallel.
 * Everything else is real: the analyzers' process, the process that renders prompts, the provider's protocol
 * over loopback. GitHub answers at once.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, json: { type: 'boolean', default: false } },
});
const rounds = Number(options.rounds);
const SIZES = [10, 100, 1_000];

const stub = await startStubModel();
stub.answers({ text: '{"findings":[]}' });
const FREE: Ledger = { reserve: async () => ({ ok: true, id: 1 }), settle: async () => null };
const name = { provider: 'openai-compatible', model: 'stub' } as const;
const model = createModel({
  provider: await createAiProvider({ name, apiKey: 'none', baseUrl: `${stub.url}/v1` }),
  ledger: FREE,
});

const rows: Record<string, Record<string, number>> = {};
for (const size of SIZES) {
  const files = pullRequestOf(size);
  const kb = Math.round(bytesOf(files) / 1_000);
  const alone: number[] = [];
  const withModel: number[] = [];
  const before = stub.asked.length;
  for (let round = 0; round <= rounds; round++) {
    alone.push(await timed(() => reviewOnce(files, undefined)));
    withModel.push(await timed(() => reviewOnce(files, model)));
  }
  const questions = (stub.asked.length - before) / (rounds + 1);
  rows[`${size} files, ${kb} KB`] = {
    ...figures('analyzers alone', alone),
    ...figures('with a model', withModel),
    questions,
  };
}
await stub.stop();

if (options.json)
  console.log(JSON.stringify({ rounds, node: process.version, cpus: cpus().length, ms: rows }));
else {
  console.log(`Milliseconds for one review, ${rounds} rounds:`);
  console.table(rows);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Median and maximum without the first round, which warms up. */
function figures(what: string, [, ...values]: readonly number[]): Record<string, number> {
  const sorted = values.toSorted((a, b) => a - b).map(Math.round);
  return {
    [`${what}, median`]: sorted[Math.floor(sorted.length / 2)] ?? 0,
    [`${what}, max`]: sorted.at(-1) ?? 0,
  };
}
