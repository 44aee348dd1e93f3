import { firstChanged } from '../core/hunks.ts';
import { type Finding, SEVERITIES, type Severity } from '../domain/outcome/finding.ts';
import { familyOf } from '../domain/outcome/fingerprint.ts';
import { existedBefore } from '../messages/skills/analyzer.ts';
import type { AdmittedFile } from './admit.ts';
import type { RawFinding } from './analyzer.ts';
import { wasThereBefore } from './before.ts';
import { type Edit, fixOf } from './fix.ts';
import { shown } from './mask.ts';
import type { Rule } from './rules.ts';

/** The findings of one analyzer, with the rules that say how severe they are. */
export interface AnalyzerFindings {
  analyzer: string;
  rules: Readonly<Record<string, Rule>>;
  findings: readonly RawFinding[];
}

/**
 * A finding without its text. `rank` is the index of its rule among all: of two equal findings, the lower
 * rank stays.
 */
interface LocatedFinding {
  file: AdmittedFile;
  line: number;
  endLine: number;
  severity: Severity;
  /** Its lines were in the file before, so it is information only. */
  before: boolean;
  analyzer: string;
  rule: string;
  text: Rule;
  message: string;
  edits: readonly Edit[];
  rank: number;
}

/** The most findings of one review. */
export const MAX_FINDINGS = 1_000;
/**
 * The longest range of lines per finding. In nested code, each of thousands of findings could reach to the
 * end of the file.
 */
const MAX_SPAN = 100;
/** The most characters of a line or message that are searched for secrets; longer text is not shown. */
const MAX_SHOWN = 2_000;

/**
 * The findings for people: only on changed lines, one per cause, worst first, in an order that depends only
 * on the findings. `mask` hides secrets. Without it the secrets are unknown, and no text of the files is
 * shown.
 * @returns the worst `MAX_FINDINGS`, and the number of further ones
 */
export function conclude(
  files: readonly AdmittedFile[],
  found: readonly AnalyzerFindings[],
  mask: ((text: string) => string) | undefined,
): { findings: Finding[]; more: number } {
  const located: LocatedFinding[] = [];
  for (const [turn, { analyzer, rules, findings }] of found.entries()) {
    const ranks = new Map(Object.keys(rules).map((rule, index) => [rule, turn * 1_000 + index]));
    for (const { file: index, rule, message = '', edits = [], ...raw } of findings) {
      const file = files[index];
      const text = Object.hasOwn(rules, rule) ? rules[rule] : undefined;
      const place = file && positionIn(raw, file);
      if (file === undefined || text === undefined || place === undefined) continue;
      const before = !raw.wholeFile && wasThereBefore(file, raw);
      const severity = before ? 'info' : ((file.test ? text.severity_in_tests : undefined) ?? text.severity);
      const rank = ranks.get(rule) ?? 0;
      located.push({ file, ...place, severity, before, analyzer, rule, text, message, edits, rank });
    }
  }
  const kept = distinct(located.sort(compare));
  const findings = kept.slice(0, MAX_FINDINGS).map((one) => withText(one, mask));
  return { findings, more: kept.length - findings.length };
}

/** The finding's position in the changed lines; `undefined` if the pull request did not touch it. */
function positionIn(
  raw: Pick<RawFinding, 'line' | 'endLine' | 'alsoAt' | 'wholeFile'>,
  file: AdmittedFile,
): { line: number; endLine: number } | undefined {
  // There is no line after the last line feed, but parsers report missing text there.
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
  // If lines were only removed, no changed line is left, so the finding keeps its own.
  const line = firstChanged(file.changed, 1, last) ?? from;
  return { line, endLine: line };
}

/**
 * Keeps the first and worst of equal findings: the same rule on a line, another analyzer of the same family
 * on it, or two overlapping secrets. Different rules of one analyzer have different causes.
 */
function distinct(sorted: readonly LocatedFinding[]): LocatedFinding[] {
  const kept: LocatedFinding[] = [];
  const byPlace = new Map<string, LocatedFinding[]>();
  for (const one of sorted) {
    const family = familyOf(one.text.category);
    const last = family === 'secret' ? one.endLine : one.line;
    const keys = Array.from({ length: last - one.line + 1 }, (_, offset) =>
      JSON.stringify([one.file.path, family, one.line + offset]),
    );
    const same = (other: LocatedFinding) =>
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

function withText(
  { file, line, endLine, severity, before, analyzer, rule, text, message, edits }: LocatedFinding,
  mask: ((text: string) => string) | undefined,
): Finding {
  const show = (words: string) => (mask && words.length <= MAX_SHOWN ? shown(mask(words)) : undefined);
  const shownMessage = show(message)?.replace(/\.$/, '') ?? 'not shown, since it could hold a secret';
  const evidence = show(file.lines[line - 1] ?? '');
  const description = text.description.replace('{message}', () => shownMessage);
  const fix = fixOf(edits, file.lines, { line, endLine });
  return {
    severity,
    category: text.category,
    file: file.path,
    line,
    ...(endLine > line && { end_line: endLine }),
    description: before ? existedBefore(description) : description,
    suggestion: text.suggestion,
    // A mask would be committed instead of the secret.
    ...(fix !== undefined && mask?.(fix) === fix && { fix }),
    rule: `${analyzer}/${rule}`,
    ...(evidence && { evidence }),
  };
}

function compare(a: LocatedFinding, b: LocatedFinding): number {
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
