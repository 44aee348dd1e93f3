import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { openWaitingForCi } from './support-commands.ts';
import { commentAndPoll, hasContinued, openConfirmation, replies } from './support-confirm.ts';
import { type Scene, scenes } from './support-scene.ts';

const start = scenes();

/** Two comments whose deliveries arrive in the other order. @returns their numbers, the older first. */
async function swapped(
  { github, advance }: Pick<Scene, 'github' | 'advance'>,
  number: number,
  older: [login: string, body: string],
  newer: [login: string, body: string],
  apartMs = 60_000,
): Promise<[number, number]> {
  github.holdDeliveries();
  const first = await github.comment(REPO, number, ...older);
  if (apartMs > 0) await advance(apartMs, 0);
  const second = await github.comment(REPO, number, ...newer);
  await github.releaseDeliveries('reverse');
  await advance(10_000);
  return [first, second];
}

async function isPaused({ app }: Scene): Promise<boolean> {
  const [run] = await app.storage.read.runs.list({ repository: REPO, limit: 1 });
  const row = run && (await app.storage.read.pullRequests.get(run.repositoryId, run.pullRequest ?? 0));
  return (row?.pausedBy ?? null) !== null;
}

describe('commands that arrive out of order', () => {
  eachFirstQuick([
    ['a minute apart', 60_000],
    ['of the same second', 0],
  ])('a late resume does not undo a pause %s', async (_, apartMs) => {
    const { scene, number } = await openWaitingForCi(start);
    await scene.say(number, 'max', '/countersign pause');
    await scene.advance(60_000);
    const [old] = await swapped(
      scene,
      number,
      ['mia', '/countersign resume'],
      ['max', '/countersign pause'],
      apartMs,
    );
    expect(await isPaused(scene)).toBe(true);
    expect(scene.replies(number, old)).toEqual([
      'Nothing was done, because max gave the newer command `/countersign pause`.',
    ]);
  });

  test('a late pause does not undo a resume', { tags: 'slow' }, async () => {
    const { scene, number } = await openWaitingForCi(start);
    const [old] = await swapped(scene, number, ['mia', '/countersign pause'], ['mia', '/countersign resume']);
    expect(await isPaused(scene)).toBe(false);
    expect(scene.replies(number, old)).toEqual([
      'Nothing was done, because mia gave the newer command `/countersign resume`.',
    ]);
  });

  eachFirstQuick(['rerun ci', 'fire deploy environment=live'])(
    'a late %s starts nothing that a cancel ended',
    async (command) => {
      const { scene, number } = await openWaitingForCi(start);
      const [old] = await swapped(
        scene,
        number,
        ['mia', `/countersign ${command}`],
        ['max', '/countersign cancel'],
      );
      expect(scene.replies(number, old)).toEqual([
        'Nothing was done, because max gave the newer command `/countersign cancel`.',
      ]);
      expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['cancelled']);
      expect(await scene.runs('deploy')).toEqual([]);
    },
  );

  test('a late cancel ends everything except what a newer command started', { tags: 'slow' }, async () => {
    const { scene, number } = await openWaitingForCi(start);
    const [old] = await swapped(
      scene,
      number,
      ['mia', '/countersign cancel'],
      ['mia', '/countersign fire ship'],
    );
    expect(scene.replies(number, old)).toEqual([
      'Nothing was done, because mia gave the newer command `/countersign fire`.',
    ]);
    expect((await scene.runs('ship')).map(({ status }) => status)).toEqual(['waiting_ci', 'cancelled']);
  });

  test('a late fire does not replace what was fired with other inputs', { tags: 'slow' }, async () => {
    const { scene, number } = await openWaitingForCi(start);
    await swapped(
      scene,
      number,
      ['mia', '/countersign fire deploy environment=live'],
      ['mia', '/countersign fire deploy environment=staging'],
    );
    expect((await scene.runs('deploy')).map(({ facts }) => facts.trigger.input_environment)).toEqual([
      'staging',
    ]);
  });

  test('the lines of one comment count in their written order', { tags: 'slow' }, async () => {
    const { scene, number } = await openWaitingForCi(start);
    await scene.say(number, 'mia', '/countersign pause\n/countersign resume');
    expect(await isPaused(scene)).toBe(false);
    await scene.say(number, 'mia', '/countersign resume\n/countersign pause');
    expect(await isPaused(scene)).toBe(true);
  });

  test('a late approval does not undo a newer rejection by command, nor the other way round', {
    tags: 'slow',
  }, async () => {
    const asked = await openConfirmation({ settings: 'countersign: { count: 2 }\n' });
    const { harness, number } = asked;
    await harness.advance(60_000);
    const [older] = await swapped(
      harness,
      number,
      ['mia', '/countersign reject'],
      ['mia', '/countersign approve'],
    );
    expect(replies(asked, older)).toEqual([
      'Nothing was done, because mia gave the newer command `/countersign approve`.',
    ]);
    const [old] = await swapped(
      harness,
      number,
      ['mia', '/countersign approve'],
      ['mia', '/countersign reject'],
    );
    await commentAndPoll(asked, 'max', '/countersign approve');
    expect(replies(asked, old)).toEqual([
      'Nothing was done, because mia gave the newer command `/countersign reject`.',
    ]);
    expect(hasContinued(asked)).toBe(false);
  });
});

