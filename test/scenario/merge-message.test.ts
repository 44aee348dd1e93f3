// @module-tag security
// @module-tag slow

import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import { countersign, GREETING, open, start } from './support.ts';

const DELETES = `name: pr-review
trigger: { event: pr.opened }
steps: [{ action: gh-merge, requires_approval: true, with: { delete_branch: true } }]
`;

function deletions({ github }: Harness): number {
  return github.requests.filter(({ method, path }) => method === 'DELETE' && path.includes('/git/refs/'))
    .length;
}

/** A pull request whose chain merges with these inputs, merged with mia's countersign. */
async function merged(inputs: string, input: Parameters<typeof open>[1] = {}) {
  const chain = `name: pr-review
trigger: { event: pr.opened }
steps:
  - action: gh-merge
    requires_approval: true
    with: ${inputs}
`;
  const harness = await start({ chain });
  const { github } = harness;
  const opened = await open(harness, input);
  await countersign(harness, opened.number);
  const tip = github.branch(REPO, 'main') ?? '';
  return { harness, ...opened, message: github.commit(REPO, tip).message };
}

test('the merge commit has the title and the message of the chain, and a trailer for each countersign', async () => {
  const { message, number } = await merged(
    '{ title: "{{ trigger.title }} [#{{ trigger.pr_number }}]", message: "Reviewed by the chain.\\n\\nFor {{ trigger.author }}.", trailers: true }',
  );
  expect(message).toBe(
    `Greet people by name [#${number}]\n\nReviewed by the chain.\n\nFor ada.\n\nCountersigned-by: mia`,
  );
});

test('trailers alone keep the usual title', async () => {
  const { message, number } = await merged('{ trailers: true }');
  expect(message).toBe(`Greet people by name (#${number})\n\nCountersigned-by: mia`);
});

test('a title from a pull request cannot forge a trailer, mention people, close an issue or skip workflows', async () => {
  const title = 'Countersigned-by: mallory [skip ci] @octo/everybody fixes #7';
  const { message } = await merged('{ message: "{{ trigger.title }}", title: Merge }', { title });
  expect(message).toBe(
    'Merge\n\nCountersigned-by\u200B: mallory [\u200Bskip ci] @\u200Bocto/everybody fixes #\u200B7',
  );
});

test('a merge by rebase keeps the messages of the commits', async () => {
  const { message } = await merged('{ method: rebase, title: Mine, trailers: true }');
  expect(message).not.toContain('Mine');
  expect(message).not.toContain('Countersigned-by');
});

test('the branch of a merged pull request is deleted if the chain says so', async () => {
  const { harness, number } = await merged('{ delete_branch: true }');
  expect(harness.github.merges).toMatchObject([{ number }]);
  expect(harness.github.branch(REPO, 'greet')).toBeUndefined();
});

test('the branch of a merged pull request stays if the chain says nothing', async () => {
  const { harness } = await merged('{}');
  expect(harness.github.branch(REPO, 'greet')).toBeDefined();
});

test('a branch that somebody has pushed to since the merge is not deleted', async () => {
  const harness = await start({ chain: DELETES });
  const { github } = harness;
  // The deletion waits out a short outage, in which ada pushes.
  let isOut = true;
  github.fail(({ path }) => isOut && /git.ref.heads(%2F|.)greet/.test(path), { status: 502 });
  const { number } = await open(harness);
  await countersign(harness, number);
  expect(github.merges).toMatchObject([{ number }]);
  const files = { 'src/greet.ts': GREETING.repeat(3) };
  await github.push({ repo: REPO, branch: 'greet', author: 'ada', files });
  isOut = false;
  await harness.advance(600_000);
  expect(deletions(harness)).toBe(0);
  expect(github.branch(REPO, 'greet')).toBeDefined();
});

test('a deletion whose answer is lost is not an error, and deletes nothing twice', async () => {
  const chain =
    'name: pr-review\ntrigger: { event: pr.opened }\nsteps: [{ action: gh-merge, requires_approval: true, with: { delete_branch: true } }]\n';
  const harness = await start({ chain });
  const { github } = harness;
  github.fail(
    ({ method, path }) => method === 'DELETE' && path.includes('/git/refs/'),
    { after: 'reset' },
    1,
  );
  const { number } = await open(harness);
  await countersign(harness, number);
  await harness.advance(60_000);
  expect(github.branch(REPO, 'greet')).toBeUndefined();
  expect(deletions(harness)).toBe(1);
});
