import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanCode } from './clean-code.ts';
import { type CorpusCase, type CorpusFile, GROUPS } from './corpus-case.ts';
import {
  actionlint,
  countersign,
  type Engine,
  type EngineFile,
  eslintSecurity,
  oxlint,
  secretlint,
} from './engines.ts';
import { readPackages } from './read-packages.ts';
import { readSamples } from './read-samples.ts';
import { asJson, type EngineResult, printTables } from './report.ts';
import { ruleResultsOf } from './rule-results.ts';
import type { Found } from './score.ts';
import { secretCases } from './secret-cases.ts';

export interface EngineOptions {
  json: boolean;
  /** Names what Countersign misses in the half that rules are tuned on. */
  list: boolean;
  /** A group that the cases are limited to. */
  only?: string | undefined;
  /** A folder whose files remarks are counted on instead. */
  clean?: string | undefined;
  /** Keeps the result of each rule for docs/review-rules.md, without the other engines. */
  write: boolean;
}

/** As in a large pull request. A review of all clean files at once would exceed what one review reads. */
const AT_ONCE = 100;

/** Measures the review without a model beside the engines that one could run alone, and prints it. */
export async function compareEngines(options: EngineOptions): Promise<void> {
  const only = options.only;
  if (only !== undefined && !GROUPS.some((group) => group === only)) {
    throw new Error(`--only is one of ${GROUPS.join(', ')}`);
  }
  const published = only === undefined || only === 'packages' ? readPackages() : [];
  if (typeof published === 'string') console.error(`Published packages: skipped, because ${published}.`);
  const cases = [
    ...readSamples(),
    ...(typeof published === 'string' ? [] : published),
    ...secretCases(),
  ].filter(({ group }) => only === undefined || group === only);
  const clean = only === undefined || options.clean !== undefined ? cleanCode(options.clean) : [];

  const own = countersign();
  const ownResult = await measure(own, cases, clean);
  await own.stop();
  if (options.write)
    writeFileSync(
      join(import.meta.dirname, 'rule-results.json'),
      `${JSON.stringify(ruleResultsOf(cases, ownResult), null, 2)}\n`,
    );
  const results: EngineResult[] = [ownResult];
  const others: readonly Engine[] = options.write ? [] : [eslintSecurity, secretlint, oxlint, actionlint];
  for (const engine of others) results.push(await measure(engine, cases, clean));

  if (options.json) console.log(JSON.stringify(asJson(cases, clean, results)));
  else printTables(cases, clean, results, { list: options.list });
}

async function measure(
  engine: Engine,
  cases: readonly CorpusCase[],
  clean: readonly CorpusFile[],
): Promise<EngineResult> {
  const readable = (one: CorpusCase) => engine.reads((one.weak ?? one.fixed)?.path ?? '');
  const mine = cases.filter(readable);
  const run = async (files: readonly EngineFile[]): Promise<Found[]> =>
    files.length === 0 ? [] : engine.run(files);
  const weakOf = ({ weak }: CorpusCase) => (weak ? [weak] : []);
  const start = performance.now();
  const weak = await run(mine.flatMap(weakOf));
  const fixed = await run(mine.flatMap((one) => (one.fixed ? [one.fixed] : [])));
  const seconds = (performance.now() - start) / 1_000;
  const inDiff = await run(
    mine.flatMap(({ weak, fixed }) => (weak && fixed ? [{ ...weak, before: fixed.text }] : [])),
  );
  const files = clean.filter(({ path }) => engine.reads(path));
  const remarks: Found[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE)
    remarks.push(...(await run(files.slice(from, from + AT_ONCE))));
  return { engine: engine.name, cases: new Set(mine), weak, fixed, inDiff, clean: files, remarks, seconds };
}