/** What somebody does while the app is down arrives only after the pause that max writes once it is up again. */
async function missedUntilPaused(scene: Scene, number: number, does: () => Promise<unknown>): Promise<void> {
  const { github } = scene;
  await scene.say(number, 'max', '/countersign pause');
  await scene.advance(60_000);
  await scene.down();
  await does();
  await github.settle();
  let isUnavailable = true;
  github.fail(({ path }) => isUnavailable && path.startsWith('/app/hook/deliveries'), { status: 500 }, 1_000);
  await scene.up();
  await scene.advance(10_000, 0);
  await scene.say(number, 'max', '/countersign pause');
  isUnavailable = false;
  // Each start looks for missed deliveries.
  await scene.restart();
  await scene.advance(10_000);
}

test('a resume that GitHub could not deliver during an outage does not undo a later pause', {
  tags: 'slow',
}, async () => {
  const { scene, number } = await openWaitingForCi(start);
  let old = 0;
  await missedUntilPaused(scene, number, async () => {
    old = await scene.github.comment(REPO, number, 'mia', '/countersign resume');
  });
  expect(scene.replies(number, old)).toEqual([
    'Nothing was done, because max gave the newer command `/countersign pause`.',
  ]);
  expect(await isPaused(scene)).toBe(true);
});

describe('a button', () => {
  const press = async (scene: Scene, headSha: string, login: string, button: string) =>
    scene.github.clickAction(REPO, scene.check(headSha, 'ship')?.id ?? 0, login, button);
  const buttonReplies = (scene: Scene, number: number) =>
    scene.github
      .comments(REPO, number)
      .filter(({ body }) => body.includes('reply to=button-'))
      .map(({ body }) => body.split('\n').at(-1));

  test('that continues and is pressed seconds after a pause was written does not undo it, and says so', {
    tags: 'slow',
  }, async () => {
    const { scene, number, headSha } = await openWaitingForCi(start);
    await scene.say(number, 'max', '/countersign pause');
    await scene.advance(60_000);
    scene.github.holdDeliveries();
    await press(scene, headSha, 'mia', 'resume');
    await scene.advance(2_000, 0);
    await scene.github.comment(REPO, number, 'max', '/countersign pause');
    await scene.github.releaseDeliveries('reverse');
    await scene.advance(10_000);
    expect(await isPaused(scene)).toBe(true);
    expect(buttonReplies(scene, number)).toEqual([
      'Nothing was done, because max gave the newer command `/countersign pause`.',
    ]);
  });

  test('that GitHub could not deliver counts from its first attempt', { tags: 'slow' }, async () => {
    const { scene, number, headSha } = await openWaitingForCi(start);
    await missedUntilPaused(scene, number, () => press(scene, headSha, 'mia', 'resume'));
    expect(buttonReplies(scene, number)).toHaveLength(1);
    expect(await isPaused(scene)).toBe(true);
  });

  test('that blocks wins over a resume of the same second', { tags: 'slow' }, async () => {
    const { scene, number, headSha } = await openWaitingForCi(start);
    scene.github.holdDeliveries();
    await press(scene, headSha, 'max', 'pause');
    await scene.github.comment(REPO, number, 'max', '/countersign resume');
    await scene.github.releaseDeliveries();
    await scene.advance(10_000);
    expect(await isPaused(scene)).toBe(true);
  });
});

describe('a fired chain whose run starts late', () => {
  /** The command succeeds, and GitHub fails when the run is to start. By the next attempt somebody has done something else. */
  async function fireLate(meanwhile: (scene: Scene, number: number) => Promise<unknown>) {
    const opened = await openWaitingForCi(start);
    const { scene, number } = opened;
    await scene.advance(60_000);
    let reads = 0;
    let done: Promise<unknown> | undefined;
    scene.github.fail(
      ({ method, path }) => {
        if (method !== 'GET' || !path.endsWith(`/pulls/${number}`)) return false;
        reads += 1;
        // The first read is the command's own, the second one is for the run.
        if (reads === 2) done = meanwhile(scene, number);
        return reads === 2;
      },
      { status: 503 },
      1,
    );
    const id = await scene.github.comment(REPO, number, 'mia', '/countersign fire deploy environment=live');
    await scene.settle();
    await done;
    await scene.advance(60_000);
    expect(scene.replies(number, id)).toEqual(['Fired `deploy`.']);
    const replies = scene.github.comments(REPO, number).map(({ body }) => body.split('\n').at(-1) ?? '');
    return { ...opened, said: replies.filter((body) => body.includes('did not start')) };
  }

  test('does not start once it was cancelled, and says so', { tags: 'slow' }, async () => {
    const { scene, said } = await fireLate(({ github }, number) =>
      github.comment(REPO, number, 'max', '/countersign cancel'),
    );
    expect(await scene.runs('deploy')).toEqual([]);
    expect(said).toEqual([
      '`deploy` did not start, because max gave the newer command `/countersign cancel`.',
    ]);
  });

  test('does not start after a newer push, and says so', { tags: 'slow' }, async () => {
    const files = { 'docs/page.txt': 'B\n' };
    const { scene, said } = await fireLate(({ github }) =>
      github.push({ repo: REPO, branch: 'change', author: 'ada', files }),
    );
    expect(await scene.runs('deploy')).toEqual([]);
    expect(said).toEqual([expect.stringMatching(/^`deploy` did not start, because the head moved from /)]);
  });
});
