import { expect, it } from 'vitest';
import { toEvents } from '../../src/entrypoints/webhook/event/from-webhook.ts';
import { AT, openChange, REPO, startReceiver, startWorld } from './support.ts';

// https://docs.github.com/en/webhooks/webhook-events-and-payloads

/** Payloads of one event, in order of arrival. */
async function start() {
  const world = await startWorld();
  const received = await startReceiver(world.github);
  const of = (event: string) =>
    received.filter((one) => one.event === event).map(({ body }) => JSON.parse(body));
  return { ...world, received, of };
}

it('every webhook has the fields that the app reads', async () => {
  const { github, octokit, received } = await start();
  const { headSha } = await openChange(github);
  await octokit.checks.create({ ...AT, name: 'review', head_sha: headSha, external_id: 'run_1' });
  await github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', conclusion: 'success' });
  await github.setStatus(REPO, headSha, { context: 'lint', state: 'success' });
  await github.comment(REPO, 1, 'walt', '/countersign status');
  await github.review(REPO, 1, 'walt', 'APPROVED');
  const thread = await github.beginConversation(REPO, 1, 'walt', 'x');
  await github.resolveConversation(REPO, 1, thread, 'eve');
  await github.addLabel(REPO, 1, 'walt', 'ready');
  await github.createIssue(REPO, 'eve', 'Help');
  await github.convertToDraft(REPO, 1, 'eve');
  await github.readyForReview(REPO, 1, 'eve');
  await github.pressMergeButton(REPO, 1, 'walt');
  await github.archiveRepository(REPO);
  github.suspendApp('acme');
  await github.settle();
  const readings = received.map(({ event, body }) => ({
    event,
    ...toEvents(event, JSON.parse(body), { appId: github.app.id }),
  }));
  expect(new Set(readings.map(({ event }) => event)).size).toBeGreaterThan(8);
  expect(readings.filter(({ kind }) => kind === 'unreadable')).toEqual([]);
});

// https://docs.github.com/en/rest/checks/suites says so in a note; https://github.com/nearform/lastlight/pull/283 measured it.
it('a check run names its pull requests, except those whose head is in a fork', async () => {
  const { github, of } = await start();
  const own = await openChange(github);
  const fork = await github.openPullRequest({
    repo: REPO,
    author: 'eve',
    branch: 'topic',
    title: 'From a fork',
    files: { y: '' },
    fork: 'eve/shop',
  });
  for (const { headSha } of [own, fork])
    await github.reportCheck(REPO, headSha, { name: 'build', status: 'queued' });
  const named = of('check_run').map(({ check_run }) =>
    check_run.pull_requests.map(({ number }: { number: number }) => number),
  );
  expect(named).toEqual([[1], []]);
});

// https://github.com/github/branch-deploy/issues/315
it('a comment on a pull request says that it is one and when it was written, and does not name the head', async () => {
  const { github, of } = await start();
  const { headSha } = await openChange(github);
  await github.comment(REPO, 1, 'walt', 'Hello');
  const [payload] = of('issue_comment');
  expect(payload).toMatchObject({
    action: 'created',
    issue: { number: 1, pull_request: expect.anything() },
    comment: { user: { login: 'walt', type: 'User' }, created_at: expect.stringMatching(/Z$/) },
  });
  expect(JSON.stringify(payload)).not.toContain(headSha);
});

it('a conversation that is resolved names its pull request and its comments', async () => {
  const { github, of } = await start();
  await openChange(github);
  const id = await github.beginConversation(REPO, 1, 'walt', 'x');
  await github.resolveConversation(REPO, 1, id, 'eve');
  await github.resolveConversation(REPO, 1, id, 'eve', false);
  expect(of('pull_request_review_thread')).toMatchObject([
    {
      action: 'resolved',
      pull_request: { number: 1 },
      thread: { comments: [{ id }] },
      sender: { login: 'eve' },
    },
    { action: 'unresolved', pull_request: { number: 1 } },
  ]);
});

it('a reply in a conversation names the comment with which that began, and who replied', async () => {
  const { github, of } = await start();
  await openChange(github);
  const first = await github.beginConversation(REPO, 1, 'walt', 'x');
  const id = await github.replyInConversation(REPO, 1, first, 'eve', 'Is that so?');
  expect(of('pull_request_review_comment')).toMatchObject([
    {
      action: 'created',
      pull_request: { number: 1 },
      comment: { id, in_reply_to_id: first, body: 'Is that so?', user: { login: 'eve', type: 'User' } },
    },
  ]);
});

it('a status names its commit', async () => {
  const { github, of } = await start();
  const { headSha } = await openChange(github);
  await github.setStatus(REPO, headSha, { context: 'lint', state: 'failure' });
  expect(of('status')).toMatchObject([{ sha: headSha, context: 'lint', state: 'failure' }]);
});

it('a push names the paths that it changed, and whether it was forced', async () => {
  const { github, of } = await start();
  const before = github.branch(REPO, 'main');
  await github.push({ repo: REPO, branch: 'main', author: 'maya', files: { added: 'x', 'README.md': null } });
  await github.push({ repo: REPO, branch: 'main', author: 'maya', forceTo: String(before) });
  const [added, forced] = of('push');
  expect(added).toMatchObject({ before, forced: false, deleted: false, pusher: { name: 'maya' } });
  expect(added.commits).toMatchObject([{ added: ['added'], removed: ['README.md'] }]);
  expect(forced).toMatchObject({ after: before, forced: true });
});

it('another base is an edit that names the earlier base', async () => {
  const { github, of } = await start();
  await openChange(github);
  await github.push({ repo: REPO, branch: 'release', author: 'maya' });
  await github.editPullRequest(REPO, 1, 'eve', { base: 'release' });
  expect(of('pull_request').at(-1)).toMatchObject({
    action: 'edited',
    changes: { base: { ref: { from: 'main' } } },
    pull_request: { base: { ref: 'release' } },
  });
});

it('a close says whether it was a merge', async () => {
  const { github, of } = await start();
  await openChange(github);
  await github.closePullRequest(REPO, 1, 'eve');
  await github.reopenPullRequest(REPO, 1, 'eve');
  await github.pressMergeButton(REPO, 1, 'walt');
  const closed = of('pull_request').filter(({ action }) => action === 'closed');
  expect(closed.map(({ pull_request }) => pull_request.merged)).toEqual([false, true]);
});

it('a suspended installation gets that webhook, and no further ones', async () => {
  const { github, received } = await start();
  github.suspendApp('acme');
  await openChange(github);
  expect(received.map(({ event, body }) => `${event}.${JSON.parse(body).action}`)).toEqual([
    'installation.suspend',
  ]);
});
