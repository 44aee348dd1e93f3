import type { KnownSkillOutcome } from '../../domain/skill/manifest.ts';
import type { PackageFile } from '../../domain/skill/package.ts';

/**
 * The outcomes that `skill new` can begin with: all of `SKILL_OUTCOMES`, which a test checks. Written out here,
 * because the list of options must not wait for the schemas.
 */
export const SCAFFOLD_OUTCOMES = [
  'review_verdict',
  'gate_verdict',
  'lint_result',
  'test_result',
  'research_analysis',
  'impact_report',
  'flow_plan',
  'show_plan',
  'flow_control_verdict',
] as const satisfies readonly KnownSkillOutcome[];
export type ScaffoldOutcome = (typeof SCAFFOLD_OUTCOMES)[number];
type ScaffoldStated = Exclude<ScaffoldOutcome, 'review_verdict' | 'gate_verdict'>;

/** Parts of an example that each language writes in its own way. */
interface Parts {
  /** How many problems there are. */
  count: string;
  /** Whether there are none. */
  isGood: string;
  nothing: string;
}

/** The members that each kind has beside `summary` and `passed`, as JSON apart from its parts. */
const MEMBERS: Readonly<Record<ScaffoldStated, (parts: Parts) => readonly string[]>> = {
  lint_result: ({ count }) => [
    '"tool": "the name of the tool"',
    `"errors": ${count}`,
    '"warnings": 0',
    '"messages": []',
  ],
  test_result: ({ count, nothing }) => [
    '"total": 10',
    `"failed": ${count}`,
    '"skipped": 0',
    `"duration_ms": ${nothing}`,
    `"coverage": ${nothing}`,
    '"failures": []',
  ],
  research_analysis: () => [
    '"question": "What does the change do?"',
    '"conclusions": [{"statement": "It adds a sum.", "confidence": "high", "evidence": "src/sum.js"}]',
    '"sources": []',
    '"open_questions": []',
  ],
  impact_report: () => [
    '"risk": "low"',
    '"areas": [{"name": "sums", "risk": "low", "description": "A sum is new.", "files": ["src/sum.js"]}]',
    '"breaking_changes": []',
    '"recommendations": ["Test it with texts."]',
  ],
  flow_plan: () => [
    '"goal": "The sum works."',
    '"steps": [{"id": "test", "title": "Test it", "description": "Write a test of the sum.", "depends_on": []}]',
  ],
  show_plan: () => [
    '"topic": "Sums"',
    '"plays": [{"id": "test", "intent": "Test the sum", "depends_on": [], "acceptance_criteria": ["A test passes."]}]',
  ],
  flow_control_verdict: ({ isGood }) => [
    `"should_continue": ${isGood}`,
    '"reason": "What is left to be fixed comes first."',
    '"next_steps": ["Fix what says FIXME."]',
  ],
};

const isStated = (outcome: ScaffoldOutcome): outcome is ScaffoldStated =>
  outcome !== 'review_verdict' && outcome !== 'gate_verdict';

/** A model's answer in YAML, for the example of a prompt; `undefined` for verdicts, which have their own. */
export function statedAnswer(outcome: ScaffoldOutcome): string | undefined {
  if (!isStated(outcome)) return undefined;
  const members = MEMBERS[outcome]({ count: '1', isGood: 'false', nothing: 'null' });
  const lines = ['"summary": "The sum is a difference."', '"passed": false', ...members];
  return `      - ${lines.map((line) => line.replace(/^"(\w+)"/, '$1')).join('\n        ')}\n    expect: { passed: false }`;
}

function statedProgram(outcome: ScaffoldStated, language: ProgramLanguage): string {
  const isScript = language === 'js';
  const parts = isScript
    ? { count: 'found.length', isGood: 'found.length === 0', nothing: 'null' }
    : { count: 'len(found)', isGood: 'not found', nothing: 'None' };
  const summary = isScript
    ? "found.length === 0 ? 'Nothing is left to be fixed.' : 'There are FIXMEs: ' + found.length"
    : "f'FIXME is said {len(found)} times.' if found else 'Nothing is left to be fixed.'";
  const members = [`"summary": ${summary}`, `"passed": ${parts.isGood}`, ...MEMBERS[outcome](parts)];
  const first = 'A beginning to be replaced: it passes unless a changed file says FIXME.';
  return isScript
    ? `// ${first}\nconst found = search('FIXME');\nsubmit({\n${members.map((one) => `  ${one.replace(/^"(\w+)"/, '$1')},\n`).join('')}});\n`
    : `# ${first}\nfound = search('FIXME')\nsubmit({\n${members.map((one) => `    ${one},\n`).join('')}})\n`;
}

