// @module-tag slow
import { describe, expect, test } from 'vitest';
import type { StatedKind } from '../../src/domain/outcome/stated.ts';
import { REPO } from '../support/harness.ts';
import { only, type Scene, scenes, section } from './support-scene.ts';

const startScene = scenes();
const SKILL = '.github/countersign/skills/stater';

/** A repository whose skill submits this value, and a chain that reads it. */
function repository(
  value: object,
  { outcome, more = '', steps }: { outcome: string; more?: string; steps?: string },
): Record<string, string> {
  const flow = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: ask, skill: stater }
${steps ?? '  - { action: gh-comment, with: { body: "said: {{ steps.ask.outcome.summary }}" } }'}
`;
  return {
    ...only({ flow }),
    [`${SKILL}/SKILL.md`]: `---\nname: stater\ndescription: States.\noutcome: ${outcome}\n${more}---\n`,
    [`${SKILL}/code/state.js`]: `submit(${JSON.stringify(value)});`,
  };
}

async function stepsOf(scene: Scene) {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return state?.invocations ?? [];
}

const said = ({ github }: Scene, number: number) =>
  github.comments(REPO, number).flatMap(({ body }) => /said: (.*)/.exec(body)?.[1] ?? []);

const STATED: Record<StatedKind, { value: object; heading: string; shows: string[]; read: string }> = {
  lint_result: {
    value: {
      summary: 'One error.',
      passed: false,
      tool: 'eslint 9',
      errors: 1,
      warnings: 2,
      messages: [
        { file: 'a.ts', line: 3, rule: 'no-eval', severity: 'error', message: 'eval <b>is</b> not wanted' },
      ],
    },
    heading: 'Lint: ❌ One error.',
    shows: ['eslint 9: 1 error, 2 warnings.', '❌ `a.ts:3` eval &lt;b&gt;is&lt;/b&gt; not wanted (no-eval)'],
    read: 'errors',
  },
  test_result: {
    value: {
      summary: 'Two of three.',
      passed: false,
      total: 3,
      failed: 1,
      skipped: 0,
      duration_ms: 61_000,
      coverage: 81.5,
      failures: [{ name: 'adds', message: '2 is not 3', file: null }],
    },
    heading: 'Tests: ❌ Two of three.',
    shows: [
      '2 of 3 tests passed in 1 min, 1 failed, 0 skipped. They ran 81.5 % of the lines.',
      '❌ **adds**: 2 is not 3',
    ],
    read: 'coverage',
  },
  research_analysis: {
    value: {
      summary: 'It can wait.',
      passed: null,
      question: 'Is an upgrade needed?',
      conclusions: [{ statement: 'No.', confidence: 'high', evidence: 'The release notes.' }],
      sources: [{ title: 'Notes', url: 'https://example.com/notes' }],
      open_questions: ['When is the end of support?'],
    },
    heading: 'Analysis: It can wait.',
    shows: [
      '**Question:** Is an upgrade needed?',
      '- No. (high confidence: The release notes.)',
      'When is the end of support?',
    ],
    read: 'question',
  },
  impact_report: {
    value: {
      summary: 'Sign-in changes.',
      passed: true,
      risk: 'medium',
      areas: [{ name: 'auth', risk: 'medium', description: 'New tokens.', files: ['src/auth.ts'] }],
      breaking_changes: ['Old tokens end.'],
      recommendations: ['Tell everybody.'],
    },
    heading: 'Impact: ✅ Sign-in changes.',
    shows: [
      '**Risk:** 🟡 medium',
      '🟡 **auth**: New tokens. (`src/auth.ts`)',
      '**Breaking changes:**',
      'Tell everybody.',
    ],
    read: 'risk',
  },
  flow_plan: {
    value: {
      summary: 'Two steps.',
      passed: null,
      goal: 'Faster tests',
      steps: [
        { id: 'measure', title: 'Measure', description: 'Find slow ones.', depends_on: [] },
        { id: 'fix', title: 'Fix', description: 'Fix them.', depends_on: ['measure'] },
      ],
    },
    heading: 'Plan: Two steps.',
    shows: ['**Goal:** Faster tests', '- `fix` **Fix**: Fix them. (after `measure`)'],
    read: 'goal',
  },
  show_plan: {
    value: {
      summary: 'One play.',
      passed: null,
      topic: 'Release',
      plays: [
        {
          id: 'notes',
          intent: 'Write notes.',
          depends_on: [],
          acceptance_criteria: ['Each change is named.'],
        },
      ],
    },
    heading: 'Show: One play.',
    shows: ['**Topic:** Release', '- `notes`: Write notes.', '  - Each change is named.'],
    read: 'topic',
  },
  flow_control_verdict: {
    value: {
      summary: 'Worth a review.',
      passed: true,
      should_continue: true,
      reason: 'Code changes.',
      next_steps: ['Review it.'],
    },
    heading: 'Flow: ✅ Worth a review.',
    shows: ['**The chain goes on:** Code changes.', '- Review it.'],
    read: 'reason',
  },
};

test.each(Object.entries(STATED))(
  'a skill can have the outcome %s, which the check run shows and a condition reads',
  async (outcome, { value, heading, shows, read }) => {
    const steps = `  - { action: gh-comment, condition: "{{ steps.ask.outcome.${read} is defined }}", with: { body: "said: {{ steps.ask.outcome.${read} }}" } }`;
    const scene = await startScene(repository(value, { outcome, steps }));
    const { headSha, number } = await scene.open();
    expect((await stepsOf(scene))[0]?.outcome).toMatchObject({ outcome_kind: outcome, ...value });
    const card = section(scene.check(headSha, 'flow')?.summary, heading);
    for (const text of shows) expect(card).toContain(text);
    expect(said(scene, number)).toHaveLength(1);
  },
);

test.each([
  [
    'a lint_result with errors that passes',
    'lint_result',
    { ...STATED.lint_result.value, passed: true },
    'passed is true, and there are 1 errors',
  ],
  [
    'a test_result with more failures than tests',
    'test_result',
    { ...STATED.test_result.value, failed: 9 },
    'more tests failed or were skipped than the 3 in total',
  ],
  [
    'a flow_plan in a circle',
    'flow_plan',
    {
      ...STATED.flow_plan.value,
      steps: [{ id: 'a', title: 'A', description: 'A.', depends_on: ['a'] }],
    },
    'a depends on a, which does not come before it',
  ],
  [
    'a member that the kind does not have',
    'lint_result',
    { ...STATED.lint_result.value, x: 1 },
    'unknown key "x"',
  ],
])('%s is no outcome', async (_, outcome, value, because) => {
  const scene = await startScene(repository(value, { outcome }));
  const { number } = await scene.open();
  const [step] = await stepsOf(scene);
  expect(step).toMatchObject({ status: 'failed', outcome: null });
  expect(step?.reason?.summary).toContain(because);
  expect(said(scene, number)).toEqual([]);
});

describe('a flow_control_verdict that ends its chain', () => {
  const END = {
    summary: 'Only documentation changes.',
    passed: null,
    should_continue: false,
    reason: 'No code to review.',
    next_steps: ['Merge it by hand.'],
  };
  const THEN = `  - { id: ask-people, action: gh-merge, depends_on: [], requires_approval: true }
  - { id: later, action: gh-comment, depends_on: [ask], with: { body: "said: later" } }`;

  test('starts no further step, asks nobody any more, and is no failure', async () => {
    const files = repository(END, { outcome: 'flow_control_verdict', steps: THEN });
    const scene = await startScene(files);
    const { headSha, number } = await scene.open();
    expect((await scene.runs('flow')).map(({ status, reason }) => [status, reason?.code])).toEqual([
      ['completed', 'run.completed.ended_early'],
    ]);
    const [, asking, later] = await stepsOf(scene);
    expect([asking?.status, later?.status]).toEqual(['cancelled', 'skipped']);
    expect(said(scene, number)).toEqual([]);
    const check = scene.check(headSha, 'flow');
    expect([check?.conclusion, check?.title]).toEqual([
      'neutral',
      'Step ask ended the chain: Only documentation changes.',
    ]);
    expect(check?.summary).toContain('**The chain ends here:** No code to review.');
    expect(scene.github.pullRequest(REPO, number).state).toBe('open');
  });

  test('is a failure if it does not pass', async () => {
    const files = repository({ ...END, passed: false }, { outcome: 'flow_control_verdict', steps: THEN });
    const scene = await startScene(files);
    const { headSha } = await scene.open();
    expect(scene.verdicts(headSha)).toEqual({ 'countersign / flow': 'failure' });
  });
});

describe('a kind that a package registers', () => {
  const more = `outcome_schema:
  type: object
  required: [percent]
  properties: { percent: { type: number, minimum: 0, maximum: 100 }, note: { type: string } }
