import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import { chainComments, flowChain } from './support-chains.ts';
import { CI_AND_MERGE, only, scenes, UPDATES_SHOWN_MS } from './support-scene.ts';

const start = scenes();

test('opening an issue fires the chains for issues, once', async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { issue: "{{ trigger.issue_number }}", body: "Welcome, {{ trigger.author }}." }',
      '{ event: issue.created }',
    ),
  );
  const number = await scene.github.createIssue(REPO, 'otto', 'A question');
  await scene.settle();
  const delivery = scene.github.deliveries.findLast(({ event }) => event === 'issues');
  const again = scene.github.signedDelivery('issues', delivery?.payload);
  await fetch(`${scene.app.url}/api/github/webhooks`, { method: 'POST', ...again });
  await scene.advance(UPDATES_SHOWN_MS);
  expect(chainComments(scene, number)).toEqual(['Welcome, otto.']);
});

// There is no commit that a check run could be about.
test('a chain for an issue leaves no failed effects', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('action: gh-label, with: { labels: [new] }', '{ event: issue.created }'),
  );
  const number = await scene.github.createIssue(REPO, 'otto', 'A question');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.github.labels(REPO, number)).toEqual(['new']);
  expect(await scene.app.storage.read.effects.list({ status: 'failed', limit: 10 })).toEqual([]);
  expect(scene.errors).toEqual([]);
});

test('a push fires the chains for the files that it changes', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('skill: ci', '{ event: file.changed, filter: { base: main, paths: "docs/**" } }'),
  );
  await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'src/a.ts': 'export {};\n' },
  });
  await scene.github.push({ repo: REPO, branch: 'topic', author: 'mia', files: { 'docs/a.md': 'a\n' } });
  await scene.settle();
  expect(await scene.runs('flow')).toEqual([]);
  const sha = await scene.github.push({
    repo: REPO,
    branch: 'main',
    author: 'mia',
    files: { 'docs/a.md': 'b\n' },
  });
  await scene.advance(40_000);
  expect(await scene.runs('flow')).toMatchObject([{ headSha: sha, pullRequest: null, status: 'completed' }]);
  expect(scene.check(sha, 'flow')?.conclusion).toBe('success');
});

test('a merge fires the chains for merges, once', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "Merged into {{ trigger.base }}." }',
      '{ event: pr.merged }',
    ),
  );
  const { number } = await scene.open();
  await scene.github.mergePullRequest(REPO, number, 'mia');
  await scene.settle();
  const closed = scene.github.deliveries.findLast(
    ({ event, action }) => event === 'pull_request' && action === 'closed',
  );
  await scene.github.redeliver(closed?.guid ?? '');
  await scene.settle();
  expect(chainComments(scene, number)).toEqual(['Merged into main.']);
});

test('the app’s own merge also fires the chains for merges', { tags: 'slow' }, async () => {
  const merged =
    'name: merged\ntrigger: { event: pr.merged }\nsteps: [{ action: gh-label, with: { labels: [shipped] } }]\n';
  const scene = await start(only({ ship: CI_AND_MERGE, merged }));
  const { number, headSha } = await scene.open();
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.settle();
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  await scene.github.react(REPO, question?.id ?? 0, 'mia', 'rocket');
  await scene.advance(10_000);
  expect(scene.github.labels(REPO, number)).toEqual(['shipped']);
});

test('closing a pull request without a merge fires the chains for that, and not those for merges', {
  tags: 'slow',
}, async () => {
  const closed =
    'name: closed\ntrigger: { event: pr.closed }\nsteps: [{ action: gh-label, with: { labels: [closed] } }]\n';
  const merged =
    'name: merged\ntrigger: { event: pr.merged }\nsteps: [{ action: gh-label, with: { labels: [merged] } }]\n';
  const scene = await start(only({ closed, merged }));
  const { number } = await scene.open();
  await scene.github.closePullRequest(REPO, number, 'ada');
  await scene.settle();
  expect(scene.github.labels(REPO, number)).toEqual(['closed']);
});

