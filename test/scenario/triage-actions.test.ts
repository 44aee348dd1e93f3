import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { open, ownCheck, start } from './support.ts';

const chain = (step: string) => `name: pr-review
trigger: { event: pr.opened }
steps: [{ ${step} }]
`;

const onIssue = (step: string) => ({
  files: {
    '.github/countersign/chains/triage.yaml': `name: triage
trigger: { event: issue.created }
steps: [{ ${step} }]
`,
  },
});

const writes = ({ github }: Harness, path: RegExp) =>
  github.requests.filter((request) => request.method !== 'GET' && path.test(request.path));

test('a chain assigns people to a pull request, and to an issue', async () => {
  const harness = await start({
    chain: chain('action: gh-assign, with: { people: ["{{ trigger.author }}", mia] }'),
    ...onIssue('action: gh-assign, with: { people: mia }'),
  });
  const { number } = await open(harness);
  expect(harness.github.assignees(REPO, number)).toEqual(['ada', 'mia']);
  const issue = await harness.github.createIssue(REPO, 'otto', 'It does not add up');
  await harness.settle();
  expect(harness.github.assignees(REPO, issue)).toEqual(['mia']);
});

test('nobody is assigned if GitHub would leave somebody out', { tags: 'slow' }, async () => {
  const harness = await start({ chain: chain('action: gh-assign, with: { people: [mia, otto] }') });
  const { number, headSha } = await open(harness);
  expect(ownCheck(harness, headSha).summary).toContain('GitHub does not let otto be assigned in octo/app');
  expect(harness.github.assignees(REPO, number)).toEqual([]);
});

eachFirstQuick([
  ['its title', '"next RELEASE"'],
  ['its number', '2'],
  ['an expression with its title', '"{{ trigger.title }}"'],
])('a chain sets a milestone by %s', async (_, milestone) => {
  const harness = await start({ chain: chain(`action: gh-milestone, with: { milestone: ${milestone} }`) });
  harness.github.createMilestone(REPO, '2.0');
  harness.github.createMilestone(REPO, 'Next release');
  const { number } = await open(harness, { title: 'Next release' });
  expect(harness.github.milestone(REPO, number)).toBe('Next release');
});

test('a milestone that is not open fails the step, which names the open ones', { tags: 'slow' }, async () => {
  const harness = await start({ chain: chain('action: gh-milestone, with: { milestone: "1.0" }') });
  harness.github.createMilestone(REPO, '1.0', 'closed');
  harness.github.createMilestone(REPO, '2.0 @octo/all');
  const { number, headSha } = await open(harness);
  const { summary } = ownCheck(harness, headSha);
  expect(summary).toContain('no open milestone is "1.0": the open ones are "2.0 ');
  expect(summary).not.toContain('@octo/all');
  expect(harness.github.milestone(REPO, number)).toBeUndefined();
});

test('a chain closes a pull request and says why', { tags: 'slow' }, async () => {
  const harness = await start({
    chain: chain('action: gh-close, with: { comment: "Closed: {{ trigger.title }}" }'),
  });
  const { number } = await open(harness, { title: 'Ask @octo/all' });
  expect(harness.github.pullRequest(REPO, number)).toMatchObject({ state: 'closed', merged: false });
  const [comment] = harness.github.comments(REPO, number).filter(({ body }) => body.includes('Closed: Ask'));
  expect(comment?.body).not.toContain('@octo/all');
});

test('a merged pull request is not closed', { tags: 'slow' }, async () => {
  const harness = await start({
    chain: chain('action: gh-close').replace('pr.opened', 'pr.merged'),
  });
  const { number, headSha } = await open(harness);
  await harness.github.mergePullRequest(REPO, number, 'mia');
  await harness.settle();
  expect(ownCheck(harness, headSha).summary).toMatch(/gh-close cannot close .*1: it is merged/);
  expect(writes(harness, /\/issues\/\d+$/)).toEqual([]);
});

test('a chain closes an issue with a reason', async () => {
  const harness = await start(onIssue('action: gh-close, with: { reason: not_planned }'));
  await harness.github.createIssue(REPO, 'otto', 'It does not add up');
  await harness.settle();
  expect(harness.github.issues(REPO)).toMatchObject([{ state: 'closed', reason: 'not_planned' }]);
});

test('a close whose answer is lost is made once', { tags: 'slow' }, async () => {
  const harness = await start({ chain: chain('action: gh-close') });
  harness.github.fail(
    ({ method, path }) => method === 'PATCH' && path.includes('/issues/'),
    { after: 'reset' },
    1,
  );
  const { number } = await open(harness);
  await harness.advance(60_000);
  expect(harness.github.pullRequest(REPO, number).state).toBe('closed');
  expect(writes(harness, /\/issues\/\d+$/)).toHaveLength(1);
});

eachFirstQuick([
  ['a reason for a pull request', 'reason: completed', '"reason" is for issues'],
  ['an unknown reason', 'reason: "{{ trigger.title }}"', '"reason" cannot be'],
])('%s closes nothing', async (_, inputs, because) => {
  const harness = await start({ chain: chain(`action: gh-close, with: { ${inputs} }`) });
  const { number, headSha } = await open(harness);
  expect(ownCheck(harness, headSha).summary).toContain(because);
  expect(harness.github.pullRequest(REPO, number).state).toBe('open');
});
