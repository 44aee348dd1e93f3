import { admit } from './admit.ts';
import {
  ANALYZERS,
  type AnalyzerSpec,
  DEFAULT_ANALYZERS,
  type KnownAnalyzer,
  versionOf,
} from './analyzers.ts';
import type { ChangedFile } from './changed-file.ts';
import type { Analysis } from './report.ts';
import { shippedRules } from './rules.ts';
import { type Analyzer, type Limits, runAnalyzers } from './run-analyzers.ts';

export interface ReviewOptions extends Limits {
  /** The analyzers that may run. Each runs only if there is a file for it. */
  analyzers?: readonly KnownAnalyzer[];
  /** Analyzers of a test, by the address of their module. They get every file. */
  extra?: readonly { name: string; module: URL }[];
}

/**
 * Reviews the changed files with the analyzers of our dependencies, in sandboxed processes. If an analyzer
 * fails, the report says so and the findings of the others stay.
 * @throws the signal's reason if aborted. No content of a file can cause an exception.
 */
export async function reviewFiles(
  changedFiles: readonly ChangedFile[],
  options: ReviewOptions,
): Promise<Analysis> {
  const { analyzers = DEFAULT_ANALYZERS, extra = [] } = options;
  const all = [...analyzers.map(shippedAnalyzer), ...extra.map(testAnalyzer)];
  return runAnalyzers(admit(changedFiles), all, options);
}

/** An analyzer of our dependencies with all its shipped rules. */
export function shippedAnalyzer(known: KnownAnalyzer): Analyzer {
  const { name, languages, module, rules, isNative = false, cost = 1 }: AnalyzerSpec = ANALYZERS[known];
  const config = shippedRules()[rules];
  return {
    name: known,
    version: versionOf(name),
    module,
    rules: config.rules,
    wants: ({ language }) => languages === 'all' || languages.has(language),
    config: () => config,
    findsSecrets: known === 'secrets',
    isNative,
    cost,
  };
}

function testAnalyzer({ name, module }: { name: string; module: URL }): Analyzer {
  return { name, version: 'unknown', module, rules: {}, wants: () => true, config: () => ({}) };
}
