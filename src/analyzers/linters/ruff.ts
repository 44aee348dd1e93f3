import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { type Analyze, ofWholeFile, type RawFinding, withoutSuppressions } from '../analyzer.ts';
import type { Edit } from '../fix.ts';
import type { RuleBook } from '../rules.ts';

/**
 * The fields that we read. The version is pinned; with another format, the analyzer fails instead of passing.
 */
interface Diagnostic {
  code: string | null;
  message: string;
  start_location: { row: number };
  end_location: { row: number };
  fix: {
    edits: {
      content: string | null;
      location: { row: number; column: number };
      end_location: { row: number; column: number };
    }[];
  } | null;
}

function editOf({ content, location, end_location }: NonNullable<Diagnostic['fix']>['edits'][number]): Edit {
  return {
    line: location.row,
    column: location.column,
    endLine: end_location.row,
    endColumn: end_location.column,
    text: content ?? '',
  };
}

/** Ruff in WebAssembly with only the rules of our file. It reads no configuration. */
export const analyze: Analyze<RuleBook['ruff']> = async (files, { rules }) => {
  const select = Object.keys(rules).filter((rule) => rule !== 'parse-error');
  const workspace = new Workspace({ lint: { select } }, PositionEncoding.Utf16);
  const findings: RawFinding[] = [];
  for (const file of files) {
    // After a syntax error, ruff continues and can report thousands. One per line is enough.
    const broken = new Set<number>();
    const text = withoutSuppressions(file.text);
    for (const diagnostic of workspace.check(text) as Diagnostic[]) {
      const { code, message, start_location, end_location } = diagnostic;
      const rule = code !== null && Object.hasOwn(rules, code) ? code : 'parse-error';
      if (rule === 'parse-error' && broken.has(start_location.row)) continue;
      if (rule === 'parse-error') broken.add(start_location.row);
      const [line, endLine] = [start_location.row, end_location.row];
      findings.push({
        file: file.index,
        rule,
        line,
        endLine,
        ...(rule === 'parse-error' ? ofWholeFile(line, message) : { message }),
        // A fix could hold a comment as we changed it.
        ...(text === file.text && diagnostic.fix && { edits: diagnostic.fix.edits.map(editOf) }),
      });
    }
  }
  const log = findings
    .map(({ file, rule, line, message }) => `${file} ${rule} ${line} ${message}`)
    .join('\n');
  return { findings, log };
};
