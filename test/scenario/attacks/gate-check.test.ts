// @module-tag security

import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { isGateCheck } from '../../support/github/read.ts';
import { type Harness, REPO } from '../../support/harness.ts';
import {
  A_RECHECK,
  approvals,
  countersign,
  gate,
  headline,
  MERGE_ONLY,
  open,
  react,
  type Setting,
  start,
  statusOf,
} from '../support.ts';

// Attacks on the gate check that a reviewer found; each led to a merge before it was fixed.

type Act = (harness: Harness) => unknown;

const PEOPLE: Setting = { settings: 'merge: { by: people }\n' };

async function guarded(setting: Setting = {}): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  const { github } = harness;
  github.requireChecks(REPO, 'main', [{ context: 'countersign: main', app: github.app.slug }]);
  return harness;
}

async function press({ github, settle }: Harness, number: number): Promise<string> {
  const pressed = await github.pressMergeButton(REPO, number, 'will');
  await settle();
  return pressed.kind;
}

/** otto, an outsider, opens a pull request with ada's very commit, from another branch. */
async function twin({ github, settle }: Harness, headSha: string): Promise<{ number: number }> {
  await github.push({ repo: REPO, branch: 'twin', author: 'will', forceTo: headSha });
  const other = await github.openPullRequest({
    repo: REPO,
    author: 'otto',
    branch: 'twin',
    title: 'The same',
  });
  await settle();
  expect(other.headSha).toBe(headSha);
  return other;
}

function gateRuns({ github }: Harness, sha: string): number {
  return github.checkRuns(REPO, sha).filter(isGateCheck).length;
}

eachFirstQuick(['app', 'people'])(
  'a request that opens the gate and arrives after it was closed leaves it closed, with merge by %s',
  async (by) => {
    const harness = await guarded({ settings: `merge: { by: ${by} }\n` });
    const { number } = await open(harness);
    await harness.advance(10_000);
    let hit = false;
    harness.github.fail(
      ({ method, path }) => {
        if (method !== 'PATCH' || !path.includes('/check-runs/') || hit) return false;
        hit = true;
        void react(harness, number, 'max', '-1');
        return true;
      },
      { lateMs: 9_000 },
      1,
    );
    await react(harness, number, 'mia');
    await harness.advance(600_000);
    expect(hit).toBe(true);
    expect(await press(harness, number)).toBe('refused');
    expect(headline(statusOf(harness, number))).toBe('✋ Rejected by max');
  },
);

eachFirstQuick<[string, Act, Act]>([
  ['suspended', ({ github }) => github.suspendApp('octo'), ({ github }) => github.unsuspendApp('octo')],
  [
    'kept out by an archived repository',
    ({ github }) => github.archiveRepository(REPO),
    ({ github }) => github.unarchiveRepository(REPO),
  ],
])(
  'a gate that was open when the app was %s is closed as soon as the app is back',
  async (_, begins, ends) => {
    const harness = await guarded(PEOPLE);
    const { settle } = harness;
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    await react(harness, number, 'mia');
    await harness.advance(10_000);
    expect(gate(harness, headSha)).toMatch(/^success/);

    await begins(harness);
    // Longer than a write is retried; the app is down for most of it.
    await harness.advance(600_000);
    await harness.down();
    harness.clock.moveTo(new Date(harness.clock.now().getTime() + 26 * 3_600_000));
    await harness.up();
    await harness.advance(600_000);
    expect(gate(harness, headSha)).toMatch(/^success/);
    await ends(harness);
    await settle();
    // The app retries a refused sign-in after a minute.
    await harness.advance(60_000);
    expect(gate(harness, headSha)).toMatch(/^(failure|action_required|in_progress|queued)/);
    expect(await press(harness, number)).toBe('refused');
  },
);

eachFirstQuick([403, 422])(
  'a gate that GitHub once refuses to close, with %i, is still closed',
  async (status) => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(gate(harness, headSha)).toMatch(/^success/);
    const isClose = ({ method, path }: { method: string; path: string }) =>
      method !== 'GET' && path.includes('/check-runs/');
    harness.github.fail(isClose, { status, body: { message: 'No.' } }, 2);
    await react(harness, number, 'max', '-1');
    await harness.advance(60_000);
    expect(gate(harness, headSha)).toBe('failure: Rejected by max');
    expect(await press(harness, number)).toBe('refused');
  },
);

