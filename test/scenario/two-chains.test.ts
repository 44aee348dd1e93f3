// @module-tag slow
import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { closingDelivered } from './support.ts';
import { CI_AND_MERGE, only, type Scene, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();
const merging = (name: string) => CI_AND_MERGE.replace('name: ship', `name: ${name}`);

test('a head that a maintainer rejects for one chain is not merged by another', async () => {
  const s = await start(only({ ship: merging('ship'), other: merging('other') }));
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(UPDATES_SHOWN_MS);
  const questions = () =>
    s.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
  const [first, second] = questions();
  expect(questions()).toHaveLength(2);
  await s.github.react(REPO, first?.id ?? 0, 'mia', '-1');
  await s.advance(10_000);
  await s.github.react(REPO, second?.id ?? 0, 'max', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toEqual([]);
  const reason = /mia rejected this head when (ship|other) asked about it/;
  const asked = await s.say(number, 'max', '/countersign why');
  expect(s.replies(number, asked).join()).toMatch(reason);

  // A person who may rerun a step cannot undo a maintainer's rejection by that.
  await s.say(number, 'ada', '/countersign rerun');
  await s.advance(60_000);
  expect(s.github.merges).toEqual([]);
});

test('a rejection applies to its head when the same chain asks again, until the same person countersigns', async () => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(UPDATES_SHOWN_MS);
  const questions = () =>
    s.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
  await s.github.react(REPO, questions()[0]?.id ?? 0, 'mia', '-1');
  await s.advance(10_000);
  expect(questions()[0]?.body).toContain('Only `mia` can take that back');

  // The rerun step polls the same approval comment, which still has the rejection.
  await s.say(number, 'max', '/countersign rerun');
  await s.github.react(REPO, questions()[0]?.id ?? 0, 'max', 'rocket');
  await s.advance(10_000);
  expect(questions()).toHaveLength(1);

  for (const asked of [2, 3]) {
    await s.say(number, 'max', '/countersign fire ship');
    await s.advance(UPDATES_SHOWN_MS);
    expect(questions()).toHaveLength(asked);
    await s.github.react(REPO, questions().at(-1)?.id ?? 0, 'max', 'rocket');
    await s.advance(10_000);
    expect(s.github.merges).toEqual([]);
    expect(questions().at(-1)?.body).toContain('mia rejected this head before; only mia can take that back');
  }

  await s.github.react(REPO, questions().at(-1)?.id ?? 0, 'mia', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toHaveLength(1);
});

/** So many runs of a third chain that started and ended, as if somebody had fired it repeatedly. */
async function manyRuns(s: Scene, like: string): Promise<void> {
  const { storage } = s.app;
  const [rejected] = await s.runs(like);
  const state = rejected && (await storage.read.runs.load(rejected.id));
  if (!state) throw new Error(`${like} has no run`);
  await storage.transaction(async (tx) => {
    for (let count = 0; count < 1_001; count++) {
      const createdAt = new Date(s.clock.now().getTime() + count);
      const run = {
        ...state.run,
        id: `run_many${count}`,
        chain: 'note',
        status: 'completed',
        createdAt,
      } as const;
      await tx.runs.insert({ run, invocations: [] });
    }
  });
}

test('a head that a maintainer rejects for one chain stays rejected, however many runs follow', async () => {
  const { s, number, questions } = await bothAsk();
  const [first, second] = questions();
  await s.github.react(REPO, first?.id ?? 0, 'mia', '-1');
  await s.advance(10_000);
  const rejected = (await s.runs('ship'))[0]?.status === 'failed' ? 'ship' : 'other';
  await manyRuns(s, rejected);
  await s.github.react(REPO, second?.id ?? 0, 'max', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toEqual([]);

  // The author cannot have it asked again either, by closing and reopening or by a label.
  await s.github.closePullRequest(REPO, number, 'ada');
  await s.advance(10_000);
  await s.github.reopenPullRequest(REPO, number, 'ada');
  await s.github.addLabel(REPO, number, 'ada', 'please');
  await s.advance(10_000);
  expect(await s.runs(rejected)).toHaveLength(1);
});

async function bothAsk() {
  const s = await start(only({ ship: merging('ship'), other: merging('other') }));
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(UPDATES_SHOWN_MS);
  const questions = () =>
    s.github.comments(REPO, number).filter(({ body }) => body.includes('countersign:question'));
  return { s, number, headSha, questions };
}

test('a chain whose pull request another chain merges names that chain and its countersigners', async () => {
  const { s, headSha, questions } = await bothAsk();
  await s.github.react(REPO, questions()[0]?.id ?? 0, 'mia', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toHaveLength(1);
  const [ship] = await s.runs('ship');
  const [merged, told] = ship?.status === 'completed' ? ['ship', 'other'] : ['other', 'ship'];
  const because = `the chain ${merged} merged the pull request, countersigned by mia`;
  expect(s.check(headSha, merged)?.title).toBe('Merged: countersigned by mia');
  expect(s.check(headSha, told)?.title).toBe(`Stopped: ${because}`);
  expect((await s.runs(told))[0]?.reason).toMatchObject({
    code: 'run.cancelled.merged_by_chain',
    summary: because,
  });
  expect(
    questions()
      .map(({ body }) => body)
      .join(),
  ).toContain(`The chain ${merged} merged the pull request`);
  expect(JSON.stringify(s.github.checkRuns(REPO, headSha))).not.toContain('by hand');
});

test('a chain names who merged also if the webhook of the merge overtakes its answer', async () => {
  const { s, number, headSha, questions } = await bothAsk();
  const isMerge = ({ method, path }: { method: string; path: string }) =>
    method === 'PUT' && path.endsWith('/merge');
  s.github.fail(isMerge, { after: 'reset' }, 1);
  s.github.onRequest((request) => {
    if (!isMerge(request)) return;
    s.github.fail(
      (read) => read.method === 'GET' && read.path.endsWith(`/pulls/${number}`),
      { until: closingDelivered(s.github) },
      1,
    );
  });
  await s.github.react(REPO, questions()[0]?.id ?? 0, 'mia', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toHaveLength(1);
  const titles = ['ship', 'other'].map((chain) => s.check(headSha, chain)?.title).sort();
  expect(titles).toEqual([
    'Merged: countersigned by mia',
    expect.stringMatching(/^Stopped: the chain (ship|other) merged the pull request, countersigned by mia$/),
  ]);
});

test('a rejection applies to its head when somebody deletes the comment that shows it', async () => {
  const s = await start(only({ ship: CI_AND_MERGE }));
  const { number, headSha } = await s.open();
  await s.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await s.advance(UPDATES_SHOWN_MS);
  const newest = () =>
    s.github.comments(REPO, number).findLast(({ body }) => body.includes('countersign:question'))?.id ?? 0;
  await s.github.react(REPO, newest(), 'mia', '-1');
  await s.advance(10_000);
  await s.github.deleteComment(REPO, newest(), 'will');
  await s.say(number, 'ada', '/countersign rerun');
  await s.advance(10_000);
  await s.github.react(REPO, newest(), 'max', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toEqual([]);

  await s.github.react(REPO, newest(), 'mia', 'rocket');
  await s.advance(10_000);
  expect(s.github.merges).toHaveLength(1);
});
