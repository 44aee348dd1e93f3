import { lint } from 'markdownlint/promise';
import type { Analyze, RawFinding } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

/** markdownlint with only the rules of our file. It ignores comments that would configure it. */
export const analyze: Analyze<RuleBook['markdown']> = async (files, { rules }) => {
  const config = { default: false, ...Object.fromEntries(Object.keys(rules).map((rule) => [rule, true])) };
  const results = await lint({
    strings: Object.fromEntries(files.map((file) => [file.name, file.text])),
    config,
    noInlineConfig: true,
  });
  const findings: RawFinding[] = [];
  for (const file of files) {
    for (const error of results[file.name] ?? []) {
      findings.push({
        file: file.index,
        rule: error.ruleNames[0] ?? 'unknown',
        line: error.lineNumber,
        message: error.ruleDescription,
      });
    }
  }
  return { findings, log: JSON.stringify(results) };
};
