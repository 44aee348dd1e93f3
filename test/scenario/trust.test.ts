import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { Capability } from '../../src/domain/policy/capability.ts';
import { builtInPolicy } from '../../src/domain/policy/engine.ts';
import type { TrustLevel } from '../../src/domain/policy/trust.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type HarnessOptions, REPO } from '../support/harness.ts';
import { A_RECHECK } from './support.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { type Opened, only, type Scene, scenes, section, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

/**
 * One step per level, as steps that run code need them. They record that they were reached, and one of them waits first, so that
 * it is judged twice.
 */
function probes() {
  const reached: string[] = [];
  const probe = (name: string, minimumTrust: TrustLevel, more: Partial<Capability> = {}): StepHandler => ({
    name,
    capability: { name, minimumTrust, sideEffects: true, confirmation: 'none', ...more },
    async run({ step }) {
      reached.push(step.id);
      const summary = `${name} is done`;
      return {
        kind: 'done',
        outcome: makeOutcome<'action_result'>({
          outcome_kind: 'action_result',
          summary,
          passed: true,
          action: name,
          details: {},
        }),
      };
    },
  });
  const slow = probe('slow', 'elevated');
  const waiting: StepHandler = {
    ...slow,
    async run(context) {
      if (context.invocation.status === 'waiting_until') return slow.run(context);
      reached.push(`${context.step.id} waits`);
      const until = new Date(context.clock.now().getTime() + 60_000);
      const reason = { code: 'step.waiting.retry' as const, summary: 'waiting for a slot', evidence: [] };
      return { kind: 'waits', for: 'until', until, reason };
    },
  };
  const skills = [
    probe('lint', 'sandbox'),
    probe('build', 'standard'),
    probe('deploy', 'elevated'),
    probe('publish', 'privileged'),
    probe('sign', 'sandbox', { confirmation: 'person' }),
    waiting,
  ];
  return { skills, reached };
}

async function scene(steps: string, options: HarnessOptions = {}) {
  const { skills, reached } = probes();
  return { scene: await start(flowChain(steps), { ...options, skills }), reached };
}

/** The result of each step of the chain's newest run. */
async function steps(scene: Scene): Promise<Record<string, string>> {
  const [run] = await scene.runs('flow');
  const state = await scene.app.storage.read.runs.load(run?.id ?? '');
  return Object.fromEntries(
    state?.invocations.map(({ stepId, status, reason }) => [
      stepId,
      status === 'failed' ? `${reason?.code}` : status,
    ]) ?? [],
  );
}

async function fire({ say, advance }: Scene, number: number, by = 'mia'): Promise<void> {
  await say(number, by, '/countersign fire flow');
  await advance(UPDATES_SHOWN_MS);
}

const fromFork = { author: 'otto', fork: 'otto/app' };
const BLOCKED = 'gate.blocked.policy';
/** One step per level, none of which waits for another. */
const EVERY_LEVEL = `
  id: lint, skill: lint, depends_on: [], on_failure: continue
  id: build, skill: build, depends_on: [], on_failure: continue
  id: deploy, skill: deploy, depends_on: [], on_failure: continue
  id: publish, skill: publish, depends_on: [], on_failure: continue
`;

eachFirstQuick([
  ['before a step', 'id: lint, skill: lint, gates: { pre: [{ id: asked, skill: publish }] }'],
  [
    'before a merge',
    'action: gh-merge, requires_approval: true, gates: { pre: [{ id: asked, skill: publish }] }',
  ],
])('a gate %s runs no skill that the run may not use, and does not pass', async (_, step) => {
  const { scene: world, reached } = await scene(`\n  ${step}\n`);
  const { number } = await world.open(fromFork);
  await world.advance(A_RECHECK);
  if (questions(world, { number }).length > 0) await countersign(world, number);
  await world.advance(A_RECHECK);
  expect(reached).toEqual([]);
  expect(world.github.merges).toEqual([]);
});