describe('of two pull requests with the same head and base', () => {
  eachFirstQuick(['app', 'people'])('a rejection of one counts for both, with merge by %s', async (by) => {
    const harness = await guarded({ settings: `merge: { by: ${by} }\n` });
    harness.github.allowAutoMerge(REPO);
    const { number, headSha } = await open(harness);
    await react(harness, number, 'max', '-1');
    await harness.advance(A_RECHECK);
    await harness.github.enableAutoMerge(REPO, number, 'will', 'squash');
    const other = await twin(harness, headSha);
    await countersign(harness, other.number);
    await harness.advance(20_000);
    expect(harness.github.merges).toEqual([]);
    expect(await press(harness, number)).toBe('refused');
    expect(gate(harness, headSha)).toMatch(/rejected this head when pr-review asked about it in #1/);
  });

  test('the merge of one leaves no gate open for the other', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { number, headSha } = await open(harness);
    const other = await twin(harness, headSha);
    await countersign(harness, number);
    expect(harness.github.merges).toMatchObject([{ number }]);
    await harness.github.push({ repo: REPO, branch: 'main', author: 'max', files: { 'src/greet.ts': null } });
    await harness.advance(60_000);
    expect(await press(harness, other.number)).toBe('refused');
  });

  test('a closed one does not count for the other', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { headSha } = await open(harness);
    const other = await twin(harness, headSha);
    await harness.github.closePullRequest(REPO, other.number, 'otto');
    await harness.advance(A_RECHECK);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('the other does not close an open gate', { tags: 'slow' }, async () => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    await twin(harness, headSha);
    await countersign(harness, number);
    const before = gateRuns(harness, headSha);
    await harness.advance(60_000);
    expect(gate(harness, headSha)).toMatch(/^success/);
    expect(gateRuns(harness, headSha)).toBe(before);
  });
});

test('two merge steps of one chain do not close each other’s gate', { tags: 'slow' }, async () => {
  const step = '    action: gh-merge\n    depends_on: []\n    requires_approval: true\n';
  const chain = `name: pr-review\ntrigger: { event: pr.opened }\nsteps:\n  - id: one\n${step}  - id: two\n${step}`;
  const harness = await guarded({ ...PEOPLE, chain });
  const { number, headSha } = await open(harness);
  await harness.advance(A_RECHECK);
  await countersign(harness, number);
  await harness.advance(60_000);
  expect(gate(harness, headSha)).toMatch(/^success/);
  expect(gateRuns(harness, headSha)).toBe(1);
});

test('nobody is asked about a draft, whatever triggers the chain', { tags: 'slow' }, async () => {
  const chain = MERGE_ONLY.replace(', filter: { draft: false }', '');
  const harness = await guarded({ chain });
  const { number } = await open(harness, { draft: true });
  await harness.advance(120_000);
  expect(approvals(harness, number)).toEqual([]);
  await harness.github.readyForReview(REPO, number, 'ada');
  await harness.advance(A_RECHECK);
  expect(approvals(harness, number)).toHaveLength(1);
});

test('an outsider’s comments do not cause one merge attempt each', { tags: 'slow' }, async () => {
  const harness = await guarded();
  const { github } = harness;
  const { number } = await open(harness);
  const isMerge = ({ method, path }: { method: string; path: string }) =>
    method === 'PUT' && path.endsWith('/merge');
  const message = 'At least 1 approving review is required by reviewers with write access.';
  github.fail(isMerge, { status: 405, body: { message } }, 100);
  await countersign(harness, number);
  for (let said = 0; said < 10; said++) {
    await github.comment(REPO, number, 'otto', `And? (${said})`);
    await harness.advance(2_000);
  }
  expect(github.requests.filter(isMerge).length).toBeLessThanOrEqual(2);
});
