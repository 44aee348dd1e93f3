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

const limited: { work: () => void } = { work: () => {} };
const context = createContext(limited);
const run = new Script('work()');

/**
 * Our own analysis of JavaScript and TypeScript: follows values through each file. The time of a file is limited by a watchdog,
 * which is a thread and costs a millisecond, so one watches over all files until its time is up. The file that it ends has
 * then perhaps had only the rest of that time, and gets another one.
 */
export const analyze: Analyze<RuleBook['data-flow']> = async (files) => {
  const findings: RawFinding[] = [];
  let next = 0;
  limited.work = () => {
    for (let file = files[next]; file; file = files[++next]) findings.push(...findingsOrReason(file));
  };
  while (next < files.length) {
    const first = next;
    try {
      run.runInContext(context, { timeout: MAX_MS });
    } catch {
      const file = files[next];
      if (!file || next > first) continue;
      findings.push(notAnalysed(file, 1, 'it takes too long'));
      next++;
    }
  }
  const log = findings.map(({ file, rule, line }) => `${file} ${rule} ${line}`).join('\n');
  return { findings, log };
};

function findingsOrReason(file: SourceFile): RawFinding[] {
  try {
    return findingsIn(file);
  } catch (error) {
    if (error instanceof SyntaxError) return [notAnalysed(file, lineIn(error), 'it cannot be parsed')];
    if (error instanceof RangeError) return [notAnalysed(file, 1, 'it is nested too deep or too large')];
    return [notAnalysed(file, 1, 'its analysis failed')];
  }
}

function notAnalysed({ index }: SourceFile, line: number, reason: string): RawFinding {
  return { file: index, rule: 'not-analysed', line: 1, ...ofWholeFile(line, reason) };
}

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

function editOf({ node, through = node, text }: NonNullable<Weakness['fix']>): Edit {
  const { start } = node.loc ?? { start: { line: 1, column: 0 } };
  const { end } = through.loc ?? { end: start };
  return { line: start.line, column: start.column + 1, endLine: end.line, endColumn: end.column + 1, text };
}

function lineIn(error: SyntaxError): number {
  const loc: unknown = Reflect.get(error, 'loc');
  const line: unknown = typeof loc === 'object' && loc ? Reflect.get(loc, 'line') : undefined;
  return typeof line === 'number' && line > 0 ? line : 1;
}