eachFirstQuick<[string, Parameters<Scene['open']>[0], string | undefined, string[]]>([
  ['an outsider’s from a fork', fromFork, undefined, ['lint']],
  ['a member’s', {}, undefined, ['lint', 'build']],
  ['a member’s from a fork', { fork: 'ada/app' }, undefined, ['lint']],
  ['a member’s that a maintainer fired', {}, 'mia', ['lint', 'build', 'deploy']],
  ['an outsider’s from a fork that a maintainer fired', fromFork, 'mia', ['lint', 'build']],
])('a pull request, %s, reaches the steps that its trust allows', async (_, input, by, expected) => {
  const { scene: world, reached } = await scene(EVERY_LEVEL);
  const { number } = await world.open(input);
  reached.splice(0, by === undefined ? 0 : reached.length);
  if (by !== undefined) await fire(world, number, by);
  expect(reached.sort()).toEqual([...expected].sort());
  expect(await steps(world)).toEqual(
    Object.fromEntries(
      ['lint', 'build', 'deploy', 'publish'].map((id) => [id, expected.includes(id) ? 'completed' : BLOCKED]),
    ),
  );
});

test('a review by an outsider starts nothing on a member’s pull request that needs more than the lowest trust', {
  tags: 'slow',
}, async () => {
  const { skills, reached } = probes();
  const world = await start(flowChain(EVERY_LEVEL, '{ event: pr.review_submitted }'), { skills });
  const { number } = await world.open();
  await world.github.review(REPO, number, 'otto', 'COMMENTED');
  await world.advance(UPDATES_SHOWN_MS);
  expect(reached).toEqual(['lint']);
  await world.github.review(REPO, number, 'will', 'COMMENTED');
  await world.advance(UPDATES_SHOWN_MS);
  expect(reached.slice(1).sort()).toEqual(['build', 'lint']);
});

test('a chain that follows the outcome of an outsider’s review, or that its step runs, has no more trust', {
  tags: 'slow',
}, async () => {
  const { skills, reached } = probes();
  const first =
    'name: first\ntrigger: { event: pr.review_submitted }\nsteps: [{ skill: lint }, { action: chain, with: { chain: flow } }]\n';
  const flow =
    'name: flow\ntrigger: { event: invocation.completed, filter: { chain: first, step: lint } }\nsteps: [{ skill: build }]\n';
  const world = await start(only({ first, flow }), { skills });
  const { number } = await world.open();
  await world.github.review(REPO, number, 'otto', 'COMMENTED');
  await world.advance(UPDATES_SHOWN_MS);
  expect(await world.runs('flow')).toHaveLength(2);
  expect(reached).toEqual(['lint']);
});

test('a composite with an outsider’s review among its parts has no more trust, whichever part came last', async () => {
  const { skills, reached } = probes();
  const trigger =
    '{ all_of: [{ event: pr.review_submitted }, { event: pr.labeled }], within: 1h, key: pull_request }';
  const world = await start(flowChain(EVERY_LEVEL, trigger), { skills });
  const { number } = await world.open();
  await world.github.review(REPO, number, 'otto', 'COMMENTED');
  await world.advance(UPDATES_SHOWN_MS);
  await world.github.addLabel(REPO, number, 'will', 'ready');
  await world.advance(UPDATES_SHOWN_MS);
  expect(reached).toEqual(['lint']);
});

test('a refusal says, on the check run and in why, what was needed, what the run has, and how to get there', {
  tags: 'slow',
}, async () => {
  const { scene: world } = await scene('id: ship, skill: deploy');
  const { number, headSha } = await world.open(fromFork);
  const check = world.check(headSha, 'flow');
  expect(check?.conclusion).toBe('failure');
  expect(section(check?.summary, 'Why')).toMatchInlineSnapshot(`
    "Why

    Not done: ship failed: deploy is not allowed: it needs elevated trust; this run has only sandbox.

    - ❌ ship failed: deploy is not allowed: it needs elevated trust; this run has only sandbox
      - ❌ it needs elevated trust; this run has only sandbox
        - ❌ its head is in another repository, otto/app
        - ❌ otto, who opened the pull request, is no member or collaborator (read access)
        - ❌ nobody fired it by hand
        - ❌ this step is not countersigned
      - ✅ nobody has to confirm it
      - ⏳ to get there: give the step \`requires_approval: true\` on the governing branch, and have it countersigned

    "
  `);
  const id = await world.say(number, 'otto', '/countersign why');
  // As docs/policy.md shows it.
  const page = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```text refusal\n([\s\S]*?)^```$/m.exec(page) ?? [];
  expect(world.replies(number, id)).toEqual([`\`\`\`\n${shown}\`\`\``]);
});

