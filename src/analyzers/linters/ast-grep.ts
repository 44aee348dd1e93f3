import go from '@ast-grep/lang-go';
import python from '@ast-grep/lang-python';
import { parse, registerDynamicLanguage, type SgNode } from '@ast-grep/napi';
import type { Analyze, RawFinding } from '../analyzer.ts';
import type { Edit } from '../fix.ts';
import type { RuleBook, Sink } from '../rules.ts';
import { GRAMMARS_OF_ORIGINS } from '../value-origins/grammars.ts';
import { argumentsOf, type Source, Tracer } from '../value-origins/trace.ts';

const GRAMMARS = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  tsx: 'Tsx',
  python: 'python',
  go: 'go',
} as const;

let knowsMore = false;

/** At most once for each process. */
function knowMore(): void {
  if (!knowsMore) registerDynamicLanguage({ python, go });
  knowsMore = true;
}

/** In characters. Longer calls are not searched for what else a rule wants of them. */
const MOST_CALL = 4_000;

/**
 * Structural rules. The grammars of Python and Go are prebuilt libraries in their packages, so a plain installation
 * suffices; their postinstall scripts only build one where no prebuilt library exists.
 */
export const analyze: Analyze<RuleBook['ast-grep']> = async (files, { rules }) => {
  if (files.some(({ language }) => language === 'python' || language === 'go')) knowMore();
  const mentions = new Map(
    Object.entries(rules).map(([name, rule]) => [name, new RegExp(rule.mentions, 'i')]),
  );
  const findings: RawFinding[] = [];
  for (const file of files) {
    const language = file.language as keyof typeof GRAMMARS;
    const wanted = Object.entries(rules).filter(
      ([name, rule]) => rule.languages.includes(language) && mentions.get(name)?.test(file.text),
    );
    if (wanted.length === 0) continue;
    const root = parse(GRAMMARS[language], file.text).root();
    for (const [rule, { match, sinks = [], fixes = [] }] of wanted) {
      const known = new Set<number>();
      // ast-grep counts lines from 0.
      for (const node of match === undefined ? [] : root.findAll({ rule: match })) {
        const { start, end } = node.range();
        known.add(start.line + 1);
        const edits = editsOf(node, fixes);
        findings.push({
          file: file.index,
          rule,
          line: start.line + 1,
          endLine: end.line + 1,
          ...(edits.length > 0 && { edits }),
        });
      }
      if (language !== 'python' && language !== 'go') continue;
      for (const { node, source } of reached(root, language, sinks)) {
        const { start, end } = node.range();
        const line = start.line + 1;
        if (known.has(line)) continue;
        known.add(line);
        const message = `from ${source.words} in line ${source.line} to line ${line}`;
        findings.push({
          file: file.index,
          rule,
          line,
          endLine: end.line + 1,
          alsoAt: [source.line],
          message,
        });
      }
    }
  }
  const log = findings.map((finding) => `${finding.file} ${finding.rule} ${finding.line}`).join('\n');
  return { findings, log };
};

function editsOf(node: SgNode, fixes: readonly { of: string; by: string }[]): Edit[] {
  const { start, end } = node.range();
  if (end.index - start.index > MOST_CALL || start.line !== end.line) return [];
  const text = node.text();
  for (const { of, by } of fixes) {
    const pattern = new RegExp(`^(?:${of})$`);
    if (!pattern.test(text)) continue;
    const [line, endLine] = [start.line + 1, end.line + 1];
    return [
      { line, column: start.column + 1, endLine, endColumn: end.column + 1, text: text.replace(pattern, by) },
    ];
  }
  return [];
}

/** The calls that a value from outside reaches. */
function* reached(
  root: SgNode,
  language: keyof typeof GRAMMARS_OF_ORIGINS,
  sinks: readonly Sink[],
): Generator<{ node: SgNode; source: Source }> {
  const grammar = GRAMMARS_OF_ORIGINS[language];
  for (const sink of sinks) {
    const tracer = new Tracer(grammar, { also: patternOf(sink.also_from), after: patternOf(sink.after) });
    const checks = new Map<number, boolean>();
    const isChecked = (scope: SgNode): boolean => {
      const known = checks.get(scope.id());
      const is = known ?? (sink.unless !== undefined && new RegExp(sink.unless).test(scope.text()));
      checks.set(scope.id(), is);
      return is;
    };
    const kind = sink.statement ?? grammar.call;
    const wanted =
      sink.call === undefined
        ? { regex: sink.holds ?? '' }
        : { has: { field: 'function', regex: sink.call } };
    for (const node of root.findAll({ rule: { kind, ...wanted } })) {
      const { start, end } = node.range();
      const isLong = end.index - start.index > MOST_CALL;
      if (sink.where !== undefined && (isLong || !new RegExp(sink.where).test(node.text()))) continue;
      for (const value of valuesOf(node, sink)) {
        const source = tracer.trace(value, sink.origin);
        if (!source || (sink.holds !== undefined && !new RegExp(sink.holds).test(tracer.textsOf(value))))
          continue;
        if (isChecked(tracer.scopeOf(node))) continue;
        yield { node, source };
        break;
      }
    }
  }
}

function patternOf(source: string | undefined): RegExp | undefined {
  return source === undefined ? undefined : new RegExp(source);
}

function valuesOf(call: SgNode, sink: Sink): SgNode[] {
  if (sink.statement !== undefined) return call.namedChildren();
  const all = argumentsOf(call);
  const isNamed = (one: SgNode) => one.kind() === 'keyword_argument';
  const named = new RegExp(`^(?:${sink.named ?? '(?!)'})$`);
  const byName = all.filter((one) => isNamed(one) && named.test(one.field('name')?.text() ?? ''));
  if (sink.arguments === undefined && sink.named === undefined) return all;
  return [...(sink.arguments ?? []).flatMap((at) => all.filter((one) => !isNamed(one))[at] ?? []), ...byName];
}
