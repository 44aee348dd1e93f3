import { readFileSync } from 'node:fs';
import { type RuleResults, ruleResultsSchema } from '../bench/review-quality/rule-results.ts';
import { ANALYZERS, type AnalyzerSpec, DEFAULT_ANALYZERS } from '../src/analyzers/analyzers.ts';
import { type Rule, shippedRules } from '../src/analyzers/rules.ts';
import { markdownTable } from './markdown-table.ts';

const HEAD = `# The rules of the review

What the [review](review.md) can report without a model. \`npm run schemas\` writes this page from the rules in \`skills/pr-review/analyzers/\` and from
the results of the last run of the bench that was kept:

    npm run bench:review-quality -- --write

A weakness counts as found if the rule names it within three lines of its place, and is of its kind. An alarm is a corrected version, or something that only
looks like a weakness, of which the rule says something. Both are counted for the half of the cases that rules are tuned on, then for the control half. A remark
is a finding on clean code. A rule without a figure met no case of the bench: its tests are in \`test/analyzers/\`. oxlint's rules about errors of
JavaScript and TypeScript, and ruff's and actionlint's, are mostly of that sort, because the bench is about security.
`;

type Language = Exclude<AnalyzerSpec['languages'], 'all'> extends ReadonlySet<infer Name> ? Name : never;

const NAMES: Readonly<Partial<Record<Language, string>>> = {
  javascript: 'JavaScript',
  typescript: 'TypeScript',
  python: 'Python',
  go: 'Go',
  workflow: 'workflows',
  action: 'composite actions',
  dockerfile: 'Dockerfiles',
  shell: 'shell',
  terraform: 'Terraform',
  yaml: 'Kubernetes',
  markdown: 'Markdown',
};

/** The results of the bench that the page shows. */
export function keptResults(): RuleResults {
  const file = new URL('../bench/review-quality/rule-results.json', import.meta.url);
  return ruleResultsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** docs/review-rules.md. A test fails if the file is outdated. */
export function reviewRulesPage(): string {
  const results = keptResults();
  const { weaknesses, cleanLines } = results;
  const about =
    `That run had ${weaknesses.tuning} weaknesses in the tuned half and ${weaknesses.control} in the control half, and ` +
    `${cleanLines.toLocaleString('en-GB')} clean lines.\n`;
  const books = shippedRules();
  const sections = Object.entries(ANALYZERS).map(([analyzer, { rules: name, languages }]) => {
    const { book, rules } = books[name];
    const isOff = !DEFAULT_ANALYZERS.some((one) => one === analyzer);
    const rows = Object.entries(rules).map(
      ([rule, of]: [string, Rule & { languages?: readonly Language[] }]) => [
        `\`${book}/${rule}\``,
        textOf(of.description),
        of.severity_in_tests === undefined ? of.severity : `${of.severity}; in tests ${of.severity_in_tests}`,
        languagesOf(of.languages ?? languages),
        ...figuresOf(results.rules[`${book}/${rule}`]),
      ],
    );
    const head = ['rule', 'reports', 'severity', 'in', 'found', 'alarms', 'remarks'];
    const off = isOff ? '\n\nOff unless the skill package switches it on.' : '';
    return `## ${analyzer}${off}\n\n${markdownTable([head, ...rows])}\n`;
  });
  return [HEAD, about, ...sections].join('\n');
}

/** Without what only a finding fills in. */
function textOf(description: string): string {
  return description
    .replace(/ \(\{message\}\)/g, '')
    .replace(/\s+[^.]*\{message\}[^.]*\./g, '')
    .trim();
}

function languagesOf(languages: AnalyzerSpec['languages'] | readonly Language[]): string {
  if (languages === 'all') return 'every text file';
  return [...languages].flatMap((one) => NAMES[one as Language] ?? []).join(', ');
}

function figuresOf(result: RuleResults['rules'][string] | undefined): string[] {
  if (!result) return ['', '', ''];
  const { tuning, control, remarks } = result;
  return [`${tuning.finds}, ${control.finds}`, `${tuning.alarms}, ${control.alarms}`, String(remarks)];
}
