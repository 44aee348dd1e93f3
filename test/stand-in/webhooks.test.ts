import { verify } from '@octokit/webhooks-methods';
import { expect, it } from 'vitest';
import { AT, appClientOf, openChange, REPO, startReceiver, startWorld } from './support.ts';

const names = (received: readonly { event: string; body: string }[]): string[] =>
  received.map(({ event, body }) => {
    const { action } = JSON.parse(body);
    return action ? `${event}.${action}` : event;
  });

it('opening, pushing and merging send webhooks in order', async () => {
  const { github, octokit } = await startWorld();
  const received = await startReceiver(github);
  await openChange(github);
  await github.push({ repo: REPO, branch: 'topic', author: 'eve', files: { x: 'x' } });
  await octokit.pulls.merge({ ...AT, pull_number: 1 });
  await github.settle();
  expect(names(received)).toEqual([
    'push',
    'check_suite.requested',
    'pull_request.opened',
    'push',
    'check_suite.requested',
    'pull_request.synchronize',
    'push',
    'check_suite.requested',
    'pull_request.closed',
  ]);
});

it('a delivery is signed and named as on GitHub', async () => {
  const { github } = await startWorld();
  const received = await startReceiver(github);
  await github.createIssue(REPO, 'eve', 'Help');
  const [first] = received;
  if (!first) throw new Error('Nothing was received.');
  const { headers, body } = first;
  expect(await verify(github.app.webhookSecret, body, String(headers['x-hub-signature-256']))).toBe(true);
  expect(headers).toMatchObject({
    'x-github-event': 'issues',
    'x-github-delivery': github.deliveries[0]?.guid,
    'x-github-hook-installation-target-type': 'integration',
    'x-github-hook-installation-target-id': String(github.app.id),
    'content-type': 'application/json',
  });
});

it('synchronize has the heads before and after', async () => {
  const { github } = await startWorld();
  const { headSha } = await openChange(github);
  const received = await startReceiver(github);
  const after = await github.push({ repo: REPO, branch: 'topic', author: 'eve', files: { x: 'x' } });
  const synchronize = received
    .map(({ body }) => JSON.parse(body))
    .find(({ action }) => action === 'synchronize');
  expect(synchronize).toMatchObject({ before: headSha, after, pull_request: { head: { sha: after } } });
});

it('reactions send no webhook', async () => {
  const { github } = await startWorld();
  await openChange(github);
  const id = await github.comment(REPO, 1, 'eve', 'hello');
  const received = await startReceiver(github);
  await github.unreact(REPO, id, await github.react(REPO, id, 'maya', 'rocket'));
  await github.settle();
  expect(received).toEqual([]);
});

it('repositories without the app send no webhook', async () => {
  const { github } = await startWorld();
  github.addRepository({ owner: 'outside', name: 'open', files: {} });
  const received = await startReceiver(github);
  await github.createIssue('outside/open', 'eve', 'Help');
  expect(received).toEqual([]);
});

it('a payload shows the state at the time of its event', async () => {
  const { github } = await startWorld();
  const received = await startReceiver(github);
  github.holdDeliveries();
  await openChange(github);
  await github.editPullRequest(REPO, 1, 'eve', { title: 'Another' });
  await github.releaseDeliveries();
  const opened = received.map(({ body }) => JSON.parse(body)).find(({ action }) => action === 'opened');
  expect(opened.pull_request.title).toBe('Change it');
});

it('held deliveries can arrive in reverse', async () => {
  const { github } = await startWorld();
  await openChange(github);
  const received = await startReceiver(github);
  github.holdDeliveries();
  await github.comment(REPO, 1, 'eve', 'one');
  await github.convertToDraft(REPO, 1, 'eve');
  expect(received).toEqual([]);
  await github.releaseDeliveries('reverse');
  expect(names(received)).toEqual(['pull_request.converted_to_draft', 'issue_comment.created']);
});

it('a redelivery has the same GUID', async () => {
  const { github } = await startWorld();
  const received = await startReceiver(github);
  await github.createIssue(REPO, 'eve', 'Help');
  const guid = github.deliveries[0]?.guid ?? '';
  expect(await github.redeliver(guid)).toBe(200);
  expect(received.map(({ headers }) => headers['x-github-delivery'])).toEqual([guid, guid]);
  expect(github.deliveries).toMatchObject([{ guid, attempts: 2 }]);
});

it('a delivery that a receiver missed is listed as failed and can be requested again', async () => {
  const { github } = await startWorld();
  github.setWebhookUrl('http://127.0.0.1:9/');
  await github.createIssue(REPO, 'eve', 'Help');
  const received = await startReceiver(github);
  const app = appClientOf(github);
  const { data } = await app.apps.listWebhookDeliveries();
  expect(data).toMatchObject([{ event: 'issues', action: 'opened', status_code: 0, redelivery: false }]);
  await app.apps.redeliverWebhookDelivery({ delivery_id: data[0]?.id ?? 0 });
  await github.settle();
  expect(names(received)).toEqual(['issues.opened']);
  const again = await app.apps.listWebhookDeliveries();
  expect(again.data).toMatchObject([{ status_code: 200, redelivery: true }, { status_code: 0 }]);
});

it('the list of deliveries is paged by a cursor', async () => {
  const { github } = await startWorld();
  await startReceiver(github);
  for (const title of ['a', 'b', 'c']) await github.createIssue(REPO, 'eve', title);
  const app = appClientOf(github);
  const first = await app.apps.listWebhookDeliveries({ per_page: 2 });
  const cursor = /cursor=([^>&]+)/.exec(first.headers.link ?? '')?.[1] ?? '';
  const second = await app.apps.listWebhookDeliveries({ per_page: 2, cursor });
  expect([first.data.length, second.data.length, second.headers.link]).toEqual([2, 1, undefined]);
});

it('deliveries older than three days are gone', async () => {
  let now = new Date('2030-01-01T00:00:00Z');
  const { github } = await startWorld({ now: () => now });
  await startReceiver(github);
  await github.createIssue(REPO, 'eve', 'Help');
  now = new Date('2030-01-04T00:00:01Z');
  expect((await appClientOf(github).apps.listWebhookDeliveries()).data).toEqual([]);
});
