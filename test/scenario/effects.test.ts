import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import type { Fault } from '../support/github/faults.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  CI_AND_MERGE,
  checkLines,
  countersign,
  gates,
  headline,
  MERGE_ONLY,
  open,
  ownChecks,
  pushAgain,
  react,
  readable,
  reportCi,
  start,
  statusOf,
} from './support.ts';

const isComment = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/comments');

const isMutation = ({ mutates }: { mutates?: readonly string[] }) => mutates !== undefined;

/** Everything that a person sees of a pull request and its commits. */
function seen(harness: Harness, number: number, heads: readonly string[]): unknown {
  const { github } = harness;
  return {
    pullRequest: github.pullRequest(REPO, number),
    comments: github
      .comments(REPO, number)
      .map(({ body, reactions }) => [readable(harness, body), reactions]),
    checks: heads.map((sha) =>
      ownChecks(harness, sha).map(({ title, summary }) => [title, readable(harness, summary ?? '')]),
    ),
    merges: github.merges.length,
  };
}

describe('of writes that share a request', () => {
  const begins = ({ mutates }: { mutates?: readonly string[] }) =>
    mutates?.includes('createCheckRun') ?? false;
  const asks = ({ mutates }: { mutates?: readonly string[] }) => mutates?.includes('addComment') ?? false;

  eachFirstQuick<[string, Fault]>([
    ['whose answer is lost', { after: 'reset' }],
    ['that is broken off after the first of them', { afterFields: 1 }],
    ['that GitHub finishes after the connection broke', { lateMs: 5_000 }],
    ['that GitHub fails at', { status: 502 }],
  ])('each is made once if a request %s, when the run begins and when people are asked', async (_, how) => {
    const harness = await start({ chain: CI_AND_MERGE });
    const { github } = harness;
    github.fail(begins, how, 1);
    github.fail(asks, how, 1);
    const { number, headSha } = await open(harness);
    await reportCi(harness, headSha, 'pending');
    // By then the app uses GraphQL again.
    await harness.advance(90_000);
    await reportCi(harness, headSha, 'success');
    await harness.advance(60_000);
    expect(github.requests.filter(begins)).toHaveLength(1);
    expect(github.requests.filter(asks)).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
    await countersign(harness, number);
    await harness.advance(60_000);
    expect(github.merges).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(gates(harness, headSha)).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
  });

  test('each is made by REST while GitHub’s GraphQL executes none', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    github.fail(isMutation, { status: 200, body: { data: null, errors: [{ message: 'It failed' }] } });
    const { number, headSha } = await open(harness);
    await harness.advance(30_000);
    expect(github.requests.filter(isMutation)).toHaveLength(1);
    await countersign(harness, number);
    await harness.advance(60_000);
    expect(github.merges).toHaveLength(1);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(gates(harness, headSha)).toHaveLength(1);
    expect(approvals(harness, number)).toHaveLength(1);
  });
});

const isCheckRun = ({ method, path }: { method: string; path: string }) =>
  method === 'POST' && path.endsWith('/check-runs');

eachFirstQuick([
  ['check run', isCheckRun],
  ['comment', isComment],
])(
  'a %s that GitHub makes after its connection broke is made once, whatever happens meanwhile',
  async (_, made) => {
    const harness = await start({ chain: MERGE_ONLY });
    const { github } = harness;
    github.fail(made, { lateMs: 5_000 }, 1);
    const { number, headSha } = await open(harness);
    await harness.advance(1_000);
    await github.convertToDraft(REPO, number, 'ada');
    await harness.advance(A_RECHECK);
    await harness.advance(60_000);
    expect(ownChecks(harness, headSha)).toHaveLength(1);
    const markers = github.comments(REPO, number).map(({ body }) => /<!-- countersign:\w+/.exec(body)?.[0]);
    expect(markers).toEqual([...new Set(markers)]);
  },
);

test('an update that GitHub makes after its connection broke does not undo a newer one', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  const isUpdate = ({ method, path }: { method: string; path: string }) =>
    method === 'PATCH' && /comments|check-runs/.test(path);
  github.fail(isUpdate, { lateMs: 5_000 }, 2);
  await reportCi(harness, headSha, 'pending');
  await harness.advance(3_000);
  await reportCi(harness, headSha, 'failure');
  await harness.advance(60_000);
  expect(headline(statusOf(harness, number))).toBe('❌ CI has not passed: 1 of 1 check failed');
  expect(checkLines(harness, headSha)).toEqual(['failure: CI has not passed: 1 of 1 check failed']);
});

test('there is one status comment until the question, and one comment of the question until the end', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  const words: string[] = [];
  const shownIn = new Set<number>();
  const say = async () => {
    await harness.advance(A_RECHECK);
    words.push(headline(statusOf(harness, number)));
    shownIn.add(statusOf(harness, number).id);
  };
  await say();
  await reportCi(harness, headSha, 'pending');
  await say();
  await reportCi(harness, headSha, 'failure');
  await say();
  const second = await pushAgain(harness);
  await say();
  await reportCi(harness, second, 'success');
  await say();
  await countersign(harness, number);
  await say();

  expect(words).toMatchInlineSnapshot(`
    [
      "⏳ Waiting for CI: no check has reported yet",
      "⏳ Waiting for CI: 0 of 1 checks are done",
      "❌ CI has not passed: 1 of 1 check failed",
      "⏳ Waiting for CI: no check has reported yet",
      "✍️ Approve this merge?",
      "🎉 Countersigned and merged",
    ]
  `);
  expect(github.comments(REPO, number).map(({ id }) => id)).toEqual([...shownIn]);
  expect(shownIn.size).toBe(2);
});

