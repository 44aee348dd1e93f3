import { createContext, Script } from 'node:vm';
import { type Analyze, ofWholeFile, type RawFinding, type SourceFile } from '../analyzer.ts';
import { checkFile } from '../data-flow/check.ts';
import type { Weakness } from '../data-flow/found.ts';
import type { Edit } from '../fix.ts';
import type { RuleBook } from '../rules.ts';

/**
 * For one file. Usual files take milliseconds. A text made to take forever, such as a regular expression that the search for
 * slow ones cannot judge, costs this file only.
 */
const MAX_MS = 4_000;
/** No more findings of one file: it is generated, or made to drown the others. */
const MOST = 200;

const limited: { work: () => RawFinding[] } = { work: () => [] };
const context = createContext(limited);
const run = new Script('work()');

/** Our own analysis of JavaScript and TypeScript: follows values through each file. */
export const analyze: Analyze<RuleBook['data-flow']> = async (files) => {
  const findings: RawFinding[] = [];
  for (const file of files) {
    limited.work = () => findingsIn(file);
    try {
      findings.push(...(run.runInContext(context, { timeout: MAX_MS }) as RawFinding[]));
    } catch (error) {
      findings.push({
        file: file.index,
        rule: 'not-analysed',
        line: 1,
        ...ofWholeFile(lineIn(error), reasonFor(error)),
      });
    }
  }
  const log = findings.map(({ file, rule, line }) => `${file} ${rule} ${line}`).join('\n');
  return { findings, log };
};

function findingsIn({ index, language, text }: SourceFile): RawFinding[] {
  if (language !== 'javascript' && language !== 'typescript' && language !== 'tsx') return [];
  return checkFile(text, language)
    .slice(0, MOST)
    .map(({ rule, line, endLine, way, alsoAt, fix }) => ({
      file: index,
      rule,
      line,
      endLine,
      alsoAt: [...alsoAt],
      message: way,
      ...(fix && { edits: [editOf(fix)] }),
    }));
}

function editOf({ node, text }: NonNullable<Weakness['fix']>): Edit {
  const { start, end } = node.loc ?? { start: { line: 1, column: 0 }, end: { line: 1, column: 0 } };
  return { line: start.line, column: start.column + 1, endLine: end.line, endColumn: end.column + 1, text };
}

function lineIn(error: unknown): number {
  const loc: unknown = error instanceof SyntaxError ? Reflect.get(error, 'loc') : undefined;
  const line: unknown = typeof loc === 'object' && loc ? Reflect.get(loc, 'line') : undefined;
  return typeof line === 'number' && line > 0 ? line : 1;
}

function reasonFor(error: unknown): string {
  if (error instanceof SyntaxError) return 'it cannot be parsed';
  if (error instanceof RangeError) return 'it is nested too deep or too large';
  return 'it takes too long';
}
