import { type Finding, SEVERITIES, type Severity } from '../domain/outcome/finding.ts';
import type { AdmittedFile } from './admit.ts';
import type { RawFinding } from './analyzer.ts';
import { firstChanged } from './hunks.ts';
import { shown } from './mask.ts';
import type { Rule } from './rules.ts';

/** What one analyzer found, with the rules that say how much it weighs. */
export interface AnalyzerFindings {
  analyzer: string;
  rules: Readonly<Record<string, Rule>>;
  findings: readonly RawFinding[];
}

/** A finding before its words. `rank` is the place of its rule among all: of two that say the same, the first stays. */
interface Placed {
  file: AdmittedFile;
  line: number;
  endLine: number;
  severity: Severity;
  analyzer: string;
  rule: string;
  text: Rule;
  message: string;
  rank: number;
}

/** Categories that different analyzers use for the same cause. */
export const FAMILY: Readonly<Record<Finding['category'], string>> = {
  secret: 'secret',
  injection: 'security',
  security: 'security',
  workflow: 'security',
  correctness: 'correctness',
  style: 'correctness',
  'error-handling': 'error-handling',
  debugging: 'debugging',
  container: 'container',
};

/** The most that one review says. */
export const MAX_FINDINGS = 1_000;
/** The longest run of lines that one finding is shown at: in nested code each of thousands could reach to the file's end. */
const MAX_SPAN = 100;
/** Letters of a line or message that are worth looking through for secrets; what is longer is not shown. */
const MAX_SHOWN = 2_000;

/**
 * The findings a person sees: on changed lines only, one for each cause, worst first, in an order that depends on
 * nothing but the findings. `mask` hides secrets; without it (they are not known) no text of the files is shown.
 * @returns the worst `MAX_FINDINGS`, and how many more there are.
 */
export function conclude(
  files: readonly AdmittedFile[],
  found: readonly AnalyzerFindings[],
  mask: ((text: string) => string) | undefined,
): { findings: Finding[]; more: number } {
  const placed: Placed[] = [];
  for (const [turn, { analyzer, rules, findings }] of found.entries()) {
    const ranks = new Map(Object.keys(rules).map((rule, index) => [rule, turn * 1_000 + index]));
    for (const { file: index, rule, message = '', ...raw } of findings) {
      const file = files[index];
      const text = Object.hasOwn(rules, rule) ? rules[rule] : undefined;
      const place = file && placeOf(raw, file);
      if (file === undefined || text === undefined || place === undefined) continue;
      const severity = (file.test ? text.severity_in_tests : undefined) ?? text.severity;
      const rank = ranks.get(rule) ?? 0;
      placed.push({ file, ...place, severity, analyzer, rule, text, message, rank });
    }
  }
  const kept = distinct(placed.sort(compare));
  const findings = kept.slice(0, MAX_FINDINGS).map((one) => worded(one, mask));
  return { findings, more: kept.length - findings.length };
}

/** Where the finding belongs in the changed lines, or `undefined` when the pull request did not touch it. */
function placeOf(
  raw: Pick<RawFinding, 'line' | 'endLine' | 'alsoAt' | 'wholeFile'>,
  file: AdmittedFile,
): { line: number; endLine: number } | undefined {
  // After the last line feed there is no line, though parsers place there what they miss.
  const last = Math.max(1, file.lines.length - (file.lines.at(-1) === '' ? 1 : 0));
  const from = Math.min(raw.line, last);
  const to = Math.min(Math.max(from, raw.endLine ?? from), last);
  const first = firstChanged(file.changed, from, to);
  if (first !== undefined) {
    let endLine = first;
    while (
      endLine < Math.min(to, first + MAX_SPAN) &&
      (file.changed === 'all' || file.changed.has(endLine + 1))
    )
      endLine++;
    return { line: first, endLine };
  }
  for (const line of raw.alsoAt ?? []) {
    if (firstChanged(file.changed, line, line) !== undefined) return { line, endLine: line };
  }
  if (!raw.wholeFile) return undefined;
  // Where only lines were taken away, none is left to be named but its own.
  const line = firstChanged(file.changed, 1, last) ?? from;
  return { line, endLine: line };
}

/**
 * Keeps the first, that is the worst, of those that say the same: the same rule on a line, another analyzer of the
 * same family on it, or two secrets that overlap. Different rules of one analyzer are different causes.
 */
function distinct(sorted: readonly Placed[]): Placed[] {
  const kept: Placed[] = [];
  const byPlace = new Map<string, Placed[]>();
  for (const one of sorted) {
    const family = FAMILY[one.text.category];
    const last = family === 'secret' ? one.endLine : one.line;
    const keys = Array.from({ length: last - one.line + 1 }, (_, offset) =>
      JSON.stringify([one.file.path, family, one.line + offset]),
    );
    const same = (other: Placed) =>
      family === 'secret' || other.rule === one.rule || other.analyzer !== one.analyzer;
    if (keys.some((key) => byPlace.get(key)?.some(same))) continue;
    kept.push(one);
    for (const key of keys) {
      const there = byPlace.get(key);
      if (there) there.push(one);
      else byPlace.set(key, [one]);
    }
  }
  return kept;
}

function worded(
  { file, line, endLine, severity, analyzer, rule, text, message }: Placed,
  mask: ((text: string) => string) | undefined,
): Finding {
  const show = (words: string) => (mask && words.length <= MAX_SHOWN ? shown(mask(words)) : undefined);
  const said = show(message)?.replace(/\.$/, '') ?? 'not shown, since it could hold a secret';
  const evidence = show(file.lines[line - 1] ?? '');
  return {
    severity,
    category: text.category,
    file: file.path,
    line,
    ...(endLine > line && { end_line: endLine }),
    description: text.description.replace('{message}', () => said),
    suggestion: text.suggestion,
    rule: `${analyzer}/${rule}`,
    ...(evidence && { evidence }),
  };
}

function compare(a: Placed, b: Placed): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    order(a.file.path, b.file.path) ||
    a.line - b.line ||
    a.rank - b.rank
  );
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
