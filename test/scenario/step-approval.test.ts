// @module-tag security

import { expect, test } from 'vitest';
import { REPO } from '../support/harness.ts';
import { A_RECHECK, approvalOf, countersign, open, ownCheck, react, type Setting, start } from './support.ts';
import { commentAndPoll } from './support-confirm.ts';

const DBAS = `{ teams: [octo/dbas], count: 2, question: "May this migration run?" }`;

function chainThat(approval: string, step = 'action: gh-merge'): string {
  return `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: go, ${step}, requires_approval: ${approval} }
`;
}

/** A pull request whose step waits for the countersigns of two of octo/dbas. */
async function asked(setting: Setting = {}) {
  const harness = await start({ chain: chainThat(DBAS), ...setting });
  const { github } = harness;
  github.addTeam('octo', 'dbas', ['max', 'mia']);
  return { harness, ...(await open(harness)) };
}

test('a step that asks for two of a team merges with two of them', { tags: 'slow' }, async () => {
  const { harness, number } = await asked();
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toEqual([]);
  await countersign(harness, number, 'max');
  expect(harness.github.merges).toMatchObject([{ number }]);
});

test('the approval comment asks the question of the step, and says whose countersigns count', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await asked();
  const { body } = approvalOf(harness, number);
  expect(body).toContain('### ✍️ May this migration run?');
  expect(body).toContain('a countersign counts only from a member of `octo/dbas`**');
  expect(body).toContain('2 countersigns are needed.');
});

test('the check run and `why` say whom a step waits for', { tags: 'slow' }, async () => {
  const { harness, number, headSha } = await asked();
  await countersign(harness, number, 'mia');
  const words = 'this step asks for 2, each by a member of octo/dbas';
  expect(ownCheck(harness, headSha).summary).toContain(words);
  expect(
    (await commentAndPoll({ harness, number, headSha }, 'mia', '/countersign why')).join('\n'),
  ).toContain(words);
});

test('a maintainer outside the team cannot countersign the step, and can reject it', {
  tags: 'slow',
}, async () => {
  const { harness, number } = await asked({ chain: chainThat('{ teams: [octo/dbas] }') });
  harness.github.addTeam('octo', 'dbas', ['max']);
  await countersign(harness, number, 'mia');
  expect(harness.github.merges).toEqual([]);
  expect(approvalOf(harness, number).body).toContain('this step asks for a member of octo/dbas');
  await react(harness, number, 'mia', '-1');
  await harness.advance(A_RECHECK);
  expect(approvalOf(harness, number).body).toContain('Rejected');
});

test('a command that approves is refused for somebody whom the step does not ask for', {
  tags: 'slow',
}, async () => {
  const { harness, number, headSha } = await asked({
    chain: chainThat('{ users: [max] }', 'action: gh-label, with: { labels: [go] }'),
  });
  const asking = { harness, number, headSha };
  expect((await commentAndPoll(asking, 'mia', '/countersign approve go')).join('\n')).toContain(
    'this step asks for max',
  );
  expect(harness.github.labels(REPO, number)).toEqual([]);
  await commentAndPoll(asking, 'max', '/countersign approve go');
  expect(harness.github.labels(REPO, number)).toEqual(['go']);
});

test('a question with a mention notifies nobody', async () => {
  const { harness, number } = await asked({
    chain: chainThat('{ count: 1, question: "@octo/everybody, may it?" }'),
  });
  expect(approvalOf(harness, number).body).toContain('@&#8203;octo/everybody, may it?');
});
