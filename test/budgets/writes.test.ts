import { expect, test } from 'vitest';
import { approvals, MERGE_ONLY, start } from '../scenario/support.ts';
import { type Harness, REPO } from '../support/harness.ts';

/*
 * What one installation can do within the limits that GitHub publishes. The stand-in enforces them, by the test's clock.
 */

const MINUTE = 60_000;
const COUNT = 40;

const isMerge = ({ method, path }: { method: string; path: string }) =>
  method === 'PUT' && path.endsWith('/merge');

async function asked(): Promise<{ harness: Harness; numbers: number[] }> {
  const harness = await start({ chain: MERGE_ONLY, secondaryLimits: { mergesAreContent: true } });
  const numbers: number[] = [];
  for (let index = 0; index < COUNT; index++) {
    const { number } = await harness.github.openPullRequest({
      repo: REPO,
      author: 'ada',
      branch: `feature-${index}`,
      title: `Add feature ${index}`,
      files: { [`src/feature-${index}.ts`]: `export const feature = ${index};\n` },
    });
    numbers.push(number);
  }
  await harness.advance(10 * MINUTE, 0);
  return { harness, numbers };
}

test('pull requests that are countersigned at once are merged first, within GitHub’s limits, and reported afterwards', {
  tags: 'slow',
}, async () => {
  const { harness, numbers } = await asked();
  const { github } = harness;
  expect(numbers.filter((number) => approvals(harness, number).length !== 1)).toEqual([]);
  const from = github.requests.length;
  for (const number of numbers) {
    await github.react(REPO, approvals(harness, number)[0]?.id ?? 0, 'mia', 'rocket');
  }
  await harness.advance(3 * MINUTE, 0);

  const requests = github.requests.slice(from);
  const merges = requests.filter(isMerge);
  expect(merges.map(({ status }) => status)).toEqual(numbers.map(() => 200));
  // 880 points a minute are 40 merges of 22.
  const rest = requests.slice(0, requests.findLastIndex(isMerge) + 1);
  const points = rest
    .filter(({ installation, path }) => installation !== undefined && path !== '/graphql')
    .reduce((sum, { method }) => sum + (method === 'GET' ? 1 : 5), 0);
  expect(points / COUNT).toBeLessThanOrEqual(26);

  await harness.advance(10 * MINUTE, 0);
  expect(github.slowedDown).toEqual({ points: 0, content: 0 });
  for (const number of numbers) expect(approvals(harness, number)[0]?.body).toContain('erged');
});