`;
  const own = (data: object) =>
    repository(
      { summary: 'Well covered.', passed: true, data },
      {
        outcome: 'octo/coverage',
        more,
        steps:
          '  - { action: gh-comment, condition: "{{ steps.ask.outcome.data.percent > 80 }}", with: { body: "said: {{ steps.ask.outcome.data.percent }}" } }',
      },
    );

  test('is stored, shown as JSON and readable by conditions', async () => {
    const scene = await startScene(own({ percent: 90, note: '``` <b>' }));
    const { headSha, number } = await scene.open();
    expect(said(scene, number)).toEqual(['90']);
    const [step] = await stepsOf(scene);
    expect(step?.outcome).toMatchObject({ outcome_kind: 'octo/coverage', data: { percent: 90 } });
    expect(section(scene.check(headSha, 'flow')?.summary, 'octo/coverage: ✅ Well covered.')).toContain(
      '````json\n{\n  "percent": 90,\n  "note": "``` <b>"\n}\n````',
    );
  });

  test('is no outcome if its data does not match its schema', async () => {
    const scene = await startScene(own({ percent: 101 }));
    await scene.open();
    expect((await stepsOf(scene))[0]).toMatchObject({ status: 'failed', outcome: null });
  });

  test('can be what a contract requires', async () => {
    const files = own({ percent: 90 });
    const path = Object.keys(files).find((name) => name.endsWith('flow.yaml')) ?? '';
    const required =
      '{ id: ask, skill: stater, artifacts: { expected: [{ id: cover, kind: outcome, outcome: octo/coverage }] } }';
    const scene = await startScene({
      ...files,
      [path]: (files[path] ?? '').replace('{ id: ask, skill: stater }', required),
    });
    await scene.open();
    expect((await stepsOf(scene))[0]).toMatchObject({
      status: 'completed',
      verification: { status: 'passed' },
    });
  });
});