test('closing a pull request again, after it was opened again, fires again, and a redelivery or a comment does not', {
  tags: 'slow',
}, async () => {
  const closed =
    'name: closed\ntrigger: { event: pr.closed }\nsteps: [{ action: gh-label, with: { labels: [closed] } }]\n';
  const scene = await start(only({ closed }));
  const { number } = await scene.open();
  const close = async () => {
    await scene.github.closePullRequest(REPO, number, 'ada');
    await scene.advance(10_000);
  };
  await close();
  const delivery = scene.github.deliveries.findLast(({ event }) => event === 'pull_request');
  await scene.github.redeliver(delivery?.guid ?? '');
  await scene.say(number, 'ada', 'I will open it again.');
  // The hourly reconciliation sees that it has changed.
  await scene.advance(2 * 3_600_000);
  expect(await scene.runs('closed')).toHaveLength(1);
  await scene.github.reopenPullRequest(REPO, number, 'ada');
  await scene.advance(10_000);
  await close();
  expect(await scene.runs('closed')).toHaveLength(2);
});

test('a chain that is fired by hand waits for nothing else', { tags: 'slow' }, async () => {
  const scene = await start(
    flowChain('action: gh-label, with: { labels: ["{{ trigger.input_name }}"] }', '{ event: manual.fired }'),
  );
  const { number, headSha } = await scene.open();
  expect(await scene.runs('flow')).toEqual([]);
  await scene.say(number, 'mia', '/countersign fire flow name=blue');
  expect(scene.github.labels(REPO, number)).toEqual(['blue']);
  expect(scene.check(headSha, 'flow')?.conclusion).toBe('success');
});

test('inputs cannot override the values of the trigger', async () => {
  const scene = await start(
    flowChain(
      'action: gh-comment, with: { body: "{{ trigger.author }} {{ trigger.input_author }}" }',
      '{ event: manual.fired }',
    ),
  );
  const { number } = await scene.open();
  await scene.say(number, 'mia', '/countersign fire flow author=mallory');
  expect(chainComments(scene, number)).toEqual(['ada mallory']);
});

eachFirstQuick([
  [
    'paths',
    'paths: "docs/**"',
    { files: { 'docs/a/b.md': 'b\n' } },
    { files: { 'src/docs.ts': 'export {};\n' } },
  ],
  ['head', 'head: "release/*"', { branch: 'release/1' }, { branch: 'release/1/2' }],
  ['author', 'author: [ADA]', { author: 'ada' }, { author: 'will' }],
  ['drafts', 'draft: false', { draft: false }, { draft: true }],
  ['base', 'base: "{{ repo.default_branch }}"', { base: 'main' }, { base: 'next' }],
])('a filter on %s lets a chain run only if it matches', async (_key, filter, matching, other) => {
  const scene = await start(
    flowChain('action: gh-label, with: { labels: [ran] }', `{ event: pr.opened, filter: { ${filter} } }`),
  );
  await scene.github.push({ repo: REPO, branch: 'next', author: 'mia' });
  const yes = await scene.open({ branch: 'yes', ...matching });
  const no = await scene.open({ branch: 'no', ...other });
  expect(scene.github.labels(REPO, yes.number)).toEqual(['ran']);
  expect(scene.github.labels(REPO, no.number)).toEqual([]);
});

test('adding a label starts a chain that filters on it, and removing the label ends the run', async () => {
  const scene = await start(flowChain('skill: ci', '{ event: pr.opened, filter: { labels: [ship-*] } }'));
  const { number, headSha } = await scene.open();
  expect(await scene.runs('flow')).toEqual([]);
  await scene.github.addLabel(REPO, number, 'will', 'Ship-it');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.check(headSha, 'flow')?.status).toBe('in_progress');
  await scene.github.removeLabel(REPO, number, 'will', 'Ship-it');
  await scene.advance(UPDATES_SHOWN_MS);
  expect(scene.check(headSha, 'flow')).toMatchObject({ conclusion: 'skipped' });
});

test('a chain whose action lacks a value, because nobody gave the input, says so and merges nothing', {
  tags: 'slow',
}, async () => {
  const scene = await start(flowChain('action: gh-comment, with: { body: "{{ trigger.input_text }}" }'));
  const { number, headSha } = await scene.open();
  expect(chainComments(scene, number)).toEqual([]);
  expect(scene.check(headSha, 'flow')).toMatchObject({ conclusion: 'failure' });
});
