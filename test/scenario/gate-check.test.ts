import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  CI_AND_MERGE,
  checkLines,
  countersign,
  gate,
  gates,
  headline,
  MERGE_ONLY,
  open as openNow,
  pushAgain,
  react,
  reportCi,
  type Setting,
  start,
  statusOf,
} from './support.ts';

const GATE = 'countersign: main';

/** A repository whose `main` requires the gate check from this app, as docs/security.md recommends. */
async function guarded(setting: Setting = {}): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, ...setting });
  const { github } = harness;
  github.requireChecks(REPO, 'main', [{ context: GATE, app: github.app.slug }]);
  return harness;
}

/** The text of a closed gate changes two seconds later. */
const WORDS_CHANGE = 2_500;

async function open(...[harness, input]: Parameters<typeof openNow>): ReturnType<typeof openNow> {
  const opened = await openNow(harness, input);
  await harness.advance(WORDS_CHANGE);
  return opened;
}

/** GitHub's answer to will, who only has write access, when he presses the merge button. */
async function press({ github, settle }: Harness, number: number): Promise<string> {
  const pressed = await github.pressMergeButton(REPO, number, 'will');
  await settle();
  return pressed.kind === 'merged' ? 'merged' : pressed.message;
}

const NOT_GREEN = /^Required status check "countersign: main" is /;

describe('with the gate check required on main', () => {
  test('the app merges after the countersign, and not before', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { number, headSha } = await open(harness);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
    expect(await press(harness, number)).toMatch(NOT_GREEN);

    await countersign(harness, number);
    expect(harness.github.merges).toMatchObject([{ number, by: harness.github.app.botLogin }]);
    expect(gates(harness, headSha)).toEqual([`${GATE}: success: Countersigned by mia`]);
    expect(headline(approvalOf(harness, number))).toBe('🎉 Countersigned and merged');
  });

  test('the order of the merge is proof, green check, merge call', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { number } = await open(harness);
    const before = harness.github.requests.length;
    await countersign(harness, number);
    const writes = harness.github.requests
      .slice(before)
      .filter(({ method, path }) => method !== 'GET' && /check-runs|\/merge$/.test(path));
    expect(writes.slice(0, 2).map(({ method, path }) => `${method} ${path.replace(/\d+/g, 'n')}`)).toEqual([
      'PATCH /repos/octo/app/check-runs/n',
      'PUT /repos/octo/app/pulls/n/merge',
    ]);
  });

  test('CI does not wait for the gate check, which waits for CI', { tags: 'slow' }, async () => {
    const harness = await guarded({ chain: CI_AND_MERGE });
    const { number, headSha } = await open(harness);
    await reportCi(harness, headSha, 'success');
    await harness.advance(A_RECHECK);
    expect(checkLines(harness, headSha)).toEqual(['in_progress: Waiting for a maintainer to countersign']);
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('a merge that GitHub refuses for another reason closes the gate again', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { github } = harness;
    const { number, headSha } = await open(harness);
    github.protectBranch(REPO, 'main', {
      checks: [{ context: GATE, app: github.app.slug }],
      approvals: 1,
    });
    await countersign(harness, number);
    await harness.advance(20_000);
    expect(github.merges).toEqual([]);
    expect(gate(harness, headSha)).toMatch(
      /^in_progress: Not merging: GitHub says: At least 1 approving review/,
    );
    expect(await press(harness, number)).not.toBe('merged');
  });

  test('a merge is retried at once while GitHub has not noticed the green check yet', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded();
    const { github } = harness;
    const { number } = await open(harness);
    const message = 'Required status check "countersign: main" is expected.';
    github.fail(
      ({ method, path }) => method === 'PUT' && path.endsWith('/merge'),
      { status: 405, body: { message } },
      2,
    );
    await countersign(harness, number);
    expect(github.merges).toHaveLength(1);
  });
});

