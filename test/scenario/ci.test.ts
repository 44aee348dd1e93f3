import { expect, test } from 'vitest';
import { reason } from '../../src/domain/explanation/reason.ts';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import type { StepHandler } from '../../src/engine/steps/step.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { isGateCheck } from '../support/github/read.ts';
import type { CheckConclusion } from '../support/github/world.ts';
import { REPO } from '../support/harness.ts';
import {
  CI_AND_MERGE,
  type Opened,
  only,
  type Scene,
  scenes,
  section,
  UPDATES_SHOWN_MS,
} from './support-scene.ts';

const start = scenes();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function opened(settings = ''): Promise<{ scene: Scene; number: number; headSha: string }> {
  const scene = await start(only({ ship: CI_AND_MERGE }, settings));
  return { scene, ...(await scene.open()) };
}

async function report(scene: Scene, sha: string, name: string, conclusion: CheckConclusion): Promise<void> {
  await scene.github.reportCheck(REPO, sha, { name, status: 'completed', conclusion });
  await scene.advance(UPDATES_SHOWN_MS);
}

function question(scene: Scene, number: number): string | undefined {
  return scene.github.comments(REPO, number).find(({ body }) => body.includes('countersign:question'))?.body;
}

test('the app waits for a check from queued over in progress to done', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  const titles: (string | null | undefined)[] = [];
  for (const status of ['queued', 'in_progress'] as const) {
    await scene.github.reportCheck(REPO, headSha, { name: 'test', status });
    await scene.advance(UPDATES_SHOWN_MS);
    titles.push(scene.check(headSha, 'ship')?.title);
  }
  expect(question(scene, number)).toBeUndefined();
  await report(scene, headSha, 'test', 'success');
  titles.push(scene.check(headSha, 'ship')?.title);
  expect(titles).toMatchInlineSnapshot(`
    [
      "Waiting for CI: 0 of 1 checks are done",
      "Waiting for CI: 0 of 1 checks are done",
      "Waiting for a maintainer to countersign",
    ]
  `);
});

test('the result shows each passed check, with its duration and number of tests', {
  tags: 'slow',
}, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'unit tests', status: 'in_progress' });
  const startedAt = scene.clock.now();
  const completedAt = new Date(startedAt.getTime() + 83_000);
  await scene.github.reportCheck(REPO, headSha, {
    name: 'lint',
    status: 'completed',
    conclusion: 'skipped',
    startedAt,
    completedAt: startedAt,
  });
  await scene.github.setStatus(REPO, headSha, { context: 'deploy/preview', state: 'success' });
  await scene.github.reportCheck(REPO, headSha, {
    name: 'unit tests',
    status: 'completed',
    conclusion: 'success',
    startedAt,
    completedAt,
    output: { title: '312 tests run, 312 passed', annotations: [] },
  });
  await scene.advance(UPDATES_SHOWN_MS);
  const shown = section(scene.check(headSha, 'ship')?.summary, 'CI').replaceAll(/\(http[^)]*\)/g, '(…)');
  expect(shown).toMatchInlineSnapshot(`
    "CI: all 3 checks passed

    | | Check | Result | Took |
    |---|---|---|---:|
    | ⚪ | [lint](…) | skipped | 0 ms |
    | ✅ | deploy/preview | success |  |
    | ✅ | [unit tests](…) | success | 1 min |

    312 tests ran.

    "
  `);
});

test('a failed check prevents the merge, and nobody is asked', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await report(scene, headSha, 'test', 'failure');
  expect(scene.check(headSha, 'ship')).toMatchObject({
    conclusion: 'failure',
    title: 'CI has not passed: 1 of 1 check failed',
  });
  expect(question(scene, number)).toBeUndefined();
});

