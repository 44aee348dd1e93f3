import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { AT, REPO, type Received, startReceiver, startWorld, type World } from './support.ts';

// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue,
// https://docs.github.com/en/webhooks/webhook-events-and-payloads#merge_group and `merge-group` in GitHub's OpenAPI
// description; names of branches:
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#merge_group;
// GraphQL: `MergeQueue` and `EnqueuePullRequestInput` in GitHub's public schema.

const manifest = parse(readFileSync(new URL('../../app.yml', import.meta.url), 'utf8'));

interface Queueing extends World {
  heads: string[];
  green: (sha: string) => Promise<number>;
  red: (sha: string) => Promise<number>;
  received: Received[];
  now: { at: Date };
}

/** Pull requests whose required check is green, for a branch with a merge queue. */
async function startQueueing(
  queue: Parameters<World['github']['addRuleset']>[1]['mergeQueue'] = {},
  count = 3,
): Promise<Queueing> {
  const now = { at: new Date('2026-03-02T09:00:00Z') };
  const world = await startWorld({
    now: () => now.at,
    events: [...manifest.default_events, 'merge_group'],
    permissions: { ...manifest.default_permissions, merge_queues: 'write' },
  });
  const { github } = world;
  const report = (sha: string, conclusion: 'success' | 'failure') =>
    github.reportCheck(REPO, sha, { name: 'build', status: 'completed', conclusion });
  const green = (sha: string) => report(sha, 'success');
  const red = (sha: string) => report(sha, 'failure');
  github.addRuleset(REPO, { checks: ['build'], mergeQueue: queue });
  const heads: string[] = [];
  for (let number = 1; number <= count; number++) {
    const { headSha } = await github.openPullRequest({
      repo: REPO,
      author: 'eve',
      branch: `topic-${number}`,
      title: `Change ${number}`,
      files: { [`${number}.md`]: `${number}\n` },
    });
    await green(headSha);
    heads.push(headSha);
  }
  return { ...world, heads, green, red, received: await startReceiver(github), now };
}

interface Entry {
  position: number;
  state: string;
  headCommit: { oid: string } | null;
  baseCommit: { oid: string } | null;
  pullRequest: { number: number; headRefOid: string; baseRefName: string };
}

async function entriesOf({ octokit }: World): Promise<Entry[]> {
  const answer = await octokit.graphql<{ repository: { mergeQueue: { entries: { nodes: Entry[] } } } }>(
    `query ($owner: String!, $name: String!, $branch: String!) {
      repository(owner: $owner, name: $name) {
        mergeQueue(branch: $branch) {
          entries(first: 50) {
            nodes { position state headCommit { oid } baseCommit { oid }
              pullRequest { number headRefOid baseRefName } }
          }
        }
      }
    }`,
    { owner: AT.owner, name: AT.repo, branch: 'main' },
  );
  return answer.repository.mergeQueue.entries.nodes;
}

async function enqueueAsApp({ octokit }: World, number: number, expectedHeadOid?: string) {
  const { data } = await octokit.pulls.get({ ...AT, pull_number: number });
  return octokit.graphql(
    `mutation ($input: EnqueuePullRequestInput!) {
      enqueuePullRequest(input: $input) { mergeQueueEntry { id position } }
    }`,
    { input: { pullRequestId: data.node_id, ...(expectedHeadOid ? { expectedHeadOid } : {}) } },
  );
}

const groupsIn = (received: readonly Received[]) =>
  received
    .filter(({ event }) => event === 'merge_group')
    .map(({ body }) => JSON.parse(body))
    .map(({ action, reason, merge_group: group }) => ({ action, reason, ...group }));

type Catalogue = { name: string; examples: Record<string, unknown>[] }[];

