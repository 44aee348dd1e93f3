import { withHash } from '../../../src/domain/outcome/base.ts';

const HEAD = 'a'.repeat(40);

/**
 * An outcome of each kind with every member set.
 * @param text put into each text that a pull request or a skill decides
 */
export function outcomesOfEachKind(text = 'some text') {
  const finding = {
    severity: 'critical',
    category:
      text
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
        .trim()
        .slice(0, 50) || 'security',
    file: 'src/db.ts',
    line: 12,
    end_line: 14,
    description: `SQL is built from \`input\`: ${text}`,
    suggestion: `Use parameters. ${text}`,
    fix: text,
    rule: text.slice(0, 200),
    evidence: text.slice(0, 300),
  };
  const criterion = {
    id: 'ci',
    description: `CI passed: ${text}`,
    passed: true,
    evidence: text,
    may_change: true,
  };
  return [
    {
      outcome_kind: 'review_verdict',
      summary: text,
      passed: false,
      verdict: 'REQUEST_CHANGES',
      head_sha: HEAD,
      round: 2,
      findings: [
        finding,
        { ...finding, severity: 'low', category: 'style', file: null, line: undefined, end_line: undefined },
      ],
      files_reviewed: 3,
      left_out: [{ path: text, reason: `generated: ${text}` }],
      analyzers: [
        { name: text, version: '1.89.0', status: 'ok', files: 3, duration_ms: 200 },
        { name: 'ruff', version: '0.17.3', status: 'crashed', files: 0, duration_ms: 3, message: text },
      ],
      since: { round: 1, fixed: 1, still_open: 1, fixed_findings: [finding] },
      notes: [text],
    },
    {
      outcome_kind: 'ci_result',
      summary: text,
      passed: false,
      head_sha: HEAD,
      lint_passed: true,
      tests_passed: false,
      build_passed: null,
      typecheck_passed: true,
      test_count: 1_204,
      failure_summary: text,
      checks: [
        check({ name: text, state: 'passed', conclusion: 'success', url: 'https://ci.example/1' }),
        check({ name: 'test', state: 'failed', conclusion: text, said: text, url: 'javascript:alert(1)' }),
        check({ name: 'build', state: 'pending', conclusion: 'in_progress', required: true }),
      ],
      commands: [
        { command: text, passed: false, duration_ms: 1_200 },
        { command: 'npm run lint', passed: true, duration_ms: 12_000 },
      ],
    },
    {
      outcome_kind: 'gate_verdict',
      summary: text,
      passed: false,
      gate: text,
      scope: 'step',
      step: text,
      at: 'pre',
      gate_passed: false,
      on_failure: 'block',
      feedback: text,
      notes: [text],
      criteria: [criterion, { ...criterion, id: 'owner', passed: false }],
      blocking_reason: `Nobody owns it: ${text}`,
      next_action: `Ask an owner: ${text}`,
      inputs_hash: 'x',
    },
    {
      outcome_kind: 'action_result',
      summary: text,
      passed: true,
      action: text,
      details: { merge_commit: HEAD, [text]: [text, text], count: 3, done: true },
    },
    {
      outcome_kind: 'lint_result',
      summary: text,
      passed: false,
      tool: text,
      errors: 1,
      warnings: 1,
      messages: [
        { file: 'src/a.ts', line: 3, rule: text, severity: 'error', message: text },
        { file: null, line: null, rule: null, severity: 'warning', message: text },
      ],
    },
    {
      outcome_kind: 'test_result',
      summary: text,
      passed: false,
      total: 20,
      failed: 1,
      skipped: 2,
      duration_ms: 4_100,
      coverage: 93.5,
      failures: [{ name: text, message: text, file: 'test/a.test.ts' }],
    },
    {
      outcome_kind: 'research_analysis',
      summary: text,
      passed: null,
      question: text,
      conclusions: [{ statement: text, confidence: 'high', evidence: text }],
      sources: [
        { title: text, url: 'https://example.com/a' },
        { title: text, url: `javascript:alert(1)//${text}`.slice(0, 2_000) },
        { title: text, url: null },
      ],
      open_questions: [text],
    },
    {
      outcome_kind: 'impact_report',
      summary: text,
      passed: true,
      risk: 'medium',
      areas: [{ name: text, risk: 'high', description: text, files: ['src/a.ts'] }],
      breaking_changes: [text],
      recommendations: [text],
    },
    {
      outcome_kind: 'flow_plan',
      summary: text,
      passed: null,
      goal: text,
      steps: [
        { id: 'one', title: text, description: text, depends_on: [] },
        { id: 'two', title: text, description: text, depends_on: ['one'] },
      ],
    },
    {
      outcome_kind: 'show_plan',
      summary: text,
      passed: null,
      topic: text,
      plays: [{ id: 'one', intent: text, depends_on: [], acceptance_criteria: [text] }],
    },
    {
      outcome_kind: 'flow_control_verdict',
      summary: text,
      passed: null,
      should_continue: false,
      reason: text,
      next_steps: [text],
    },
  ].map((outcome) => withHash(JSON.parse(JSON.stringify(outcome)) as { outcome_kind: string }));
}

function check(given: object) {
  return { source: 'check_run', required: false, duration_ms: 4_000, url: null, ...given };
}
