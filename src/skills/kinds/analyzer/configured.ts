import type { AdmittedFile } from '../../../analyzers/admit.ts';
import { ANALYZERS, type AnalyzerSpec, ownVersion } from '../../../analyzers/analyzers.ts';
import type { OwnConfig } from '../../../analyzers/builtin/each-file.ts';
import { languageOf } from '../../../analyzers/changed-file.ts';
import { shippedAnalyzer } from '../../../analyzers/review.ts';
import type { Rule } from '../../../analyzers/rules.ts';
import type { Analyzer } from '../../../analyzers/run-analyzers.ts';
import { compileGlob } from '../../../core/glob.ts';
import { ownRulesOf, type RunFile } from '../../../domain/skill/analyzer-file.ts';
import { OWN_ANALYZERS, type OwnAnalyzer } from '../../../domain/skill/analyzer-rules.ts';
import { OWN_SPECS } from './own-analyzers.ts';

/** An analyzer with the settings of a package's file. */
export interface ConfiguredAnalyzer {
  /** Decided by the path alone, so that other files are not fetched. */
  concerns(path: string): boolean;
  needs: { before: boolean; tree: boolean };
  /** @param facts what it needs, once known */
  analyzer(facts: Facts): Analyzer;
}

export interface Facts {
  /** The text on the base branch, by the path at the head. */
  before: ReadonlyMap<string, string>;
  tree: readonly string[] | undefined;
}

/** @param name the name of the package's file, which its findings carry */
export function configureAnalyzer(file: RunFile, name: string): ConfiguredAnalyzer {
  const { analyzer } = file;
  return isOwn(analyzer) ? ownAnalyzer(file, analyzer, name) : thirdPartyAnalyzer(file, analyzer, name);
}

function isOwn(name: RunFile['analyzer']): name is OwnAnalyzer {
  return OWN_ANALYZERS.some((own) => own === name);
}

function ownAnalyzer(file: RunFile, own: OwnAnalyzer, name: string): ConfiguredAnalyzer {
  const { reads, usually, before, tree, module, rules } = OWN_SPECS[own];
  const [isReadable, isMeant] = [anyOf(reads), anyOf(file.paths ?? usually)];
  const concerns = (path: string) => isReadable(path) && isMeant(path);
  return {
    concerns,
    needs: { before, tree },
    analyzer: (facts) => ({
      name,
      version: ownVersion(),
      module,
      rules: withSeverities(rules, file),
      wants: ({ path }) => concerns(path),
      config: (files) => ({ files: fileFacts(files, facts), ...(facts.tree && { tree: facts.tree }) }),
    }),
  };
}

function fileFacts(files: readonly AdmittedFile[], { before }: Facts): OwnConfig['files'] {
  return Object.fromEntries(
    files.map(({ path }, index) => {
      const text = before.get(path);
      return [index, { path, ...(text === undefined ? {} : { before: text }) }];
    }),
  );
}

function thirdPartyAnalyzer(
  file: RunFile,
  tool: Exclude<RunFile['analyzer'], OwnAnalyzer>,
  name: string,
): ConfiguredAnalyzer {
  const { languages }: AnalyzerSpec = ANALYZERS[tool];
  const isMeant = file.paths ? anyOf(file.paths) : () => true;
  const concerns = (path: string) =>
    (languages === 'all' || languages.has(languageOf(path))) && isMeant(path);
  const shipped = shippedAnalyzer(tool);
  const own = Object.fromEntries(
    Object.entries(ownRulesOf(file)).map(([rule, text]) => [rule, { mentions: '', ...text }]),
  );
  const rules = { ...withSeverities(shipped.rules, file), ...own };
  return {
    concerns,
    needs: { before: false, tree: false },
    analyzer: () => ({
      ...shipped,
      name,
      rules,
      wants: ({ path }) => concerns(path),
      config: (files) => ({ ...(shipped.config(files) as object), rules }),
    }),
  };
}

/** The enabled rules with the package's severities. A severity from the package also applies in tests. */
function withSeverities<R extends Rule>(
  rules: Readonly<Record<string, R>>,
  { rules: severities = {}, others = 'on' }: RunFile,
): Record<string, Rule> {
  return Object.fromEntries(
    Object.entries(rules).flatMap(([rule, { severity_in_tests, ...words }]): [string, Rule][] => {
      const weight = severities[rule] ?? (others === 'off' ? 'off' : undefined);
      if (weight === 'off') return [];
      if (weight !== undefined) return [[rule, { ...words, severity: weight }]];
      return [[rule, { ...words, ...(severity_in_tests && { severity_in_tests }) }]];
    }),
  );
}

function anyOf(globs: readonly string[]): (path: string) => boolean {
  const compiled = globs.map(compileGlob);
  return (path) => compiled.some((matches) => matches(path));
}
