import { BLOCKING, SEVERITIES, type Severity } from '../../domain/outcome/finding.ts';
import { CI_SAYS, LOOK_AT_THE_TOOL } from '../../messages/skills/sarif.ts';
import type { Edit } from '../fix.ts';
import type { Rule } from '../rules.ts';
import { pathOf } from './path-of.ts';
import type { SarifChange, SarifLevel, SarifResult, SarifRule, SarifRun } from './report.ts';
import { ruleIdOf, rulesOf } from './rule-of.ts';

/** A result before it is known whether the pull request changed its lines. */
interface ReportedFinding {
  rule: string;
  path: string;
  /** Absent if it applies to the whole file. */
  line?: number;
  endLine?: number;
  message: string;
  edits?: Edit[];
}

export interface ReportedFindings {
  rules: Record<string, Rule>;
  findings: ReportedFinding[];
  /**
   * Results without a location, or with one that cannot be a file of a repository, and how many of them would
   * block.
   */
  nowhere: { results: number; blocking: number };
}

export type Levels = Readonly<Record<SarifLevel, Severity | 'off'>>;
export const DEFAULT_LEVELS: Levels = { error: 'high', warning: 'medium', note: 'low', none: 'info' };

/** Results of these kinds report no problem. */
const PASSING_KINDS = new Set(['pass', 'notApplicable', 'informational']);

/**
 * The findings of a report's runs, one for each location. If a rule has several severities, the worst
 * applies.
 */
export function findingsOf(runs: readonly SarifRun[], levels: Levels): ReportedFindings {
  const rules: Record<string, Rule> = {};
  const findings: ReportedFinding[] = [];
  const nowhere = { results: 0, blocking: 0 };
  for (const run of runs) {
    const ruleOf = rulesOf(run);
    for (const result of run.results ?? []) {
      const described = ruleOf(result);
      const severity = severityOf(result, described, levels);
      if (severity === 'off' || PASSING_KINDS.has(result.kind ?? '') || result.baselineState === 'absent')
        continue;
      const rule = shownRule(ruleIdOf(result) ?? described?.id);
      const places = placesOf(result, run);
      if (places.length === 0 || places.length < (result.locations?.length ?? 0)) {
        nowhere.results++;
        if (BLOCKING.has(severity)) nowhere.blocking++;
      }
      if (places.length > 0) rules[rule] = worse(rules[rule], severity);
      // The message can be stored with the rule and referenced by its id.
      const message = result.message?.text || result.message?.markdown || rule;
      findings.push(
        ...places.map((place) => ({ rule, message, ...place, ...editsOf(result, run, place.path) })),
      );
    }
  }
  return { rules, findings, nowhere };
}

/**
 * A security score takes precedence over a level. A suppressed result becomes an informational finding: the
 * author of the change could have suppressed it, so it must not vanish.
 */
function severityOf(
  { level, suppressions, kind }: SarifResult,
  rule: SarifRule | undefined,
  levels: Levels,
): Severity | 'off' {
  if (suppressions?.some(({ status }) => status !== 'rejected')) return 'info';
  const score = Number(rule?.properties?.['security-severity'] ?? Number.NaN);
  const isProblem = kind === undefined || kind === 'fail';
  if (score > 0 && isProblem)
    return score >= 9 ? 'critical' : score >= 7 ? 'high' : score >= 4 ? 'medium' : 'low';
  return levels[level ?? rule?.defaultConfiguration?.level ?? (isProblem ? 'warning' : 'none')];
}

function placesOf(
  { locations = [] }: SarifResult,
  run: SarifRun,
): Omit<ReportedFinding, 'rule' | 'message'>[] {
  return locations.flatMap(({ physicalLocation }) => {
    const path = pathOf(physicalLocation?.artifactLocation, run);
    if (path === undefined) return [];
    const { startLine: line, endLine } = physicalLocation?.region ?? {};
    return [{ path, ...(line === undefined ? {} : { line, ...(endLine === undefined ? {} : { endLine }) }) }];
  });
}

/** Of the first fix, if it changes only that file, by lines and columns. */
function editsOf({ fixes }: SarifResult, run: SarifRun, path: string): { edits?: Edit[] } {
  const [change, ...more] = fixes?.[0]?.artifactChanges ?? [];
  if (!change || more.length > 0 || pathOf(change.artifactLocation, run) !== path) return {};
  const edits = change.replacements.map(editOf);
  return edits.every((edit) => edit !== undefined) ? { edits } : {};
}

/** A region without columns could mean its last line feed or not. Sections 3.30 and 3.57 of SARIF 2.1.0. */
function editOf({ deletedRegion, insertedContent }: SarifChange['replacements'][number]): Edit | undefined {
  const { startLine: line, startColumn: column = 1, endLine = line, endColumn } = deletedRegion;
  if (line === undefined || endLine === undefined || endColumn === undefined) return undefined;
  return { line, column, endLine, endColumn, text: insertedContent?.text ?? '' };
}

/** A rule's name in safe characters: a report can contain anything. */
function shownRule(id: string | undefined): string {
  const clean = (id ?? '').replace(/[^\w./@:-]+/g, '-').slice(0, 100);
  return clean === '' || clean === '__proto__' ? 'result' : clean;
}

function worse(known: Rule | undefined, severity: Severity): Rule {
  const isWorse = !known || SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(known.severity);
  return isWorse
    ? { severity, category: 'correctness', description: CI_SAYS, suggestion: LOOK_AT_THE_TOOL }
    : known;
}
