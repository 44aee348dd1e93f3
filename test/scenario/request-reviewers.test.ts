import { expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import { open, ownCheck, start } from './support.ts';

const chain = (inputs: string) => `name: pr-review
trigger: { event: pr.opened }
steps: [{ action: gh-request-reviewers, with: ${inputs} }]
`;

function requests({ github }: Harness): number {
  return github.requests.filter(
    ({ method, path }) => method === 'POST' && path.endsWith('/requested_reviewers'),
  ).length;
}

test('a chain requests reviews from people and teams', async () => {
  const harness = await start({ chain: chain('{ people: [mia, max], teams: [octo/core] }') });
  harness.github.addTeam('octo', 'core', ['will']);
  const { number, headSha } = await open(harness);
  expect(harness.github.requestedReviewers(REPO, number)).toEqual({
    people: ['mia', 'max'],
    teams: ['core'],
  });
  expect(ownCheck(harness, headSha).summary).toContain('to review #');
});

test('the author of the pull request is left out, because GitHub would refuse the whole request', {
  tags: 'slow',
}, async () => {
  const harness = await start({ chain: chain('{ people: ["{{ trigger.author }}", mia] }') });
  const { number } = await open(harness);
  expect(harness.github.requestedReviewers(REPO, number)).toEqual({ people: ['mia'], teams: [] });
});

test('a request whose answer is lost is made once', { tags: 'slow' }, async () => {
  const harness = await start({ chain: chain('{ people: mia }') });
  harness.github.fail(
    ({ method, path }) => method === 'POST' && path.endsWith('/requested_reviewers'),
    { after: 'reset' },
    1,
  );
  const { number } = await open(harness);
  await harness.advance(60_000);
  expect(harness.github.requestedReviewers(REPO, number)).toEqual({ people: ['mia'], teams: [] });
  expect(requests(harness)).toBe(1);
});

eachFirstQuick([
  ['{ people: "{{ trigger.title }}" }', 'a user is a GitHub login, without @'],
  ['{ teams: [elsewhere/core] }', 'the team elsewhere/core is not of octo'],
  [
    `{ people: [${Array.from({ length: 16 }, (_, index) => `p${index}`).join(', ')}] }`,
    'it names 16 people and teams, and 15 are allowed',
  ],
])('nobody is asked with %s', async (inputs, because) => {
  const harness = await start({ chain: chain(inputs) });
  const { headSha } = await open(harness, { title: '@octo/everybody, look' });
  expect(ownCheck(harness, headSha).summary).toContain(because);
  expect(requests(harness)).toBe(0);
});
