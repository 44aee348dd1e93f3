// @module-tag slow
import { expect, test } from 'vitest';
import { isRunOver, isStepOver } from '../../src/domain/run/run.ts';
import { type HistoryLine, historyLines } from '../../src/messages/cli/history.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { A_RECHECK, CI_AND_MERGE, countersign, MERGE_ONLY, open, reportCi, start } from './support.ts';

const CI_IN_TIME = `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: ci, skill: ci, timeout: 1m }
`;

/** Every run's history, oldest run first, with the evidence behind each run's reasons. */
async function histories({ app }: Harness): Promise<HistoryLine[][]> {
  const { runs } = app.storage.read;
  const all = [];
  for (const { id } of (await runs.list({})).reverse()) {
    const state = await runs.load(id);
    if (state) all.push(historyLines(state, await runs.sessionsOf(id), await runs.historyOf(id)));
  }
  return all;
}

/** The newest run's history as `ci: pending → running by event`. */
async function told(harness: Harness): Promise<string[]> {
  return ((await histories(harness)).at(-1) ?? []).map(({ what, step, attempt, from, to, by }) => {
    const subject = what === 'session' ? `${step} ${attempt}` : (step ?? 'run');
    return `${subject}: ${from === null ? '' : `${from} → `}${to} by ${who(by)}`;
  });
}

function who(by: HistoryLine['by']): string {
  if (by?.kind === 'event') return by.event;
  return by?.kind === 'person' ? by.login : (by?.kind ?? 'nobody');
}

/** How each session ended: `ci 1: cancelled, step.cancelled: ci is run again`. */
async function sessions({ app }: Harness): Promise<string[]> {
  const { runs } = app.storage.read;
  const said = [];
  for (const { id } of (await runs.list({})).reverse()) {
    const steps = (await runs.load(id))?.invocations ?? [];
    for (const { invocationId, attempt, status, reason } of await runs.sessionsOf(id)) {
      const stepId = steps.find((step) => step.id === invocationId)?.stepId;
      said.push(`${stepId} ${attempt}: ${status}, ${reason?.code}: ${reason?.summary}`);
    }
  }
  return said;
}

/** Everything that has ended has a reason, with a code that fits how it ended. */
async function expectReasons({ app }: Harness): Promise<void> {
  const { runs } = app.storage.read;
  const codes: string[] = [];
  for (const { id } of await runs.list({})) {
    const state = await runs.load(id);
    if (!state) continue;
    const steps = state.invocations.filter(({ status }) => isStepOver(status));
    const over = (await runs.sessionsOf(id)).filter(({ finishedAt }) => finishedAt !== null);
    for (const { status, reason } of [...steps, ...over]) codes.push(`step.${status} ${reason?.code}`);
    if (isRunOver(state.run.status)) codes.push(`run.${state.run.status} ${state.run.reason?.code}`);
  }
  expect(codes).not.toEqual([]);
  for (const code of codes) expect(code).toMatch(/^(\S+) \1(\.|$)/);
}

test('a run’s history shows what happened, from its webhook to its merge, and who caused it', async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  // Otherwise the search for missed changes at every start would find the pull request as soon as its webhook arrives.
  await harness.settle();
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await reportCi(harness, headSha, 'success');
  await countersign(harness, number);
  expect(await told(harness)).toEqual([
    'run: running by pr.opened',
    'ci: pending → running by pr.opened',
    'ci 1: running → waiting by session',
    'run: running → waiting_ci by session',
    'ci: running → waiting_ci by session',
    'ci 1: waiting → completed by session',
    'run: waiting_ci → running by session',
    'ci: waiting_ci → completed by session',
    'merge: pending → running by session',
    'merge 1: running → waiting by session',
    'run: running → waiting_approval by session',
    'merge: running → waiting_approval by session',
    'merge 1: waiting → completed by session',
    'run: waiting_approval → completed by session',
    'merge: waiting_approval → completed by session',
  ]);
  const [[began] = []] = await histories(harness);
  const delivery = harness.github.deliveries.find(({ event }) => event === 'pull_request');
  const row = await harness.app.storage.read.deliveries.byGuid(delivery?.guid ?? '');
  expect(began?.by).toEqual({ kind: 'event', event: 'pr.opened', delivery: row?.id });
  await expectReasons(harness);
});

test('a person is the actor of what they asked for, and a step that is run again ends the session under way', async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { number, headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  const begun = (await told(harness)).length;
  for (const words of ['rerun ci', 'cancel']) {
    await harness.github.comment(REPO, number, 'mia', `/countersign ${words}`);
    await harness.settle();
  }
  expect((await told(harness)).slice(begun)).toEqual([
    'ci 1: waiting → cancelled by mia',
    'run: waiting_ci → running by mia',
    'ci: waiting_ci → running by mia',
    'ci 1: running → waiting by session',
    'run: running → waiting_ci by session',
    'ci: running → waiting_ci by session',
    'ci 1: waiting → cancelled by mia',
    'run: waiting_ci → cancelled by mia',
    'ci: waiting_ci → cancelled by mia',
    'merge: pending → skipped by mia',
  ]);
  expect((await sessions(harness)).map((session) => session.split('; ')[0])).toEqual([
    'ci 1: cancelled, step.cancelled: ci is run again',
    'ci 1: cancelled, step.cancelled: cancelled by mia',
  ]);
  await expectReasons(harness);
});

test('time is the actor when a deadline passes', async () => {
  const harness = await start({ chain: CI_IN_TIME });
  const { headSha } = await open(harness);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(60_000);
  expect((await told(harness)).slice(-3)).toEqual([
    'ci 1: waiting → timed_out by time',
    'run: waiting_ci → timed_out by time',
    'ci: waiting_ci → timed_out by time',
  ]);
  await expectReasons(harness);
});

test('a run whose settings changed is cancelled by the session that noticed, which ends once and for that reason', async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'countersign: { users: [will] }\n' });
  await open(harness);
  const files = { '.github/countersign.yml': 'countersign: { permission: admin }\n' };
  await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files });
  await harness.advance(A_RECHECK);
  const [first = [], second = []] = await histories(harness);
  expect(first.filter(({ what }) => what === 'session').map(({ to }) => to)).toEqual([
    'waiting',
    'cancelled',
  ]);
  expect(first.at(-1)?.by).toMatchObject({ kind: 'session' });
  // The app itself noticed the change and started the new run; no webhook reported it.
  expect(second[0]?.by).toEqual({ kind: 'event', event: 'pr.updated', delivery: null });
  await expectReasons(harness);
});

test('the app is the actor when a step is given up after GitHub failed repeatedly', async () => {
  const harness = await start({ chain: CI_IN_TIME.replace(', timeout: 1m', '') });
  harness.github.fail(({ path }) => path.includes('/check-runs'), { status: 500 });
  await open(harness);
  await harness.advance(180_000);
  expect((await told(harness)).slice(-3)).toEqual([
    'ci 1: running → failed by app',
    'run: running → failed by app',
    'ci: running → failed by app',
  ]);
  await expectReasons(harness);
});