test('the commands of a failed workflow are shown with their durations', { tags: 'slow' }, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, {
    app: 'GitHub Actions',
    name: 'test',
    status: 'completed',
    conclusion: 'failure',
    steps: [
      { name: 'Set up job', conclusion: 'success', seconds: 2 },
      { name: 'Run npm ci', conclusion: 'success', seconds: 21 },
      { name: 'Run npm test', conclusion: 'failure', seconds: 83 },
    ],
  });
  await scene.advance(UPDATES_SHOWN_MS);
  const shown = section(scene.check(headSha, 'ship')?.summary, 'CI').replaceAll(/\(http[^)]*\)/g, '(…)');
  expect(shown).toMatchInlineSnapshot(`
    "CI: 1 of 1 check failed

    | | Check | Result | Took |
    |---|---|---|---:|
    | ❌ | [test](…) | failure | 0 ms |

    - ❌ npm test failed after 1 min

    "
  `);
});

test('one failed check is enough, but the app waits for the others', { tags: 'slow' }, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'build', status: 'in_progress' });
  await report(scene, headSha, 'test', 'failure');
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 1 of 2 checks are done');
  await report(scene, headSha, 'build', 'success');
  expect(scene.check(headSha, 'ship')?.title).toBe('CI has not passed: 1 of 2 checks failed');
});

test('when CI turns green after it was red, the maintainers are asked', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await report(scene, headSha, 'test', 'failure');
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await report(scene, headSha, 'test', 'success');
  expect(question(scene, number)).toContain('the only check passed');
  expect(await scene.runs('ship')).toHaveLength(1);
});

test('when CI turns green after it was red, nobody is asked about a pull request that can no longer be merged', {
  tags: 'slow',
}, async () => {
  const toMain = '{ event: pr.opened, filter: { base: main, draft: false } }';
  const scene = await start(only({ ship: CI_AND_MERGE.replace('{ event: pr.opened }', toMain) }));
  const { github } = scene;
  await github.push({ repo: REPO, branch: 'release', author: 'mia' });
  const becomes = {
    closed: (number: number) => github.closePullRequest(REPO, number, 'ada'),
    draft: (number: number) => github.convertToDraft(REPO, number, 'ada'),
    merged: (number: number) => github.mergePullRequest(REPO, number, 'max', 'merge'),
    retargeted: (number: number) => github.editPullRequest(REPO, number, 'ada', { base: 'release' }),
  };
  const shown = async ({ number, headSha }: Opened) => ({
    checks: github.checkRuns(REPO, headSha).filter((run) => run.app === github.app.slug && !isGateCheck(run)),
    comments: github.comments(REPO, number),
    runs: (await scene.runs('ship')).filter((run) => run.pullRequest === number),
  });
  for (const [name, act] of Object.entries(becomes)) {
    const opened = await scene.open({ branch: name });
    await report(scene, opened.headSha, 'test', 'failure');
    await act(opened.number);
    await scene.advance(UPDATES_SHOWN_MS);
    const before = await shown(opened);
    await github.reportCheck(REPO, opened.headSha, { name: 'test', status: 'in_progress' });
    await report(scene, opened.headSha, 'test', 'success');
    expect(await shown(opened), name).toEqual(before);
    expect(before.runs.map(({ reason }) => reason?.code)).toEqual(['run.completed.not_merged']);
  }
});

eachFirstQuick(['neutral', 'skipped'] as const)('a check that is %s does not block', async (conclusion) => {
  const { scene, number, headSha } = await opened();
  await report(scene, headSha, 'optional', conclusion);
  expect(question(scene, number)).toBeDefined();
});

eachFirstQuick(['action_required', 'timed_out', 'cancelled', 'stale', 'startup_failure'] as const)(
  'a check that ends as %s has failed',
  async (conclusion) => {
    const { scene, number, headSha } = await opened();
    await report(scene, headSha, 'test', conclusion as CheckConclusion);
    expect(scene.check(headSha, 'ship')).toMatchObject({ conclusion: 'failure' });
    expect(question(scene, number)).toBeUndefined();
  },
);

test('a commit status can be pending, which the app waits for, or an error, which is a failure', {
  tags: 'slow',
}, async () => {
  const { scene, headSha } = await opened();
  await scene.github.setStatus(REPO, headSha, { context: 'jenkins', state: 'pending' });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 0 of 1 checks are done');
  await scene.github.setStatus(REPO, headSha, { context: 'jenkins', state: 'error' });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.check(headSha, 'ship')?.title).toBe('CI has not passed: 1 of 1 check failed');
});

