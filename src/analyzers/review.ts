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
  /** Which analyzers may run; each runs only when a file is for it. */
  analyzers?: readonly KnownAnalyzer[];
  /** Analyzers of a test's own, by the address of their module; they get every file. */
  extra?: readonly { name: string; module: URL }[];
}

/**
 * Reviews the changed files with the analyzers that ship in our dependencies, in one child process without secrets.
 * An analyzer that fails is reported as such and the findings of the others are kept.
 * @throws the signal's reason when aborted. Nothing about the files themselves throws.
 */
export async function reviewFiles(
  changedFiles: readonly ChangedFile[],
  options: ReviewOptions,
): Promise<Analysis> {
  const { analyzers = DEFAULT_ANALYZERS, extra = [] } = options;
  const all = [...analyzers.map(shippedAnalyzer), ...extra.map(ofATest)];
  return runAnalyzers(admit(changedFiles), all, options);
}

/** An analyzer of our dependencies with all the rules that ship for it. */
export function shippedAnalyzer(known: KnownAnalyzer): Analyzer {
  const { name, languages, module, rules }: AnalyzerSpec = ANALYZERS[known];
  const config = shippedRules()[rules];
  return {
    name: known,
    version: versionOf(name),
    module,
    rules: config.rules,
    wants: ({ language }) => languages === 'all' || languages.has(language),
    config: () => config,
    findsSecrets: known === 'secrets',
  };
}

function ofATest({ name, module }: { name: string; module: URL }): Analyzer {
  return { name, version: 'unknown', module, rules: {}, wants: () => true, config: () => ({}) };
}
