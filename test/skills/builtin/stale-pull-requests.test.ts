import { expect, test } from 'vitest';
import type { OwnOutcome } from '../../../src/domain/outcome/own-outcome.ts';
import type { GitHubReader, OpenPullRequest } from '../../../src/ports/github.ts';
import { stalePullRequests } from '../../../src/skills/builtin/stale/stale-pull-requests.ts';
import { at } from '../../support/builders.ts';
import { stepContext } from '../../support/step-context.ts';

const NOW = at(0);
const DAY_MS = 86_400_000;

const pull = (number: number, more: Partial<OpenPullRequest> = {}): OpenPullRequest => ({
  number,
  title: `Change ${number}`,
  author: { id: 1, login: 'ada', type: 'User' },
  draft: false,
  labels: [],
  updatedAt: new Date('2026-01-12T23:00:00Z'),
  ...more,
});

/** The outcome for what GitHub lists, and the moment that it was asked about. */
async function outcomeOf(pullRequests: OpenPullRequest[], inputs = '', truncated = false) {
  const asked: Date[] = [];
  const reader = {
    async pullRequestsUnchangedSince(_, moment) {
      asked.push(moment);
      return { pullRequests, truncated };
    },
  } as Partial<GitHubReader> as GitHubReader;
  const step = `skill: stale-pull-requests${inputs && `, with: { ${inputs} }`}`;
  const result = await stalePullRequests.run(stepContext(step, { reader, clock: { now: () => NOW } }));
  if (result.kind !== 'done') throw new Error(`the step is ${result.kind}`);
  const days = (NOW.getTime() - (asked[0]?.getTime() ?? 0)) / DAY_MS;
  return { outcome: result.outcome, days };
}

test('a pull request is stale after 14 days without activity, or as many as the step says', async () => {
  expect((await outcomeOf([])).days).toBe(14);
  expect((await outcomeOf([], 'days: 30')).days).toBe(30);
});

test('each stale pull request is listed with its author and the day of its last activity', async () => {
  const found = [pull(7), pull(9, { draft: true, labels: ['bug'] })];
  expect((await outcomeOf(found)).outcome).toMatchObject({
    outcome_kind: 'countersign/stale-pull-requests',
    summary: '2 open pull requests had no activity for 14 days',
    passed: false,
    data: {
      days: 14,
      count: 2,
      complete: true,
      pull_requests: [
        { number: 7, author: 'ada', draft: false, text: '7: Change 7, by ada, no activity since 2026-01-12' },
        { number: 9, text: '9: Change 9, by ada, a draft, no activity since 2026-01-12' },
      ],
    },
  });
});

test.each([
  ['nothing is stale', [], '', false, true, 0],
  ['a draft is left out', [pull(1, { draft: true }), pull(2)], 'drafts: false', false, false, 1],
  [
    'a label is left out, whatever its case',
    [pull(1, { labels: ['wip', 'On-Hold'] })],
    'except_labels: [on-hold]',
    false,
    true,
    0,
  ],
  ['there is more than was read', [pull(1)], '', true, false, 1],
  [
    'all that was read is left out, and there is more',
    [pull(1, { draft: true })],
    'drafts: false',
    true,
    null,
    0,
  ],
] as const)('if %s, the outcome says so', async (_, found, inputs, truncated, passed, count) => {
  const { outcome } = await outcomeOf([...found], inputs, truncated);
  expect(outcome).toMatchObject({ passed, data: { count, complete: !truncated } });
  expect(outcome.summary).toMatchSnapshot();
});

test('50 hostile titles fit into the outcome, each on one line without invisible characters', async () => {
  const title = `\u202E${'"\\\n'.repeat(200)}`;
  const { outcome } = await outcomeOf(Array.from({ length: 300 }, (_, index) => pull(index + 1, { title })));
  const { data } = outcome as OwnOutcome;
  const listed = data.pull_requests as { text: string }[];
  expect([data.count, listed.length]).toEqual([300, 50]);
  for (const { text } of listed) expect(text).not.toMatch(/[\u202E\n]/);
});
