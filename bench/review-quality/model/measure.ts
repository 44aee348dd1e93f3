import { createAiProvider } from '../../../src/adapters/ai/provider.ts';
import { type AnalyzerPool, createAnalyzerPool } from '../../../src/analyzers/pool.ts';
import { readModelConfig } from '../../../src/config/config.ts';
import { formatModelName, type ModelName, parseModelName } from '../../../src/domain/model/name.ts';
import { listPrice, type Price, parsePrice } from '../../../src/domain/model/price.ts';
import type { Ledger } from '../../../src/engine/models/ledger.ts';
import type { Provider } from '../../../src/ports/model.ts';
import {
  type AnswerSource,
  byFiles,
  byProvider,
  modelOn,
  type Replayed,
  recorded,
  replay,
} from './answer-sources.ts';
import { type BudgetLedger, budgetLedger, FREE } from './budget.ts';
import { type Recording, readRecordings, recordingOf, writeRecording } from './recording.ts';
import { NO_MODEL, type SmallResult } from './report-small.ts';
import { reviewSmall, type SmallReview } from './review-small.ts';
import type { SmallPullRequest } from './small-pull-requests.ts';

/** As given on the command line. */
export interface ModelOptions {
  record: boolean;
  /** In dollars, as `2.00`. */
  budget: string | undefined;
  /** As `3/15`. */
  price: string | undefined;
  /** A folder. */
  prompts: string | undefined;
  /** Who answers the prompts of that folder, as `<provider>/<model>`. */
  as: string | undefined;
}

/**
 * Records answers first if the options say so, then reviews all pull requests without a model and with each recorded one.
 * @throws Error naming an option that is wrong or missing
 */
export async function measureWithModels(
  pullRequests: readonly SmallPullRequest[],
  options: ModelOptions,
): Promise<SmallResult[]> {
  const pool = createAnalyzerPool();
  try {
    if (options.record) await recordFromProvider(pullRequests, options, pool);
    if (options.prompts !== undefined) await recordFromFiles(pullRequests, options, pool);
    const results: SmallResult[] = [];
    // The first review makes the compiled code for all others.
    for (const one of pullRequests.slice(0, 1)) await reviewSmall(one, { model: undefined, pool });
    const without: SmallReview[] = [];
    for (const one of pullRequests) without.push(await reviewSmall(one, { model: undefined, pool }));
    results.push({ name: NO_MODEL, reviews: without, answers: [], price: undefined });
    for (const recording of readRecordings())
      results.push(await replayed(pullRequests, recording, priceOf(recording.model, options.price), pool));
    return results;
  } finally {
    await pool.stop();
  }
}

async function replayed(
  pullRequests: readonly SmallPullRequest[],
  recording: Recording,
  price: Price | undefined,
  pool: AnalyzerPool,
): Promise<SmallResult> {
  const answers: Replayed[] = [];
  const source = replay(recording, (answer) => answers.push(answer));
  const { model: name } = recording;
  const reviews: SmallReview[] = [];
  for (const one of pullRequests) {
    const model = modelOn(source, { name, ledger: FREE, pullRequest: one.name });
    reviews.push(await reviewSmall(one, { model, pool }));
  }
  return { name: `with ${formatModelName(name)}`, reviews, answers, price };
}

async function recordFromProvider(
  pullRequests: readonly SmallPullRequest[],
  { budget, price: given }: ModelOptions,
  pool: AnalyzerPool,
): Promise<void> {
  const read = readModelConfig(process.env);
  if (!read.ok) throw new Error(read.diagnostics.join('\n'));
  const { model } = read.config;
  if (!model) throw new Error('--record needs a model: set COUNTERSIGN_MODEL and its key');
  const price = given === undefined ? model.price : priceOf(model.name, given);
  const ledger = ledgerFor(budget, price);
  const provider = await createAiProvider(model);
  const recording = recordingOf(model.name);
  const ended = await recordAll(pullRequests, { provider, ledger, recording, pool });
  console.error(`${ended}, $${(ledger.spent() / 1_000_000).toFixed(4)} of $${budget}`);
}

/**
 * @param budget in dollars
 * @throws Error if there is none, or no price to count with
 */
export function ledgerFor(budget: string | undefined, price: Price | undefined): BudgetLedger {
  if (budget === undefined || !/^\d{1,6}(?:\.\d{1,6})?$/.test(budget))
    throw new Error(
      '--record asks a provider, which costs money: give the most in dollars, as --budget 2.00',
    );
  if (!price)
    throw new Error('no price of this model is known: give dollars per million tokens, as --price 3/15');
  return budgetLedger(Math.round(Number(budget) * 1_000_000), price);
}

/**
 * Asks for all answers that are not recorded for the present prompts, and keeps each as soon as its pull request is done. Stops
 * when the budget allows no further call.
 * @returns what was done, in words
 */
export async function recordAll(
  pullRequests: readonly SmallPullRequest[],
  {
    provider,
    ledger,
    recording,
    pool,
    keep = writeRecording,
    review = reviewSmall,
  }: {
    provider: Provider;
    ledger: BudgetLedger;
    recording: Recording;
    pool: AnalyzerPool;
    keep?: (recording: Recording) => void;
    review?: typeof reviewSmall;
  },
): Promise<string> {
  const source = byProvider(provider, () => performance.now());
  let done = 0;
  for (const one of pullRequests) {
    const { isComplete } = await record(one, { source, ledger, recording, pool, review });
    keep(recording);
    if (ledger.isUsedUp())
      return `stopped by the budget after ${done} of ${pullRequests.length} pull requests`;
    if (isComplete) done++;
  }
  return `${done} of ${pullRequests.length} pull requests have answers`;
}

async function recordFromFiles(
  pullRequests: readonly SmallPullRequest[],
  { prompts = '', as }: ModelOptions,
  pool: AnalyzerPool,
): Promise<void> {
  const name = parseModelName(as ?? '');
  if (!name) throw new Error('--prompts needs the name to record answers under, as --as <provider>/<model>');
  const recording = recordingOf(name);
  const source = byFiles(prompts);
  let done = 0;
  for (const one of pullRequests)
    if ((await record(one, { source, ledger: FREE, recording, pool })).isComplete) done++;
  writeRecording(recording);
  console.error(
    `${done} of ${pullRequests.length} pull requests have answers; unanswered prompts are in ${prompts}`,
  );
}

async function record(
  pullRequest: SmallPullRequest,
  {
    source,
    ledger,
    recording,
    pool,
    review = reviewSmall,
  }: {
    source: AnswerSource;
    ledger: Ledger;
    recording: Recording;
    pool: AnalyzerPool;
    review?: typeof reviewSmall;
  },
): Promise<SmallReview> {
  const model = modelOn(recorded(recording, source), {
    name: recording.model,
    ledger,
    pullRequest: pullRequest.name,
  });
  return await review(pullRequest, { model, pool });
}

/** @throws Error if the given price is none */
function priceOf(name: ModelName, given: string | undefined): Price | undefined {
  if (given === undefined) return listPrice(name);
  const price = parsePrice(given);
  if (!price) throw new Error('--price is dollars per million tokens in and out, such as 3/15');
  return price;
}