test('only the newest status of a context counts', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await scene.github.setStatus(REPO, headSha, { context: 'jenkins', state: 'failure' });
  await scene.github.setStatus(REPO, headSha, { context: 'jenkins', state: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(question(scene, number)).toBeDefined();
});

test('the app waits for a check that the branch requires, although it has not appeared', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: CI_AND_MERGE }));
  scene.github.requireChecks(REPO, 'main', ['security']);
  const { number, headSha } = await scene.open();
  await report(scene, headSha, 'test', 'success');
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 1 of 2 checks are done');
  expect(question(scene, number)).toBeUndefined();
  await report(scene, headSha, 'security', 'success');
  expect(section(scene.check(headSha, 'ship')?.summary, 'CI')).toContain('(required)');
  expect(question(scene, number)).toBeDefined();
});

test('the app waits for a check that only the settings require', { tags: 'slow' }, async () => {
  const { scene, headSha } = await opened('ci: { required: [e2e] }');
  await report(scene, headSha, 'test', 'success');
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 1 of 2 checks are done');
  await report(scene, headSha, 'e2e', 'failure');
  expect(scene.check(headSha, 'ship')?.title).toBe('CI has not passed: 1 of 2 checks failed');
});

test('a check that the settings ignore neither blocks nor fails', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened('ci: { ignore: [flaky, slow] }');
  await scene.github.reportCheck(REPO, headSha, { name: 'slow', status: 'in_progress' });
  await scene.github.setStatus(REPO, headSha, { context: 'flaky', state: 'failure' });
  await report(scene, headSha, 'test', 'success');
  expect(question(scene, number)).toContain('the only check passed');
});

test('without any check the app waits a moment for the first one, then asks the maintainers and says so', {
  tags: 'slow',
}, async () => {
  const { scene, number, headSha } = await opened();
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: no check has reported yet');
  expect(question(scene, number)).toBeUndefined();
  await scene.advance(40_000);
  expect(question(scene, number)).toContain(
    '⚪ **CI:** no checks ran on this commit; the settings allow that',
  );
});

test('the app waits for a check that first appears within that moment', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await scene.advance(20_000);
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'queued' });
  await scene.advance(MINUTE);
  expect(question(scene, number)).toBeUndefined();
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 0 of 1 checks are done');
});

test('without any check nothing is merged if the settings require some', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened('ci: { no_checks: block }');
  await scene.advance(40_000);
  expect(question(scene, number)).toBeUndefined();
  expect(scene.check(headSha, 'ship')).toMatchObject({
    conclusion: 'neutral',
    title: 'Not merged: no checks ran, and the settings ask for some',
  });
});

test('a late check continues a run that its absence had ended', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened('ci: { no_checks: block }');
  await scene.advance(40_000);
  await report(scene, headSha, 'test', 'success');
  expect(question(scene, number)).toContain('the only check passed');
});

test('a head that was rejected before any check reported stays rejected when one does', {
  tags: 'slow',
}, async () => {
  const { scene, number, headSha } = await opened();
  await scene.advance(40_000);
  const asked = scene.github.comments(REPO, number).find(({ body }) => body === question(scene, number));
  await scene.github.react(REPO, asked?.id ?? 0, 'mia', '-1');
  await scene.advance(UPDATES_SHOWN_MS);
  const [rejected] = await scene.runs('ship');
  expect(rejected?.status).toBe('failed');
  await report(scene, headSha, 'test', 'success');
  expect(await scene.runs('ship')).toEqual([rejected]);
});

/** Continues when CI does not finish, and then merges or not as a condition says. */
const WITHOUT_CI = CI_AND_MERGE.replace('skill: ci', 'skill: ci\n    on_failure: continue');

test('when CI turns green after its wait was over, the maintainers are asked also if the chain continued without it', {
  tags: 'slow',
}, async () => {
  const scene = await start(only({ ship: WITHOUT_CI }, 'ci: { wait: 2m }'));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.advance(3 * MINUTE);
  expect((await scene.runs('ship')).map(({ reason }) => reason?.code)).toEqual(['run.completed.not_merged']);
  await report(scene, headSha, 'test', 'success');
  const asked = scene.github.comments(REPO, number).find(({ body }) => body === question(scene, number));
  expect(asked?.body).toContain('the only check passed');
  await scene.github.react(REPO, asked?.id ?? 0, 'ada', 'rocket');
  await scene.advance(MINUTE);
  expect(scene.github.merges).toEqual([]);
  await scene.github.react(REPO, asked?.id ?? 0, 'mia', 'rocket');
  await scene.advance(MINUTE);
  expect(scene.github.merges).toHaveLength(1);
});