test('a step that needs the lowest trust sends GitHub no request about trust', { tags: 'slow' }, async () => {
  const { scene: world, reached } = await scene('id: lint, skill: lint');
  const asked: string[] = [];
  world.github.onRequest(({ path }) => path.includes('/permission') && asked.push(path));
  await world.open(fromFork);
  expect(reached).toEqual(['lint']);
  expect(asked).toEqual([]);
});

test('a dispatch does not count if its author is no longer a maintainer when the step starts', {
  tags: 'slow',
}, async () => {
  const { scene: world, reached } = await scene('id: ci, skill: ci\nid: ship, skill: deploy');
  const { number, headSha } = await world.open();
  await fire(world, number);
  world.github.setPermission(REPO, 'mia', 'write');
  await world.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await world.advance(A_RECHECK);
  expect(reached).toEqual([]);
  expect(await steps(world)).toEqual({ ci: 'completed', ship: BLOCKED });
});

test('a role that is removed while the step waits counts at its next poll', { tags: 'slow' }, async () => {
  const { scene: world, reached } = await scene('id: slow, skill: slow');
  const { number } = await world.open();
  await fire(world, number);
  expect(reached).toEqual(['slow waits']);
  world.github.setPermission(REPO, 'mia', 'none');
  await world.advance(120_000);
  expect(reached).toEqual(['slow waits']);
  expect(await steps(world)).toEqual({ slow: BLOCKED });
});

test('a push without a webhook ends what was fired for the earlier head', { tags: 'slow' }, async () => {
  const { scene: world, reached } = await scene('id: slow, skill: slow');
  const { number } = await world.open();
  await fire(world, number);
  world.github.holdDeliveries();
  await world.github.push({
    repo: REPO,
    branch: 'change',
    author: 'ada',
    files: { 'docs/page.txt': 'Other.\n' },
  });
  await world.advance(120_000);
  expect(reached).toEqual(['slow waits']);
  const runs = await world.runs('flow');
  expect(runs.map(({ reason }) => reason?.code)).toContain('run.cancelled.superseded');
  // The trigger started the new head's run, so nobody fired that.
  expect(await steps(world)).toEqual({ slow: BLOCKED });
  await world.github.releaseDeliveries();
});

test('nothing is done while GitHub cannot say who fired it, and the step runs once GitHub can', {
  tags: 'slow',
}, async () => {
  const { scene: world, reached } = await scene('id: ship, skill: deploy');
  const { number } = await world.open();
  let asked = 0;
  // The first read is the command's own.
  const back = world.github.fail(
    ({ path }) => path.includes('/collaborators/mia/permission') && ++asked > 1,
    { status: 503 },
  );
  await fire(world, number);
  await world.advance(5_000);
  expect(asked).toBeGreaterThan(1);
  expect(reached).toEqual([]);
  back();
  await world.advance(120_000);
  expect(reached).toEqual(['ship']);
});

eachFirstQuick(['deploy', 'publish'])(
  'an outsider’s pull request gets %s once, and only after a countersign for its head',
  async (skill) => {
    const { scene: world, reached } = await scene(`id: ship, skill: ${skill}, requires_approval: true`);
    const { number } = await world.open(fromFork);
    await world.advance(A_RECHECK);
    expect(reached).toEqual([]);
    await countersign(world, number);
    expect(reached).toEqual(['ship']);
  },
);

