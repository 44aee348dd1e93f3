// @module-tag security

import { expect, test } from 'vitest';
import { type Harness, REPO } from '../../support/harness.ts';
import { A_RECHECK, react } from '../support.ts';
import { merged, type OpenApproval, openApproval } from './support.ts';

// Which comments contain a command is in test/entrypoints/commands/parse.test.ts, and what a command does is in test/scenario. Here it
// is the command that allows the merge of a countersigned pull request: `resume`, which only maintainers may issue.

const RESUME = '/countersign resume';

/** mia has countersigned, and paused: her next `resume` merges. */
async function heldByAPause(): Promise<OpenApproval> {
  const scene = await openApproval();
  const { harness, number } = scene;
  await harness.github.comment(REPO, number, 'mia', '/countersign pause');
  await harness.advance(A_RECHECK);
  await react(harness, number, 'mia');
  return scene;
}

async function resumeMerges({ harness, number }: OpenApproval): Promise<void> {
  await harness.github.comment(REPO, number, 'mia', RESUME);
  await harness.settle();
  expect(merged(harness)).toEqual([number]);
}

/** Whether the pull request was merged after what a person did. */
async function mergedAfter({ harness, number }: OpenApproval, act: Promise<unknown>): Promise<boolean> {
  await act;
  await harness.settle();
  return merged(harness).includes(number);
}

test('a maintainer who only quotes the command issues none', { tags: 'slow' }, async () => {
  const scene = await heldByAPause();
  const { harness, number } = scene;
  const cited = {
    'a quotation': `> ${RESUME}\n\nNo!`,
    'a quotation that goes on lazily': `> She said\n${RESUME}`,
    'a fenced block': `\`\`\`\n${RESUME}\n\`\`\``,
    'a fence of tildes that never ends': `~~~\n${RESUME}`,
    'an indented block': `See:\n\n    ${RESUME}`,
    'a span of code': `\`\n${RESUME}\n\``,
    'an HTML comment': `<!--\n${RESUME}\n-->`,
    'an HTML comment that never ends': `<!-- \n\n${RESUME}`,
    'a folded section': `<details><summary>Log</summary>\n\n${RESUME}\n\n</details>`,
    'preformatted HTML': `<pre>\n${RESUME}\n</pre>`,
    'a table': `| a |\n|---|\n${RESUME}`,
    'the definition of a link': `[x]: https://example.test "\n${RESUME}\n"`,
    'the text of a link': `[\n${RESUME}\n](https://example.test)`,
    'a footnote': `[^1]:\n    ${RESUME}`,
    'a heading': `# ${RESUME}`,
    'a list': `- ${RESUME}`,
    'the middle of a line': `please ${RESUME}`,
    'invisible characters before it': `\u200b${RESUME}`,
    'look-alike letters': '/соuntersign resume',
    'a look-alike slash': '／countersign resume',
  };
  const heard: string[] = [];
  for (const [where, body] of Object.entries(cited)) {
    if (await mergedAfter(scene, harness.github.comment(REPO, number, 'mia', body))) heard.push(where);
  }
  expect(heard).toEqual([]);
  await resumeMerges(scene);
});

test('nobody can issue a maintainer’s command: not by an edit, a title, a review, another pull request or another name', async () => {
  const scene = await heldByAPause();
  const { harness, number } = scene;
  const { github } = harness;
  const hers = await github.comment(REPO, number, 'mia', 'Let us wait.');
  const issue = await github.createIssue(REPO, 'mia', 'Plans');
  for (const bot of ['ci[bot]', 'mia[bot]']) github.addUser(bot, { type: 'Bot' });
  const attempts: Record<string, () => Promise<unknown>> = {
    'an edit of her own comment': () => github.editComment(REPO, hers, 'mia', RESUME),
    'an edit of her comment by a writer': () => github.editComment(REPO, hers, 'will', `${RESUME}\n`),
    'a title and a description': () =>
      github.editPullRequest(REPO, number, 'ada', { title: RESUME, body: `${RESUME}\n\n— @mia` }),
    'a review of hers': () => github.review(REPO, number, 'mia', 'APPROVED', RESUME),
    'a comment of hers on an issue': () => github.comment(REPO, issue, 'mia', RESUME),
    'a writer': () => github.comment(REPO, number, 'will', RESUME),
    'the author': () => github.comment(REPO, number, 'ada', RESUME),
    'an outsider': () => github.comment(REPO, number, 'otto', RESUME),
    'a look-alike': () => github.comment(REPO, number, 'mi-a', RESUME),
    'another app': () => github.comment(REPO, number, 'ci[bot]', RESUME),
    'an app by her name': () => github.comment(REPO, number, 'mia[bot]', RESUME),
  };
  const heard: string[] = [];
  for (const [who, attempt] of Object.entries(attempts)) {
    if (await mergedAfter(scene, attempt())) heard.push(who);
  }
  expect(heard).toEqual([]);
  await resumeMerges(scene);
});

test('a maintainer’s resume of one pull request resumes no other', { tags: 'slow' }, async () => {
  const scene = await heldByAPause();
  const { harness } = scene;
  const other = await otherPullRequest(harness);
  await harness.github.comment(REPO, other, 'mia', '/countersign pause');
  await harness.settle();
  const heard = await mergedAfter(scene, harness.github.comment(REPO, other, 'mia', RESUME));
  expect(heard).toBe(false);
  await resumeMerges(scene);
});

test('a maintainer who lost the permission a second ago cannot issue commands', {
  tags: 'slow',
}, async () => {
  const scene = await heldByAPause();
  const { harness, number } = scene;
  harness.github.holdDeliveries();
  await harness.github.comment(REPO, number, 'max', RESUME);
  harness.github.setPermission(REPO, 'max', 'write');
  await harness.github.releaseDeliveries();
  await harness.advance(A_RECHECK);
  expect(merged(harness)).toEqual([]);
  await resumeMerges(scene);
});

async function otherPullRequest({ github, settle }: Harness): Promise<number> {
  const files = { 'other.txt': 'Other.\n' };
  const opened = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'other',
    title: 'Other',
    files,
  });
  await settle();
  return opened.number;
}