test('when CI turns green after the chain continued without it, a rejection or another failure stays as it was', {
  tags: 'slow',
}, async () => {
  const heedless = WITHOUT_CI.replace(/ {4}condition: .*\n/, '');
  const chains = {
    ship: heedless,
    spare: `${heedless.replace('ship', 'spare')}    on_failure: continue\n`,
    label: `${heedless.replace('ship', 'label')}  - { action: gh-label, with: { pr: 999, labels: [x] }, depends_on: [ci] }\n`,
  };
  const scene = await start(only(chains, 'ci: { wait: 2m }'));
  const runs = async () => (await Promise.all(Object.keys(chains).map(scene.runs))).flat();
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.advance(3 * MINUTE);
  for (const { id, body } of scene.github.comments(REPO, number))
    if (body.includes('countersign:question')) await scene.github.react(REPO, id, 'mia', '-1');
  await scene.advance(MINUTE);
  const ended = await runs();
  expect(ended.map(({ reason }) => reason?.code)).toEqual([
    'run.failed.step',
    'run.completed.not_merged',
    'run.failed.step',
  ]);
  expect(ended[2]?.reason?.summary).toContain('gh-label');
  await report(scene, headSha, 'test', 'success');
  expect(await runs()).toEqual(ended);
});

test('the app’s own check runs do not count as CI', { tags: 'slow' }, async () => {
  const other =
    'name: other\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-label, with: { labels: [seen] } }]\n';
  const scene = await start(only({ ship: CI_AND_MERGE, other }));
  const { number, headSha } = await scene.open();
  await scene.advance(40_000);
  expect(scene.verdicts(headSha)).toMatchObject({ 'countersign / other': 'success' });
  expect(question(scene, number)).toContain('no checks ran');
});

test('a check run of another app counts as CI, even under the app’s name', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await report(scene, headSha, 'countersign / ship', 'failure');
  expect(scene.check(headSha, 'ship')).toMatchObject({ app: 'countersign', conclusion: 'failure' });
  expect(section(scene.check(headSha, 'ship')?.summary, 'CI')).toContain('countersign / ship');
  expect(question(scene, number)).toBeUndefined();
});

test('two apps’ checks with one name each count', { tags: 'slow' }, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { app: 'other', name: 'test', status: 'in_progress' });
  await report(scene, headSha, 'test', 'success');
  await scene.github.reportCheck(REPO, headSha, {
    app: 'other',
    name: 'test',
    status: 'completed',
    conclusion: 'failure',
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.check(headSha, 'ship')?.title).toBe('CI has not passed: 1 of 2 checks failed');
});

test('CI that takes longer than the settings allow fails the run with a reason', {
  tags: 'slow',
}, async () => {
  const { scene, number, headSha } = await opened('ci: { wait: 1h }');
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.advance(59 * MINUTE);
  expect(scene.check(headSha, 'ship')?.status).toBe('in_progress');
  await scene.advance(2 * MINUTE);
  expect(scene.check(headSha, 'ship')).toMatchObject({
    conclusion: 'failure',
    title: 'CI has not passed: gave up waiting for CI: 0 of 1 checks are done',
  });
  expect(question(scene, number)).toBeUndefined();
});

test('a result whose webhook was lost is still noticed', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  scene.github.holdDeliveries();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(3 * MINUTE);
  expect(question(scene, number)).toContain('the only check passed');
});

test('CI that is slow over hours costs few requests', { tags: 'slow' }, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  const before = scene.github.requests.length;
  await scene.advance(HOUR);
  const asked = scene.github.requests.slice(before).filter(({ status }) => status !== 304);
  expect(asked.length).toBeLessThan(10);
  expect(scene.github.requests.length - before).toBeGreaterThan(30);
});

