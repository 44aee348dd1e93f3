import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Harness, REPO, startHarness } from '../support/harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(async () => {
  await harness.stop();
  expect(harness.faultyRequests).toEqual([]);
});

test('a clean change is reviewed, passes CI, is countersigned and squash-merged', async () => {
  const { github } = harness;
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    title: 'Greet people by name',
    files: {
      'src/greet.ts': 'export function greet(name: string): string {\n  return `Hello, ${name}`;\n}\n',
    },
  });
  await harness.settle();
  await github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await harness.settle();

  const approval = github
    .comments(REPO, number)
    .find((comment) => comment.body.includes('countersign:approval'));
  expect(approval).toBeDefined();
  await github.react(REPO, approval?.id ?? 0, 'mia', 'rocket');
  await harness.advance(5_000);

  expect(github.pullRequest(REPO, number)).toMatchObject({ merged: true, mergeMethod: 'squash' });
  const [check] = github.checkRuns(REPO, headSha).filter((run) => run.app === github.app.slug);
  expect(check).toMatchObject({ status: 'completed', conclusion: 'success' });
});