test('repeated deliveries change nothing, neither on the way nor at the end', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  const again = async () => {
    const before = seen(harness, number, [headSha]);
    const statuses = [];
    for (const { guid } of [...github.deliveries]) statuses.push(await github.redeliver(guid));
    await harness.advance(A_RECHECK);
    expect(new Set(statuses)).toEqual(new Set([202]));
    expect(seen(harness, number, [headSha])).toEqual(before);
  };
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await again();
  await reportCi(harness, headSha, 'success');
  await harness.advance(A_RECHECK);
  await again();
  await countersign(harness, number);
  await again();
});

test('deliveries in reverse order lead to the same state', { tags: 'slow' }, async () => {
  const states = [];
  for (const order of ['fifo', 'reverse'] as const) {
    const harness = await start({ chain: CI_AND_MERGE });
    const { github } = harness;
    github.holdDeliveries();
    const { number, headSha } = await open(harness);
    await github.addLabel(REPO, number, 'ada', 'docs');
    await github.convertToDraft(REPO, number, 'ada');
    const second = await pushAgain(harness);
    await github.readyForReview(REPO, number, 'ada');
    await reportCi(harness, second, 'success');
    await github.releaseDeliveries(order);
    await harness.advance(A_RECHECK);
    await countersign(harness, number);
    states.push(seen(harness, number, [headSha, second]));
    expect(github.merges).toHaveLength(1);
  }
  expect(states[1]).toEqual(states[0]);
});

test('a close that is delivered after the reopening does not end the new run', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  github.holdDeliveries();
  await github.closePullRequest(REPO, number, 'ada');
  await github.reopenPullRequest(REPO, number, 'ada');
  await github.releaseDeliveries('reverse');
  await harness.advance(A_RECHECK);
  expect(checkLines(harness, headSha).at(-1)).toBe('in_progress: Waiting for a maintainer to countersign');
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('the app waits for a secondary rate limit on a comment, and the comment is written once', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.fail(
    isComment,
    {
      status: 403,
      headers: { 'retry-after': '90' },
      body: {
        message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      },
    },
    1,
  );
  const { number, headSha } = await open(harness);
  await harness.advance(80_000);
  expect(approvals(harness, number)).toEqual([]);
  expect(github.requests.filter(isComment)).toHaveLength(1);

  await harness.advance(20_000);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
  expect(approvals(harness, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
  expect(github.comments(REPO, number)).toHaveLength(1);
});

test('a comment whose answer was lost is not written twice', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.fail(isComment, { after: 'reset' }, 2);
  const { number } = await open(harness);
  await harness.advance(20_000);
  expect(github.comments(REPO, number).map(headline)).toEqual(['✍️ Approve this merge?']);
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
});

test('a check run whose answer was lost is not created twice', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.fail(({ method, path }) => method === 'POST' && path.endsWith('/check-runs'), { after: 'reset' }, 1);
  const { number, headSha } = await open(harness);
  await harness.advance(20_000);
  await countersign(harness, number);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('reads that fail for a while delay everything and lose nothing', { tags: 'slow' }, async () => {
  const harness = await start({ chain: CI_AND_MERGE });
  const { github } = harness;
  github.fail(({ method, path }) => method === 'GET' && path.includes('/pulls/'), { status: 503 }, 3);
  const { number, headSha } = await open(harness);
  await harness.advance(20_000);
  await reportCi(harness, headSha, 'success');
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
  expect(github.comments(REPO, number)).toHaveLength(2);
});

test.each([
  ['CI', CI_AND_MERGE, '/status'],
  ['a countersign', MERGE_ONLY, '/issues/comments/'],
])(
  'an outage of GitHub of half an hour ends no run that waits for %s',
  { tags: 'slow' },
  async (_, chain, asks) => {
    const harness = await start({ chain });
    const { github } = harness;
    const { number, headSha } = await open(harness);
    await reportCi(harness, headSha, 'pending');
    const concerns = (path: string) => path.includes(asks) || path === '/graphql';
    const isRead = (method: string, path: string) => method === 'GET' || path === '/graphql';
    const back = github.fail(({ method, path }) => isRead(method, path) && concerns(path), { status: 503 });
    await harness.advance(1_800_000);
    expect(checkLines(harness, headSha)[0]).toBe('in_progress: Waiting for GitHub, which does not answer');

    back();
    await reportCi(harness, headSha, 'success');
    await harness.advance(180_000);
    await react(harness, number, 'mia');
    await harness.advance(180_000);
    expect(github.merges).toHaveLength(1);
    expect(approvals(harness, number).map(headline)).toEqual(['🎉 Countersigned and merged']);
  },
);

test('while GitHub fails at the merge, nobody is asked to countersign again', { tags: 'slow' }, async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  const { number, headSha } = await open(harness);
  const back = github.fail(({ method }) => method === 'PUT', { status: 500 });
  await react(harness, number, 'mia');
  await harness.advance(150_000);
  expect(checkLines(harness, headSha)).toEqual([
    'in_progress: Countersigned by mia: waiting for GitHub, which does not answer',
  ]);

  back();
  await harness.advance(180_000);
  expect(github.merges).toHaveLength(1);
});
