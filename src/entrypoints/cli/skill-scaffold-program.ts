import type { PackageFile } from '../../domain/skill/package.ts';

/** The outcomes that `skill new` can begin with. */
export const SCAFFOLD_OUTCOMES = ['review_verdict', 'gate_verdict'] as const;
export type ScaffoldOutcome = (typeof SCAFFOLD_OUTCOMES)[number];

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
  const [stops, passes] = EXPECTED[outcome];
  return [
    { path: `code/${name}.${language}`, text: PROGRAMS[language][outcome] },
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

const EXPECTED = {
  gate_verdict: ['{ passed: false }', '{ passed: true }'],
  review_verdict: ['{ verdict: REQUEST_CHANGES }', '{ verdict: APPROVE }'],
} satisfies Record<ScaffoldOutcome, [string, string]>;

const PROGRAMS: Record<ProgramLanguage, Record<ScaffoldOutcome, string>> = {
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
