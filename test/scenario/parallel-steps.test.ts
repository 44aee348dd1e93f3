import { expect, onTestFinished } from 'vitest';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { GREETING, start } from './support.ts';

const STEPS = ['a', 'b', 'c', 'd', 'e', 'f'];

const wide = (limit = '') => `name: pr-review
trigger: { event: pr.opened }
${limit}
steps:
${STEPS.map((id) => `  - { id: ${id}, skill: held, depends_on: [] }`).join('\n')}
`;

/** A skill whose steps end one by one, when the test says so. */
function heldSkill(): { skill: StepHandler; endOne: () => void; endAll: () => void } {
  const waiting: (() => void)[] = [];
  let held = true;
  const skill: StepHandler = {
    name: 'held',
    capability: { name: 'held', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    async run() {
      if (held) await new Promise<void>((resolve) => waiting.push(resolve));
      const summary = 'it ended';
      const outcome = makeOutcome<'action_result'>({
        outcome_kind: 'action_result',
        summary,
        passed: true,
        action: 'held',
        details: {},
      });
      return { kind: 'done', outcome };
    },
  };
  return {
    skill,
    endOne: () => waiting.shift()?.(),
    endAll() {
      held = false;
      for (const end of waiting.splice(0)) end();
    },
  };
}

async function statuses({ app }: Harness, number: number): Promise<string> {
  const [run] = await app.storage.read.runs.list({ pullRequest: number });
  const state = run && (await app.storage.read.runs.load(run.id));
  return (state?.invocations ?? []).map(({ stepId, status }) => `${stepId} ${status}`).join(', ');
}

eachFirstQuick([
  ['max_parallel: 1', 1],
  ['max_parallel: 3', 3],
  ['', 4],
])('a run whose chain says "%s" has %i of its steps at work', async (limit, most) => {
  const { skill, endOne, endAll } = heldSkill();
  const harness = await start({ chain: wide(limit), skills: [skill] });
  // Otherwise the app of a failed test could not stop.
  onTestFinished(endAll);
  const { number } = await harness.github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    title: 'Greet people by name',
    files: { 'src/greet.ts': GREETING },
  });
  const shows = (ended: number) =>
    expect
      .poll(() => statuses(harness, number))
      .toBe(
        STEPS.map((id, index) =>
          index < ended ? `${id} completed` : `${id} ${index < ended + most ? 'running' : 'pending'}`,
        ).join(', '),
      );
  await shows(0);
  endOne();
  await shows(1);
  endAll();
  await harness.settle();
  expect(await statuses(harness, number)).toBe(STEPS.map((id) => `${id} completed`).join(', '));
});