test('an event that only wakes a step changes nothing about the run before the step’s poll', {
  tags: 'slow',
}, async () => {
  const { scene, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'in_progress' });
  await scene.settle();
  const run = async () => (await scene.app.storage.read.runs.list({ headSha }))[0];
  const before = await run();
  expect(before?.status).toBe('waiting_ci');
  scene.clock.moveTo(new Date(scene.clock.now().getTime() + 5_000));
  await scene.github.reportCheck(REPO, headSha, { name: 'lint', status: 'in_progress' });
  await scene.github.settle();
  await scene.app.queue.idle();
  expect(await run()).toEqual(before);
});

test('a check that turns red after the maintainers were asked blocks the countersigned merge', {
  tags: 'slow',
}, async () => {
  const { scene, number, headSha } = await opened();
  await report(scene, headSha, 'test', 'success');
  const [asked] = scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:question'));
  scene.github.holdDeliveries();
  await scene.github.reportCheck(REPO, headSha, { name: 'late', status: 'completed', conclusion: 'failure' });
  await scene.github.react(REPO, asked?.id ?? 0, 'mia', 'rocket');
  await scene.advance(10_000);
  expect(scene.github.pullRequest(REPO, number).merged).toBe(false);
  expect(scene.github.merges).toEqual([]);
});

test('the app waits for jobs that depend on others, although every check run so far is green', {
  tags: 'slow',
}, async () => {
  const { scene, number, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, {
    name: 'build',
    status: 'completed',
    conclusion: 'success',
    goesOn: true,
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(question(scene, number)).toBeUndefined();
  expect(scene.check(headSha, 'ship')?.title).toBe('Waiting for CI: 1 of 2 checks are done');
  await scene.github.reportCheck(REPO, headSha, {
    name: 'deploy',
    status: 'completed',
    conclusion: 'success',
  });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(question(scene, number)).toContain('all 2 checks passed');
});

test('a check that the app waits for is linked wherever it is named', { tags: 'slow' }, async () => {
  const { scene, number, headSha } = await opened();
  await scene.github.reportCheck(REPO, headSha, { name: 'build', status: 'in_progress' });
  await scene.advance(UPDATES_SHOWN_MS);
  const link = /\[`build`\]\(http:\/\/[^)]+\/octo\/app\/runs\/\d+\)/;
  expect(scene.status(number)).toMatch(link);
  expect(scene.check(headSha, 'ship')?.summary).toMatch(link);
});

test('a check that ends while the step that waits for it reads is noticed at once', {
  tags: 'slow',
}, async () => {
  const github = { reports: async () => {} };
  const looks: string[] = [];
  const checks: StepHandler = {
    name: 'checks',
    capability: { name: 'checks', minimumTrust: 'sandbox', sideEffects: false, confirmation: 'none' },
    async run({ clock }) {
      looks.push(clock.now().toISOString());
      if (looks.length === 1) {
        await github.reports();
        const until = new Date(clock.now().getTime() + HOUR);
        return {
          kind: 'waits',
          for: 'ci',
          until,
          reason: reason('step.waiting.ci', 'no check has reported yet'),
        };
      }
      const outcome = makeOutcome<'action_result'>({
        outcome_kind: 'action_result',
        summary: 'the checks ended',
        passed: true,
        action: 'checks',
        details: {},
      });
      return { kind: 'done', outcome };
    },
  };
  const chain = 'name: ship\ntrigger: { event: pr.opened }\nsteps: [{ id: checks, skill: checks }]\n';
  const scene = await start(only({ ship: chain }), { skills: [checks] });
  github.reports = async () => {
    const { headSha: head } = scene.github.pullRequest(REPO, 1);
    await scene.github.reportCheck(REPO, head, { name: 'test', status: 'completed', conclusion: 'success' });
    const isDone = async () =>
      (await scene.app.storage.read.deliveries.list({ status: 'done', limit: 50 })).some(
        ({ event, action }) => event === 'check_run' && action === 'completed',
      );
    await expect.poll(isDone).toBe(true);
  };
  const { headSha } = await scene.open();
  expect(looks).toHaveLength(2);
  expect(scene.check(headSha, 'ship')?.title).toBe('Done');
});
