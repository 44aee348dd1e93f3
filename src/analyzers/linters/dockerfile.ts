import { run } from 'dockerfilelint';
import type { Analyze, RawFinding } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

/**
 * dockerfilelint with only the rules of our file. The others are matters of taste, or wrong about heredocs,
 * which it does not support. It searches the given folder for a `.dockerfilelintrc`, so it gets the worker's
 * empty folder.
 */
export const analyze: Analyze<RuleBook['dockerfile']> = async (files, { rules }) => {
  const findings: RawFinding[] = [];
  for (const file of files) {
    // It throws on a line with only a backslash. Replacing it by a comment does not change the meaning.
    for (const item of run(process.cwd(), file.text.replace(/^[ \t]*\\[ \t]*$/gm, '#'))) {
      // The line is a string or a number, depending on the rule.
      const line = Number(item.line);
      if (Object.hasOwn(rules, item.rule)) findings.push({ file: file.index, rule: item.rule, line });
    }
  }
  const log = findings.map((finding) => `${finding.file} ${finding.rule} ${finding.line}`).join('\n');
  return { findings, log };
};
