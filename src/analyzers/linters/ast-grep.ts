import python from '@ast-grep/lang-python';
import { parse, registerDynamicLanguage } from '@ast-grep/napi';
import type { Analyze, RawFinding } from '../analyzer.ts';
import type { RuleBook } from '../rules.ts';

const GRAMMARS = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  tsx: 'Tsx',
  python: 'python',
} as const;

let knowsPython = false;

/** At most once for each process. */
function knowPython(): void {
  if (!knowsPython) registerDynamicLanguage({ python });
  knowsPython = true;
}

/**
 * Structural rules. The Python grammar is a prebuilt library in its package, so a plain installation
 * suffices; its postinstall script only builds one where no prebuilt library exists.
 */
export const analyze: Analyze<RuleBook['ast-grep']> = async (files, { rules }) => {
  if (files.some((file) => file.language === 'python')) knowPython();
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
    for (const [rule, { match }] of wanted) {
      // ast-grep counts lines from 0.
      for (const node of root.findAll({ rule: match })) {
        const { start, end } = node.range();
        findings.push({ file: file.index, rule, line: start.line + 1, endLine: end.line + 1 });
      }
    }
  }
  const log = findings.map((finding) => `${finding.file} ${finding.rule} ${finding.line}`).join('\n');
  return { findings, log };
};