test('a countersign counts for the step that asked, not for the next', { tags: 'slow' }, async () => {
  const { scene: world, reached } = await scene(
    'id: first, skill: publish, requires_approval: true\nid: second, skill: publish',
  );
  const { number } = await world.open();
  await countersign(world, number);
  expect(reached).toEqual(['first']);
  expect(await steps(world)).toEqual({ first: 'completed', second: BLOCKED });
});

test('a step that a person must confirm asks for approval although the chain does not say so', {
  tags: 'slow',
}, async () => {
  const { scene: world, reached } = await scene('id: ship, skill: sign');
  const opened = await world.open();
  expect(questions(world, opened)).toHaveLength(1);
  expect(reached).toEqual([]);
  await countersign(world, opened.number);
  expect(reached).toEqual(['ship']);
});

test('a step that is not allowed asks nobody', { tags: 'slow' }, async () => {
  const policy = {
    decide: () => ({ verdict: 'denied' as const, why: criterion('unmet', 'there is a freeze') }),
  };
  const { scene: world } = await scene('action: gh-merge, requires_approval: true', { policy });
  const opened = await world.open();
  expect(questions(world, opened)).toEqual([]);
  expect((await world.runs('flow'))[0]?.reason?.summary).toContain('there is a freeze');
});

test('a step that needs a confirmation is refused if nobody is asked', { tags: 'slow' }, async () => {
  const policy = {
    decide: () => ({
      verdict: 'needs_confirmation' as const,
      why: criterion('pending', 'somebody must look'),
    }),
  };
  const { scene: world } = await scene('id: tag, action: gh-label, with: { labels: [x] }', { policy });
  const opened = await world.open();
  expect(questions(world, opened)).toEqual([]);
  expect(world.github.labels(REPO, opened.number)).toEqual([]);
  expect(await steps(world)).toEqual({ tag: BLOCKED });
});

eachFirstQuick([
  ['merge', 'action: gh-merge, requires_approval: true'],
  ['step', 'action: gh-label, with: { labels: [x] }, requires_approval: true'],
])('a policy that denies a step at its end prevents a countersigned %s', async (_, step) => {
  const policy = {
    decide(request: Parameters<typeof builtInPolicy.decide>[0]) {
      const decision = builtInPolicy.decide(request);
      if (decision.verdict !== 'allowed') return decision;
      return { verdict: 'denied' as const, why: criterion('unmet', 'there is a freeze') };
    },
  };
  const { scene: world } = await scene(`id: last, ${step}`, { policy });
  const { number } = await world.open();
  await countersign(world, number);
  expect(world.github.merges).toEqual([]);
  expect(world.github.labels(REPO, number)).toEqual([]);
  expect(await steps(world)).toEqual({ last: BLOCKED });
});

test('a policy that allows everything merges nothing without a countersign', { tags: 'slow' }, async () => {
  const policy = { decide: () => ({ verdict: 'allowed' as const, why: criterion('met', 'go on') }) };
  const { scene: world } = await scene('action: gh-merge, requires_approval: true', { policy });
  const opened = await world.open();
  await world.github.react(REPO, questions(world, opened)[0]?.id ?? 0, 'otto', 'rocket');
  await world.advance(A_RECHECK);
  expect(world.github.merges).toEqual([]);
});

test('an outsider’s pull request is still labelled and answered as the chain says', {
  tags: 'slow',
}, async () => {
  const { scene: world } = await scene(
    'action: gh-label, with: { labels: [newcomer] }\naction: gh-comment, with: { body: Welcome }',
  );
  const { number } = await world.open(fromFork);
  expect(world.github.labels(REPO, number)).toEqual(['newcomer']);
  expect(chainComments(world, number)).toEqual(['Welcome']);
});

function questions({ github }: Scene, { number }: Pick<Opened, 'number'>) {
  return github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
}

async function countersign(world: Scene, number: number): Promise<void> {
  const question = questions(world, { number }).at(-1);
  if (!question) throw new Error(`nobody was asked to countersign #${number}`);
  await world.github.react(REPO, question.id, 'mia', 'rocket');
  await world.advance(A_RECHECK);
}
