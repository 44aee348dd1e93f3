import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startHarness } from '../../test/support/harness.ts';
import { MAX_REQUESTS, playRound, type Round, totalOf } from './round.ts';

/**
 * What a pull request with one file costs from opened to merged, with the real app and the shipped chain:
 *
 * - The requests to GitHub by a freshly started app without caches, including the one for the installation's
 *   token. Counts every answer except 304, which does not count towards GitHub's hourly limit.
 * - The milliseconds from GitHub's first delivery about the opened pull request to the check run.
 * - The milliseconds from the first poll that shows the reaction to the merge on GitHub. The gate reads
 *   everything again in between. The median must be below 100; the maximum depends more on the machine's
 *   other work. The wait for the poll is not included, because it is a setting.
 *
 * The clock is a test's: time that the app waits on purpose counts, although nothing actually waits.
 *
 * GitHub is the stand-in in the same process and answers at once. Its own work counts against the app; the
 * network would add to it. The first round counts the requests and warms up the others. Exits with 1 if a
 * limit is exceeded.
 */
const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});

const MAX_TO_MERGE_MS = 100;

const harness = await startHarness();
const [cold, ...warm] = await playRounds(1 + Number(options.rounds));
await harness.stop();
if (cold) report(cold, warm);

async function playRounds(count: number): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let index = 0; index < count; index++) rounds.push(await playRound(harness, `feature-${index}`));
  return rounds;
}

function report({ requests }: Round, rounds: readonly Round[]): void {
  const total = totalOf(requests);
  const toCheckRun = figures(rounds.map(({ toCheckRun }) => toCheckRun.ms));
  const toMerge = figures(rounds.map(({ toMerge }) => toMerge.ms));
  const passed = total.counted <= MAX_REQUESTS && toMerge.median < MAX_TO_MERGE_MS;
  process.exitCode = passed ? 0 : 1;

  if (options.json) {
    const setting = { rounds: rounds.length, node: process.version, cpus: cpus().length };
    const limits = { counted: MAX_REQUESTS, to_merge_ms: MAX_TO_MERGE_MS };
    console.log(
      JSON.stringify({
        ...setting,
        requests,
        ...total,
        to_check_run_ms: toCheckRun,
        to_merge_ms: toMerge,
        limits,
        passed,
      }),
    );
    return;
  }
  console.log('Requests of one pull request, from opened to merged, of an app that has just been started:');
  console.table(
    Object.fromEntries(
      requests.map(({ route, counted, unchanged }) => [route, { counted, 'answered 304': unchanged }]),
    ),
  );
  console.log(`${total.counted} counted (at most ${MAX_REQUESTS}), ${total.unchanged} answered 304.\n`);
  console.log(`Milliseconds in ${rounds.length} rounds:`);
  console.table({
    'delivery → check run': toCheckRun,
    [`reaction shown → merged (median below ${MAX_TO_MERGE_MS})`]: toMerge,
  });
}

function figures(values: readonly number[]): { median: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => Number((sorted[index] ?? 0).toFixed(1));
  return { median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}
