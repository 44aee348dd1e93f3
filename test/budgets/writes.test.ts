// @module-tag slow
import { describe, expect, test } from 'vitest';
import { approvals, CI_AND_MERGE, MERGE_ONLY, start } from '../scenario/support.ts';
import { type Harness, REPO } from '../support/harness.ts';

/*
 * What one installation can do within the limits that GitHub publishes. The stand-in enforces them, by the test's clock.
 */

const MINUTE = 60_000;
const LONG = process.env.COUNTERSIGN_LONG === '1';

type Received = Harness['github']['requests'][number];

const isMerge = ({ method, path }: Received) => method === 'PUT' && path.endsWith('/merge');
const isComment = ({ method, path }: Received) => method === 'POST' && path.endsWith('/comments');

async function openAll({ github }: Harness, names: readonly string[], isTested = false): Promise<number[]> {
  const numbers: number[] = [];
  for (const name of names) {
    const { number, headSha } = await github.openPullRequest({
      repo: REPO,
      author: 'ada',
      branch: `feature-${name}`,
      title: `Add feature ${name}`,
      files: { [`src/feature-${name}.ts`]: `export const feature = '${name}';\n` },
    });
    if (isTested) {
      const done = { name: 'test', status: 'completed', conclusion: 'success' } as const;
      await github.reportCheck(REPO, headSha, done);
    }
    numbers.push(number);
  }
  return numbers;
}

describe('in one installation, within GitHub’s limits', () => {
  test('60 of the pull requests that are countersigned at once are merged in each minute, and reported afterwards', async () => {
    const harness = await start({ chain: MERGE_ONLY, secondaryLimits: { mergesAreContent: true } });
    const { github } = harness;
    const names = Array.from({ length: LONG ? 200 : 62 }, (_, index) => String(index));
    const numbers = await openAll(harness, names);
    await harness.advance((LONG ? 12 : 4) * MINUTE, 0);
    expect(numbers.filter((number) => approvals(harness, number).length !== 1)).toEqual([]);

    const from = harness.clock.now().getTime();
    for (const number of numbers) {
      await github.react(REPO, approvals(harness, number)[0]?.id ?? 0, 'mia', 'rocket');
    }
    const minutes = Math.ceil(numbers.length / 60);
    await harness.advance((minutes + 1) * MINUTE, 0);
    const merges = github.requests.filter((request) => isMerge(request) && request.at >= from);
    expect(merges.map(({ status }) => status)).toEqual(numbers.map(() => 200));
    const until = (minute: number) => merges.filter(({ at }) => at < from + minute * MINUTE).length;
    for (let minute = 1; minute < minutes; minute++)
      expect(until(minute)).toBeGreaterThanOrEqual(minute * 60);

    await harness.advance(5 * MINUTE, 0);
    expect(github.slowedDown).toEqual({ points: 0, content: 0 });
    for (const number of numbers) expect(approvals(harness, number)[0]?.body).toContain('erged');
  });

  // The short form has the pace of 300 an hour, and compares what each takes with the limits of an hour.
  test('300 pull requests an hour are opened, tested, asked about, countersigned and merged', async () => {
    const harness = await start({ chain: CI_AND_MERGE, secondaryLimits: { mergesAreContent: false } });
    const { github } = harness;
    const before = github.requests.length;
    const numbers: number[] = [];
    const answered = new Set<number>();
    const minutes = LONG ? 60 : 5;
    for (let minute = 0; minute <= minutes; minute++) {
      if (minute < minutes) {
        const names = [0, 1, 2, 3, 4].map((index) => `${minute}-${index}`);
        numbers.push(...(await openAll(harness, names, true)));
      }
      await harness.advance(MINUTE, 0);
      for (const number of numbers.filter((one) => !answered.has(one))) {
        const [question] = approvals(harness, number);
        if (!question) continue;
        answered.add(number);
        await github.react(REPO, question.id, 'mia', 'rocket');
      }
    }
    const requests = github.requests.slice(before).filter(({ installation }) => installation !== undefined);
    expect(requests.filter(isMerge).map(({ status }) => status)).toEqual(numbers.map(() => 200));
    expect(github.slowedDown).toEqual({ points: 0, content: 0 });
    const isOfRest = ({ path, status }: Received) => path !== '/graphql' && status !== 304;
    const ofOne = (isCounted: (request: Received) => boolean) =>
      requests.filter(isCounted).length / numbers.length;
    expect(300 * ofOne(isComment)).toBeLessThanOrEqual(500);
    expect(300 * ofOne(isOfRest)).toBeLessThanOrEqual(5_000);
  });
});
