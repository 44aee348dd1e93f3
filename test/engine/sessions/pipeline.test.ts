import { describe, expect, test } from 'vitest';
import { criterion } from '../../../src/domain/explanation/explanation.ts';
import type { PolicyEngine } from '../../../src/domain/policy/engine.ts';
import { createRegistry } from '../../../src/engine/sessions/registry.ts';
import type { StepHandler } from '../../../src/engine/steps/step.ts';
import type { GitHubReader } from '../../../src/ports/github.ts';
import { LOCAL_PULL_REQUEST } from '../../../src/skills/adhoc/local-reader.ts';
import { actionOutcome } from '../../support/builders.ts';
import { stepContext } from '../../support/step-context.ts';

const closed = (id: string) => `[{ id: ${id}, criteria: [{ id: c, if: "false" }] }]`;

/** What stops a step, one reason for each stage, in the order of the stages. */
const HINDRANCES = [
  {
    stage: 'inputs',
    step: 'with: { urgency: "" }, validate: [{ rule_id: r, check: required, field: urgency }]',
  },
  { stage: 'permission', denies: true },
  { stage: 'gates_before', gates: `pre: ${closed('before')}` },
  { stage: 'approval', step: 'requires_approval: true' },
  { stage: 'run', fails: true },
  { stage: 'gates_after', gates: `post: ${closed('after')}` },
  { stage: 'outcome', step: 'expect: [{ rule_id: r, check: type, field: summary, type: int }]' },
] as const;
type Hindrance = {
  stage: string;
  step?: string;
  denies?: true;
  gates?: string;
  fails?: true;
};

/** GitHub with a pull request that nothing speaks against. */
const quiet = {
  prefetched: async () => ({ over: (rest) => rest, pullRequest: undefined }),
  pullRequest: async () => LOCAL_PULL_REQUEST,
  pullRequestCommits: async () => ({ commits: [], truncated: false }),
  commitCredits: async () => [],
} as Partial<GitHubReader> as GitHubReader;

async function attempt(hindrances: readonly Hindrance[]) {
  let runs = 0;
  const skill: StepHandler = {
    name: 'ci',
    capability: { name: 'ci', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    async run() {
      runs += 1;
      if (!hindrances.some(({ fails }) => fails))
        return { kind: 'done', outcome: actionOutcome('ci', 'done') };
      return {
        kind: 'failed',
        reason: { code: 'step.failed.error', summary: 'it failed', evidence: [] },
        retryable: false,
      };
    },
  };
  const verdict = hindrances.some(({ denies }) => denies) ? 'denied' : 'allowed';
  const policy: PolicyEngine = { decide: () => ({ verdict, why: criterion('met', 'as the test says') }) };
  const gates = hindrances.flatMap((one) => one.gates ?? []);
  const text = [
    'id: a, skill: ci',
    ...hindrances.flatMap((one) => one.step ?? []),
    ...(gates.length === 0 ? [] : [`gates: { ${gates.join(', ')} }`]),
  ].join(', ');
  const result = await createRegistry([skill], policy).attempt(stepContext(text, { reader: quiet }));
  return { result, runs };
}

describe('an attempt at a step', () => {
  test('goes through all stages if none stops it', async () => {
    const { result, runs } = await attempt([]);
    expect([result.kind, result.endedAt, runs]).toEqual(['done', 'completed', 1]);
  });

  test.each(HINDRANCES)('ends at the stage $stage with its reason', async (hindrance) => {
    const { result } = await attempt([hindrance]);
    expect(result.endedAt).toBe(hindrance.stage);
    expect(result.kind).not.toBe('done');
  });

  test.each(HINDRANCES.map(({ stage }, index) => ({ stage, index })))(
    'ends at $stage before any later stage is reached',
    async ({ stage, index }) => {
      const { result, runs } = await attempt(HINDRANCES.slice(index));
      expect(result.endedAt).toBe(stage);
      expect(runs).toBe(index < HINDRANCES.findIndex((one) => one.stage === 'run') ? 0 : 1);
    },
  );
});
