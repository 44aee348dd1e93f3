import { run } from 'dockerfilelint';
import type { Analyze, RawFinding } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

/**
 * dockerfilelint, restricted to the rules of our file: the others are taste, or wrong about heredocs, which it does
 * not know. It looks for a `.dockerfilelintrc` in the folder it is told, hence the worker's own empty one.
 */
export const analyze: Analyze<RuleBook['dockerfile']> = async (files, { rules }) => {
  const findings: RawFinding[] = [];
  for (const file of files) {
    // A line that is nothing but a backslash makes it throw; joined with nothing it means the same.
    for (const item of run(process.cwd(), file.text.replace(/^[ \t]*\\[ \t]*$/gm, '#'))) {
      // The line comes as a string or a number, depending on the rule.
      const line = Number(item.line);
      if (Object.hasOwn(rules, item.rule)) findings.push({ file: file.index, rule: item.rule, line });
    }
  }
  const log = findings.map((finding) => `${finding.file} ${finding.rule} ${finding.line}`).join('\n');
  return { findings, log };
};