export const PROGRAM_LANGUAGES = ['js', 'py'] as const;
export type ProgramLanguage = (typeof PROGRAM_LANGUAGES)[number];

/**
 * A small complete program with one case for each result, instead of an empty one. It shows its author how to
 * ask and how to submit.
 */
export function programScaffold(
  name: string,
  outcome: ScaffoldOutcome,
  language: ProgramLanguage,
): PackageFile[] {
  const [stops, passes] = outcome === 'review_verdict' ? VERDICTS : PASSED;
  return [
    {
      path: `code/${name}.${language}`,
      text: isStated(outcome) ? statedProgram(outcome, language) : PROGRAMS[language][outcome],
    },
    {
      path: `tests/${name}.yml`,
      text: `cases:
  - name: what is left to be fixed must be fixed first
    files:
      src/sum.js: |
        // FIXME: what of texts?
        export const sum = (a, b) => a + b;
    expect: ${stops}
  - name: what is finished passes
    files:
      src/sum.js: |
        export const sum = (a, b) => a + b;
    expect: ${passes}
`,
    },
  ];
}

const PASSED = ['{ passed: false }', '{ passed: true }'];
const VERDICTS = ['{ verdict: REQUEST_CHANGES }', '{ verdict: APPROVE }'];

const PROGRAMS: Record<ProgramLanguage, Record<Exclude<ScaffoldOutcome, ScaffoldStated>, string>> = {
  js: {
    gate_verdict: `// A beginning to be replaced: it passes unless a changed file says FIXME.
const found = search('FIXME');
submit({
  summary: found.length === 0 ? 'Nothing is left to be fixed.' : \`FIXME is said \${found.length} times.\`,
  passed: found.length === 0,
  criteria: found.slice(0, 20).map(({ path, line }) => ({
    id: 'finished',
    description: 'Nothing is left to be fixed.',
    passed: false,
    evidence: \`\${path}:\${line}\`.slice(0, 500),
  })),
});
`,
    review_verdict: `// A beginning to be replaced: it asks for changes when a changed file says FIXME.
const found = search('FIXME');
submit({
  summary: found.length === 0 ? 'Nothing is left to be fixed.' : \`FIXME is said \${found.length} times.\`,
  verdict: found.length === 0 ? 'APPROVE' : 'REQUEST_CHANGES',
  findings: found.map(({ path, line }) => ({
    severity: 'high',
    category: 'correctness',
    file: path,
    line,
    description: 'Something is left to be fixed here.',
    suggestion: 'Fix it.',
  })),
});
`,
  },
  py: {
    gate_verdict: `# A beginning to be replaced: it passes unless a changed file says FIXME.
found = search('FIXME')
submit({
    'summary': f'FIXME is said {len(found)} times.' if found else 'Nothing is left to be fixed.',
    'passed': not found,
    'criteria': [
        {
            'id': 'finished',
            'description': 'Nothing is left to be fixed.',
            'passed': False,
            'evidence': f"{one['path']}:{one['line']}"[:500],
        }
        for one in found[:20]
    ],
})
`,
    review_verdict: `# A beginning to be replaced: it asks for changes when a changed file says FIXME.
found = search('FIXME')
submit({
    'summary': f'FIXME is said {len(found)} times.' if found else 'Nothing is left to be fixed.',
    'verdict': 'REQUEST_CHANGES' if found else 'APPROVE',
    'findings': [
        {
            'severity': 'high',
            'category': 'correctness',
            'file': one['path'],
            'line': one['line'],
            'description': 'Something is left to be fixed here.',
            'suggestion': 'Fix it.',
        }
        for one in found
    ],
})
`,
  },
};
