import { describe, expect, test } from 'vitest';
import { ACTIONS } from '../../../src/engine/actions/actions.ts';
import { createRegistry } from '../../../src/engine/sessions/registry.ts';
import type { StepHandler } from '../../../src/engine/steps/step.ts';
import type { GitHubReader } from '../../../src/ports/github.ts';
import { LOCAL_PULL_REQUEST } from '../../../src/skills/adhoc/local-reader.ts';
import { actionOutcome, chainOfSteps } from '../../support/builders.ts';
import { stepContext } from '../../support/step-context.ts';

/** A skill that records that it ran. */
function skill(name: string) {
  const ran: string[] = [];
  const handler: StepHandler = {
    name,
    capability: { name, minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    async run({ step }) {
      ran.push(step.id);
      return { kind: 'done', outcome: actionOutcome(name, 'done') };
    },
  };
  return { handler, ran };
}

function stepOf(text: string) {
  const [step] = chainOfSteps(text).steps;
  if (!step) throw new Error('a chain has at least one step');
  return step;
}

/** GitHub with a pull request that meets every criterion. */
const quiet = {
  prefetched: async () => ({ over: (rest) => rest, pullRequest: undefined }),
  pullRequest: async () => LOCAL_PULL_REQUEST,
  pullRequestReviews: async () => ({ reviews: [], truncated: false }),
  pullRequestCommits: async () => ({ commits: [], truncated: false }),
  commitCredits: async () => [],
} as Partial<GitHubReader> as GitHubReader;

describe('the registry', () => {
  test('names skills and actions in order', () => {
    const registry = createRegistry([skill('pr-review').handler, skill('ci').handler]);
    expect(registry.skills).toEqual(['ci', 'pr-review']);
    expect(registry.actions).toEqual(Object.keys(ACTIONS));
  });

  test('finds a step’s skill and its action', () => {
    const { handler } = skill('ci');
    const registry = createRegistry([handler]);
    expect(registry.handlerOf(stepOf('id: a, skill: ci')).name).toBe(handler.name);
    expect(registry.handlerOf(stepOf('id: a, action: gh-label')).name).toBe('gh-label');
  });

  test.each([
    ['an unknown skill', 'id: a, skill: pr-review', 'there is no skill named pr-review'],
    [
      'a skill with the name of an action',
      { kind: 'skill', name: 'gh-merge' } as const,
      'there is no skill named gh-merge',
    ],
    [
      'an action with the name of a skill',
      { kind: 'action', name: 'ci' } as const,
      'there is no action named ci',
    ],
    [
      'a name that every object has',
      { kind: 'action', name: 'constructor' } as const,
      'there is no action named constructor',
    ],
  ])('refuses %s', (_, what, message) => {
    const step = typeof what === 'string' ? stepOf(what) : { ...stepOf('id: a'), uses: what };
    expect(() => createRegistry([skill('ci').handler]).handlerOf(step)).toThrow(message);
  });

  test('prefers what is built in to a package, also for a stored step that refers to a package', () => {
    const [builtIn, ofPackage] = [skill('ci').handler, skill('of a package').handler];
    const registry = createRegistry([builtIn], undefined, () => ofPackage);
    const reference = { id: 'skl_1', trust: 'sandbox' as const, produces: [] };
    const uses = (name: string) => ({ kind: 'skill' as const, name, package: reference });
    const [ci, naming] = ['ci', 'naming'].map((name) => ({
      ...stepOf('id: a, skill: ci'),
      uses: uses(name),
    }));
    expect(ci && registry.useOf(ci).capability).toBe(builtIn.capability);
    expect(naming && registry.useOf(naming).capability).toBe(ofPackage.capability);
  });

  test('asks for approval before a step that requires it does anything', async () => {
    const { handler, ran } = skill('ci');
    const text = 'id: a, skill: ci, requires_approval: true';
    const context = stepContext(text, { reader: quiet });
    const result = await createRegistry([handler]).attempt(context);
    expect(result).toMatchObject({ kind: 'waits', for: 'approval', approval: { status: 'open' } });
    expect(ran).toEqual([]);
  });

  test('asks for approval before a merge', async () => {
    const text = 'id: merge, action: gh-merge, requires_approval: true';
    const result = await createRegistry([]).attempt(stepContext(text, { reader: quiet }));
    expect(result).toMatchObject({ kind: 'waits', for: 'approval' });
  });

  test('asks for approval before a merge even if the stored step does not require it', async () => {
    const step = {
      ...stepOf('id: merge, action: gh-merge, requires_approval: true'),
      requiresApproval: false,
    };
    const context = stepContext('id: merge, action: gh-merge, requires_approval: true', {
      step,
      reader: quiet,
    });
    const result = await createRegistry([]).attempt(context);
    expect(result).toMatchObject({ kind: 'waits', for: 'approval' });
  });

  test('runs a step that requires no approval at once', async () => {
    const { handler, ran } = skill('ci');
    const text = 'id: a, skill: ci';
    await createRegistry([handler]).attempt(stepContext(text));
    expect(ran).toEqual(['a']);
  });
});

test('commands run in the slots of reviews, because they can take an hour', () => {
  const registry = createRegistry([]);
  const using = (name: string) => ({
    ...stepOf('id: a, action: gh-label, with: { labels: x }'),
    uses: { kind: 'action' as const, name },
  });
  expect([registry.isReview(using('shell')), registry.isReview(using('wait'))]).toEqual([true, false]);
});