/** The names of its members and of theirs, with the types of their values. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

it('nobody merges past the queue', async () => {
  const world = await startQueueing();
  await expect(world.octokit.pulls.merge({ ...AT, pull_number: 1 })).rejects.toMatchObject({
    status: 405,
    response: {
      data: {
        message: 'Repository rule violations found\n\nChanges must be made through the merge queue\n\n',
      },
    },
  });
  expect(await world.github.pressMergeButton(REPO, 1, 'maya')).toMatchObject({ status: 405 });
});

it('an entry is checked on a branch of its own, on top of the entries before it', async () => {
  const world = await startQueueing();
  const main = world.github.branch(REPO, 'main');
  await enqueueAsApp(world, 1, world.heads[0]);
  await world.github.enqueue(REPO, 2, 'walt');
  const [first, second] = groupsIn(world.received);
  expect(first).toMatchObject({
    action: 'checks_requested',
    base_sha: main,
    base_ref: 'refs/heads/main',
    head_ref: `refs/heads/gh-readonly-queue/main/pr-1-${main}`,
    head_commit: { id: first.head_sha, message: expect.stringContaining('#1') },
  });
  expect(second).toMatchObject({
    base_sha: first.head_sha,
    head_ref: `refs/heads/gh-readonly-queue/main/pr-2-${first.head_sha}`,
  });
  expect(world.github.fileAt(REPO, second.head_sha, '1.md')).toBe('1\n');
  const { installation, repository, sender } = JSON.parse(
    world.received.find(({ event }) => event === 'merge_group')?.body ?? '{}',
  );
  expect([installation.id, repository.full_name, sender.type]).toEqual([world.installation, REPO, 'Bot']);
});

it("a merge group's webhook has the shape of GitHub's own example", async () => {
  const [example] =
    (createRequire(import.meta.url)('@octokit/webhooks-examples') as Catalogue).find(
      ({ name }) => name === 'merge_group',
    )?.examples ?? [];
  const world = await startQueueing({}, 1);
  await world.github.enqueue(REPO, 1, 'walt');
  const sent = JSON.parse(world.received.find(({ event }) => event === 'merge_group')?.body ?? '{}');
  expect(Object.keys(sent).sort()).toEqual(Object.keys(example ?? {}).sort());
  expect(shapeOf(sent.merge_group)).toEqual(shapeOf(example?.merge_group));
});

it('GraphQL lists the queue in order, with the commits that are checked', async () => {
  const world = await startQueueing();
  await world.github.enqueue(REPO, 2, 'walt');
  await world.github.enqueue(REPO, 1, 'walt');
  const [first, second] = groupsIn(world.received);
  expect(await entriesOf(world)).toEqual([
    {
      position: 1,
      state: 'AWAITING_CHECKS',
      headCommit: { oid: first.head_sha },
      baseCommit: { oid: first.base_sha },
      pullRequest: { number: 2, headRefOid: world.heads[1], baseRefName: 'main' },
    },
    {
      position: 2,
      state: 'AWAITING_CHECKS',
      headCommit: { oid: second.head_sha },
      baseCommit: { oid: first.head_sha },
      pullRequest: { number: 1, headRefOid: world.heads[0], baseRefName: 'main' },
    },
  ]);
});

it('a green group is merged by whoever enqueued it, and its branch is deleted', async () => {
  const world = await startQueueing({ method: 'squash' });
  await world.github.enqueue(REPO, 1, 'walt');
  const [group] = groupsIn(world.received);
  await world.green(group.head_sha);
  expect(world.github.branch(REPO, 'main')).toBe(group.head_sha);
  expect(world.github.pullRequest(REPO, 1)).toMatchObject({ merged: true, mergedBy: 'walt' });
  expect(world.github.branch(REPO, group.head_ref.slice('refs/heads/'.length))).toBeUndefined();
  expect(groupsIn(world.received)[1]).toMatchObject({ action: 'destroyed', reason: 'merged' });
  const told = world.received.map(({ event, body }) => `${event}.${JSON.parse(body).action}`);
  expect(told).toEqual(
    expect.arrayContaining(['pull_request.enqueued', 'pull_request.dequeued', 'pull_request.closed']),
  );
});

it('a later entry is merged after an earlier one, and its group stays', async () => {
  const world = await startQueueing();
  await world.github.enqueue(REPO, 1, 'walt');
  await world.github.enqueue(REPO, 2, 'walt');
  const [first, second] = groupsIn(world.received);
  await world.green(second.head_sha);
  expect(world.github.merges).toEqual([]);
  await world.green(first.head_sha);
  expect(world.github.merges.map(({ number, via }) => `${number} ${via}`)).toEqual(['1 queue', '2 queue']);
  expect(world.github.branch(REPO, 'main')).toBe(second.head_sha);
});

it('a red group removes its pull request, and those behind it are checked again without it', async () => {
  const world = await startQueueing();
  await world.github.enqueue(REPO, 1, 'walt');
  await world.github.enqueue(REPO, 2, 'walt');
  const [first] = groupsIn(world.received);
  await world.red(first.head_sha);
  const later = groupsIn(world.received).slice(2);
  expect(later.map(({ action, reason }) => [action, reason])).toEqual([
    ['destroyed', 'dequeued'],
    ['destroyed', 'invalidated'],
    ['checks_requested', undefined],
  ]);
  expect(later[2].base_sha).toBe(first.base_sha);
  const dequeued = world.received
    .map(({ body }) => JSON.parse(body))
    .find(({ action }) => action === 'dequeued');
  expect(dequeued).toMatchObject({ number: 1, reason: 'CI_FAILURE' });
});

it('a group whose checks nobody reports is given up after an hour', async () => {
  const world = await startQueueing();
  await world.github.enqueue(REPO, 1, 'walt');
  world.now.at = new Date(world.now.at.getTime() + 59 * 60_000);
  await world.github.settle();
  expect(await entriesOf(world)).toHaveLength(1);
  world.now.at = new Date(world.now.at.getTime() + 60_000);
  await world.github.settle();
  expect(await entriesOf(world)).toEqual([]);
  expect(world.github.pullRequest(REPO, 1).merged).toBe(false);
});

it('if only the last group counts, a green one includes the red ones before it', async () => {
  const world = await startQueueing({ groupingStrategy: 'HEADGREEN' });
  await world.github.enqueue(REPO, 1, 'walt');
  await world.github.enqueue(REPO, 2, 'walt');
  const [first, second] = groupsIn(world.received);
  await world.red(first.head_sha);
  expect(world.github.merges).toEqual([]);
  await world.green(second.head_sha);
  expect(world.github.merges.map(({ number }) => number)).toEqual([1, 2]);
});

it('a push to the head removes the pull request from the queue', async () => {
  const world = await startQueueing();
  await world.github.enqueue(REPO, 1, 'walt');
  await world.github.push({ repo: REPO, branch: 'topic-1', author: 'eve', files: { evil: 'x' } });
  expect(await entriesOf(world)).toEqual([]);
  expect(groupsIn(world.received).at(-1)).toMatchObject({ action: 'destroyed', reason: 'dequeued' });
});

it('a conflict with an earlier entry removes a pull request from the queue', async () => {
  const world = await startQueueing({}, 1);
  const { headSha } = await world.github.openPullRequest({
    repo: REPO,
    author: 'eve',
    branch: 'other',
    title: 'Other',
    files: { '1.md': 'another\n' },
  });
  await world.green(headSha);
  await world.github.enqueue(REPO, 1, 'walt');
  await world.github.enqueue(REPO, 2, 'walt');
  expect((await entriesOf(world)).map(({ pullRequest }) => pullRequest.number)).toEqual([1]);
});

it('auto-merge adds a pull request to the queue once its head is green', async () => {
  const world = await startQueueing();
  world.github.allowAutoMerge(REPO);
  const head = await world.github.push({ repo: REPO, branch: 'topic-1', author: 'walt', files: { y: '' } });
  await world.github.enableAutoMerge(REPO, 1, 'walt');
  expect(await entriesOf(world)).toEqual([]);
  await world.green(head);
  expect((await entriesOf(world)).map(({ pullRequest }) => pullRequest.number)).toEqual([1]);
});

it('a pull request can be removed from the queue', async () => {
  const world = await startQueueing();
  await enqueueAsApp(world, 1);
  const { data } = await world.octokit.pulls.get({ ...AT, pull_number: 1 });
  await world.octokit.graphql(
    'mutation ($id: ID!) { dequeuePullRequest(input: { id: $id }) { clientMutationId } }',
    { id: data.node_id },
  );
  expect(await entriesOf(world)).toEqual([]);
});

// The messages: https://github.com/cli/cli/issues/8746 and what tools that enqueue through the API match on.
it.each<[string, string, (world: Queueing) => unknown]>([
  [
    'whose required check is missing',
    'Pull request Required status check "build" is expected.',
    ({ github }) => github.push({ repo: REPO, branch: 'topic-1', author: 'eve', files: { y: '' } }),
  ],
  ['that is queued', 'Pull request is already queued', ({ github }) => github.enqueue(REPO, 1, 'walt')],
  ['that is a draft', 'Pull Request is still a draft', ({ github }) => github.convertToDraft(REPO, 1, 'eve')],
])('a pull request %s does not enter the queue', async (_, sentence, before) => {
  const world = await startQueueing();
  await before(world);
  await expect(enqueueAsApp(world, 1)).rejects.toMatchObject({
    errors: [{ type: 'UNPROCESSABLE', message: sentence }],
  });
});

it('a head that moved does not enter the queue', async () => {
  const world = await startQueueing();
  await expect(enqueueAsApp(world, 1, world.heads[1])).rejects.toThrow('expected head oid does not match');
});

it('an app that may not write contents cannot enqueue', async () => {
  const world = await startWorld({ permissions: { ...manifest.default_permissions, contents: 'read' } });
  world.github.addRuleset(REPO, { mergeQueue: {} });
  await world.github.openPullRequest({
    repo: REPO,
    author: 'eve',
    branch: 't',
    title: 'T',
    files: { x: '' },
  });
  await expect(enqueueAsApp(world, 1)).rejects.toMatchObject({ errors: [{ type: 'FORBIDDEN' }] });
});

it('an app gets only the webhooks that it subscribes to', async () => {
  const world = await startWorld({ events: ['push'] });
  const received = await startReceiver(world.github);
  await world.github.openPullRequest({
    repo: REPO,
    author: 'eve',
    branch: 't',
    title: 'T',
    files: { x: '' },
  });
  expect(received.map(({ event }) => event)).toEqual(['push']);
});

it('GitHub rejects an App that subscribes to merge groups without the permission for them', async () => {
  await expect(startWorld({ events: ['merge_group'], permissions: { metadata: 'read' } })).rejects.toThrow(
    'merge_queues',
  );
});

it.each([
  ['a field that the schema does not have', '{ repository(owner: "acme", name: "shop") { stars } }', 'stars'],
  [
    'a list without a length',
    '{ repository(owner: "acme", name: "shop") { mergeQueue { entries { totalCount } } } }',
    'first',
  ],
  [
    'a repository that does not exist',
    '{ repository(owner: "acme", name: "none") { id } }',
    'Could not resolve',
  ],
])('GraphQL refuses %s', async (_, query, sentence) => {
  const world = await startQueueing({}, 0);
  await expect(world.octokit.graphql(query)).rejects.toThrow(sentence);
});