describe('what is green on GitHub without a countersign', () => {
  test('leaves the gate failing for a head without checks, although its run ends neutral', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded({ chain: CI_AND_MERGE, settings: 'ci: { no_checks: block }\n' });
    const { number, headSha } = await open(harness);
    await harness.advance(60_000);
    expect(checkLines(harness, headSha)).toEqual([
      'neutral: Not merged: no checks ran, and the settings ask for some',
    ]);
    expect(gate(harness, headSha)).toBe('failure: Not merged: no checks ran, and the settings ask for some');
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('leaves the gate pending when a label filter no longer matches', { tags: 'slow' }, async () => {
    const chain = MERGE_ONLY.replace('draft: false', 'draft: false, labels: [ship]');
    const harness = await guarded({ chain });
    const { number, headSha } = await open(harness);
    expect(gate(harness, headSha)).toMatch(/^in_progress: No chain runs: no chain is for this pull request/);
    await harness.github.addLabel(REPO, number, 'will', 'ship');
    await harness.advance(WORDS_CHANGE);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
    await harness.github.removeLabel(REPO, number, 'will', 'ship');
    await harness.advance(WORDS_CHANGE);
    expect(checkLines(harness, headSha).at(-1)).toMatch(/^skipped: /);
    expect(gate(harness, headSha)).toMatch(/^in_progress: No chain runs/);
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('leaves the gate pending for a draft, also at the moment when it becomes ready', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded();
    const { github } = harness;
    const { number, headSha } = await open(harness, { draft: true });
    expect(gate(harness, headSha)).toMatch(/^in_progress: No chain runs/);
    github.holdDeliveries();
    await github.readyForReview(REPO, number, 'ada');
    expect(await press(harness, number)).toMatch(NOT_GREEN);
    await github.releaseDeliveries();
    await harness.advance(WORDS_CHANGE);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('creates no gate check for chains that do not merge, so a required one stays missing', {
    tags: 'slow',
  }, async () => {
    const chain =
      'name: pr-review\ntrigger: { event: pr.opened }\nsteps:\n  - action: gh-label\n    with: { labels: [seen] }\n';
    const harness = await guarded({ chain });
    const { number, headSha } = await open(harness);
    expect(checkLines(harness, headSha)).toEqual(['success: Done']);
    expect(gates(harness, headSha)).toEqual([]);
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('opens nothing for main if the same head goes to another branch', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { github } = harness;
    const { number, headSha } = await open(harness);
    await github.push({ repo: REPO, branch: 'theirs', author: 'will', files: { 'a.txt': 'a\n' } });
    const other = await github.openPullRequest({
      repo: REPO,
      author: 'will',
      branch: 'greet',
      base: 'theirs',
      title: 'The same into theirs',
    });
    await harness.settle();
    expect(other.headSha).toBe(headSha);
    await countersign(harness, other.number);
    expect(gate(harness, headSha, 'theirs')).toBe('success: Countersigned by mia');
    expect(gate(harness, headSha, 'main')).toBe('in_progress: Waiting for a maintainer to countersign');
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('does not open the gate by another app’s check with its name', { tags: 'slow' }, async () => {
    const harness = await guarded();
    const { number, headSha } = await open(harness);
    await harness.github.reportCheck(REPO, headSha, {
      name: GATE,
      status: 'completed',
      conclusion: 'success',
    });
    await harness.settle();
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('does not open the gate for the next pull request with a head that was merged before', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded();
    const { github } = harness;
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(gate(harness, headSha)).toBe('success: Countersigned by mia');
    const again = await github.openPullRequest({
      repo: REPO,
      author: 'will',
      branch: 'greet',
      title: 'Once more',
    });
    await harness.settle();
    expect(gate(harness, headSha)).not.toMatch(/^success/);
    await harness.advance(WORDS_CHANGE);
    expect(again.headSha).toBe(headSha);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
    expect(await press(harness, again.number)).toMatch(NOT_GREEN);
  });
});

const PEOPLE: Setting = { settings: 'merge: { by: people }\n' };

describe('with merge: { by: people }, the gate', () => {
  test('turns green after the countersign, and somebody with write access merges', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(gate(harness, headSha)).toBe('success: Countersigned by mia');
    expect(checkLines(harness, headSha)).toEqual([
      'in_progress: Countersigned by mia: ready for the merge button',
    ]);
    await harness.advance(A_RECHECK);
    expect(headline(statusOf(harness, number))).toBe('✅ Countersigned by mia: ready for the merge button');

    expect(await press(harness, number)).toBe('merged');
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
    expect(approvalOf(harness, number).body).toMatch(/^### 🎉 Countersigned and merged$/m);
    expect(approvalOf(harness, number).body).toMatch(
      /was merged into `main` as `\w+` by `will`, countersigned by `mia`/,
    );
    expect(gate(harness, headSha)).toBe('success: Countersigned by mia');
  });

  test('stays green as long as everything holds, without further writes to GitHub', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    const isWrite = ({ method, path }: { method: string; path: string }) =>
      method !== 'GET' && path !== '/graphql';
    const writes = () => harness.github.requests.filter(isWrite).length;
    // The status comment says that somebody has to merge.
    await harness.advance(A_RECHECK);
    const before = writes();
    await harness.advance(100_000);
    expect(gates(harness, headSha)).toEqual([`${GATE}: success: Countersigned by mia`]);
    expect(writes()).toBe(before);
    expect(await press(harness, number)).toBe('merged');
  });

  eachFirstQuick<[string, (harness: Harness, number: number, reaction: number) => Promise<unknown>]>([
    [
      'the countersign is withdrawn',
      (harness, number, reaction) => harness.github.unreact(REPO, approvalOf(harness, number).id, reaction),
    ],
    ['a maintainer rejects it', (harness, number) => react(harness, number, 'max', '-1')],
    ['it becomes a draft', ({ github }, number) => github.convertToDraft(REPO, number, 'ada')],
    ['somebody pauses it', ({ github }, number) => github.comment(REPO, number, 'mia', '/countersign pause')],
    [
      'somebody cancels it',
      ({ github }, number) => github.comment(REPO, number, 'will', '/countersign cancel'),
    ],
    [
      'the settings become stricter',
      ({ github }) =>
        github.push({
          repo: REPO,
          branch: 'main',
          author: 'max',
          files: { '.github/countersign.yml': 'merge: { by: people }\ncountersign: { count: 2 }\n' },
        }),
    ],
  ])('closes when %s', async (_, act) => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    const reaction = await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);
    expect(gate(harness, headSha)).toBe('success: Countersigned by mia');
    await act(harness, number, reaction);
    await harness.advance(A_RECHECK);
    expect(gate(harness, headSha)).not.toMatch(/^(success|neutral|skipped)/);
    expect(await press(harness, number)).not.toBe('merged');
  });

  test('is not open for a push, and the maintainers are asked about the next head', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded(PEOPLE);
    const { number } = await open(harness);
    await countersign(harness, number);
    const next = await pushAgain(harness);
    await harness.advance(WORDS_CHANGE);
    expect(gate(harness, next)).toBe('in_progress: Waiting for a maintainer to countersign');
    expect(await press(harness, number)).toMatch(NOT_GREEN);
  });

  test('closes although the author has used up their share of writes', { tags: 'slow' }, async () => {
    const harness = await guarded(PEOPLE);
    const { github } = harness;
    const { number, headSha } = await open(harness);
    const other = await open(harness, { branch: 'other', files: { 'other.txt': '0\n' } });
    const reaction = await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);
    expect(gate(harness, headSha)).toBe('success: Countersigned by mia');
    for (let push = 1; push <= 30; push += 1)
      await github.push({ repo: REPO, branch: 'other', author: 'ada', files: { 'other.txt': `${push}\n` } });
    await github.unreact(REPO, approvalOf(harness, number).id, reaction);
    await harness.advance(A_RECHECK);
    const { headSha: newest } = github.pullRequest(REPO, other.number);
    expect(gates(harness, newest)).toEqual([]);
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('closes by itself while GitHub cannot be read', { tags: 'slow' }, async () => {
    const harness = await guarded(PEOPLE);
    const { github } = harness;
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    github.fail(({ method }) => method === 'GET', 'reset');
    await harness.advance(180_000);
    expect(gate(harness, headSha)).toMatch(/^in_progress: /);
  });

  test('closes when the process that opened it is gone for longer than its lease', {
    tags: 'slow',
  }, async () => {
    const harness = await guarded(PEOPLE);
    const { number, headSha } = await open(harness);
    const reaction = await react(harness, number, 'mia');
    await harness.advance(A_RECHECK);
    await harness.down();
    await harness.github.unreact(REPO, approvalOf(harness, number).id, reaction);
    harness.clock.advance(600_000);
    await harness.up();
    await harness.settle();
    expect(gate(harness, headSha)).toBe('in_progress: Waiting for a maintainer to countersign');
  });

  test('makes auto-merge wait for the countersign', { tags: 'slow' }, async () => {
    const harness = await guarded(PEOPLE);
    const { github } = harness;
    github.allowAutoMerge(REPO);
    const { number, headSha } = await open(harness);
    await github.enableAutoMerge(REPO, number, 'will', 'squash');
    await harness.advance(A_RECHECK);
    expect(github.merges).toEqual([]);
    await countersign(harness, number);
    expect(github.merges).toMatchObject([{ number, by: 'will' }]);
    expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
  });
});

test('auto-merge that overtakes the app’s merge call counts as a countersigned merge', {
  tags: 'slow',
}, async () => {
  const harness = await guarded();
  const { github } = harness;
  github.allowAutoMerge(REPO);
  const { number, headSha } = await open(harness);
  await github.enableAutoMerge(REPO, number, 'will', 'squash');
  await countersign(harness, number);
  expect(github.merges).toHaveLength(1);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

describe('the check says what leaves the merge button unprotected', () => {
  const summary = ({ github }: Harness, sha: string) =>
    github.checkRuns(REPO, sha).find(({ name }) => name === GATE)?.summary ?? '';

  test('if the branch does not require it', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    const { headSha } = await open(harness);
    expect(summary(harness, headSha)).toContain('`main` does not require this check');
  });

  test('if the branch requires it from any source', { tags: 'slow' }, async () => {
    const harness = await start({ chain: MERGE_ONLY });
    harness.github.requireChecks(REPO, 'main', [GATE]);
    const { headSha } = await open(harness);
    expect(summary(harness, headSha)).toContain('requires this check from any source');
  });

  test('and nothing if the branch requires it from this app', async () => {
    const harness = await guarded();
    const { headSha } = await open(harness);
    expect(summary(harness, headSha)).not.toContain('⚠️');
  });
});
