// @module-tag slow
import { expect, test } from 'vitest';
import { type Harness, REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  checkLines,
  countersign,
  gate,
  MERGE_ONLY,
  open,
  react,
  start,
} from './support.ts';

const GATE = 'countersign: main';

/** `main` has a merge queue, which requires the gate check of this app and the check `build`. */
async function queued(by: 'queue' | 'people'): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, settings: `merge: { by: ${by} }\n` });
  const { github } = harness;
  github.addRuleset(REPO, { checks: [{ context: GATE, app: github.app.slug }, 'build'], mergeQueue: {} });
  return harness;
}

/** The step names the queue, and the settings do not. */
async function namedByStep(settings = ''): Promise<Harness> {
  const chain = MERGE_ONLY.replace('with: {', 'with: { method: queue,');
  const harness = await start({ chain, settings });
  const { github } = harness;
  github.addRuleset(REPO, { checks: [{ context: GATE, app: github.app.slug }, 'build'], mergeQueue: {} });
  return harness;
}

/** The same, but the queue does not require the gate check: whoever can write may add what nobody countersigned. */
async function unguarded(): Promise<Harness> {
  const harness = await start({ chain: MERGE_ONLY, settings: 'merge: { by: people }\n' });
  harness.github.addRuleset(REPO, { checks: ['build'], mergeQueue: {} });
  return harness;
}

/** A pull request whose other required check is green. */
async function openBuilt(harness: Harness, branch: string): Promise<{ number: number; headSha: string }> {
  const opened = await open(harness, { branch, files: { [`${branch}.txt`]: `${branch}\n` } });
  await build(harness, opened.headSha);
  return opened;
}

async function build({ github, settle }: Harness, sha: string): Promise<void> {
  await github.reportCheck(REPO, sha, { name: 'build', status: 'completed', conclusion: 'success' });
  await settle();
}

/** The commit that the queue created last for a pull request, as in the webhook. */
function groupOf({ github }: Harness, number: number): string {
  const groups = github.deliveries
    .filter(({ event, action }) => event === 'merge_group' && action === 'checks_requested')
    .map(({ payload }) => (payload as { merge_group: { head_sha: string; head_ref: string } }).merge_group)
    .filter(({ head_ref }) => head_ref.includes(`/pr-${number}-`));
  return groups.at(-1)?.head_sha ?? 'none';
}

test('with merge: { by: queue }, the app adds a countersigned pull request to the queue, and its group lands', async () => {
  const harness = await queued('queue');
  const { number, headSha } = await openBuilt(harness, 'one');
  expect(groupOf(harness, number)).toBe('none');
  await countersign(harness, number);
  expect(checkLines(harness, headSha)).toEqual(['in_progress: Countersigned by mia: in the merge queue']);
  const group = groupOf(harness, number);
  expect(gate(harness, group)).toBe('success: The pull request of this merge group is countersigned');
  expect(harness.github.merges).toEqual([]);

  await build(harness, group);
  await harness.advance(A_RECHECK);
  expect(harness.github.pullRequest(REPO, number).merged).toBe(true);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('a step with method: queue adds its pull request to the queue only once it is countersigned', async () => {
  const harness = await namedByStep();
  const { number, headSha } = await openBuilt(harness, 'one');
  await harness.advance(A_RECHECK);
  expect(groupOf(harness, number)).toBe('none');
  await countersign(harness, number);
  const group = groupOf(harness, number);
  expect(gate(harness, group)).toBe('success: The pull request of this merge group is countersigned');
  await build(harness, group);
  await harness.advance(A_RECHECK);
  expect(harness.github.pullRequest(REPO, number).merged).toBe(true);
  expect(checkLines(harness, headSha)).toEqual(['success: Merged: countersigned by mia']);
});

test('a step with method: queue leaves the merge to people if the settings do', async () => {
  const harness = await namedByStep('merge: { by: people }\n');
  const { number, headSha } = await openBuilt(harness, 'one');
  await countersign(harness, number);
  expect(groupOf(harness, number)).toBe('none');
  expect(checkLines(harness, headSha)).toEqual([
    'in_progress: Countersigned by mia: ready for the merge button',
  ]);
});

test('a pull request that the queue drops is reported at once', async () => {
  const harness = await namedByStep();
  const { number, headSha } = await openBuilt(harness, 'one');
  // By now, the question is polled about once a minute.
  await harness.sleep(2 * 3_600_000);
  await countersign(harness, number);
  await harness.advance(60_000);
  expect(groupOf(harness, number)).not.toBe('none');
  await harness.github.dequeue(REPO, number, 'will');
  await harness.advance(5_000);
  expect(checkLines(harness, headSha)[0]).toMatch(
    /^in_progress: Not merging: the merge queue took it out again/,
  );
});

test('a group fails if its pull request is not countersigned, however it came into the queue', async () => {
  const harness = await unguarded();
  const { github } = harness;
  const { number } = await openBuilt(harness, 'one');
  await github.enqueue(REPO, number, 'will');
  await harness.settle();
  const group = groupOf(harness, number);
  expect(gate(harness, group)).toBe('failure: #1: not merging: nobody has countersigned yet');
});

test('a group with a countersigned pull request behind one without a countersign fails', async () => {
  const harness = await unguarded();
  const { github } = harness;
  const first = await openBuilt(harness, 'one');
  const second = await openBuilt(harness, 'two');
  await countersign(harness, second.number);
  await github.enqueue(REPO, first.number, 'will');
  await github.enqueue(REPO, second.number, 'will');
  await harness.settle();
  expect(gate(harness, groupOf(harness, second.number))).toMatch(/^failure: #1: not merging: nobody has/);
});

test('a countersign that is withdrawn while the group is tested closes its gate', async () => {
  const harness = await queued('people');
  const { github } = harness;
  const { number } = await openBuilt(harness, 'one');
  const reaction = await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  await github.enqueue(REPO, number, 'will');
  await harness.settle();
  const group = groupOf(harness, number);
  expect(gate(harness, group)).toMatch(/^success/);

  await github.unreact(REPO, approvalOf(harness, number).id, reaction);
  await harness.advance(12_000);
  expect(gate(harness, group)).toMatch(/^(failure|cancelled): /);
  await build(harness, group);
  expect(github.pullRequest(REPO, number).merged).toBe(false);
});

test('a pull request that the queue removes is not added again repeatedly', async () => {
  const harness = await queued('queue');
  const { github } = harness;
  const { number, headSha } = await openBuilt(harness, 'one');
  await countersign(harness, number);
  const group = groupOf(harness, number);
  await github.reportCheck(REPO, group, { name: 'build', status: 'completed', conclusion: 'failure' });
  await harness.advance(180_000);
  expect(groupOf(harness, number)).toBe(group);
  expect(checkLines(harness, headSha)[0]).toMatch(
    /^in_progress: Not merging: the merge queue took it out again/,
  );
  expect(gate(harness, headSha)).toMatch(/^in_progress: Not merging: the merge queue took it out again/);
});

test('a pull request is removed from the queue when its countersign is withdrawn', async () => {
  const harness = await queued('queue');
  const { github } = harness;
  const { number } = await openBuilt(harness, 'one');
  const reaction = await react(harness, number, 'mia');
  await harness.advance(A_RECHECK);
  const group = groupOf(harness, number);
  expect(group).not.toBe('none');
  await github.unreact(REPO, approvalOf(harness, number).id, reaction);
  await harness.advance(12_000);
  await build(harness, group);
  await harness.advance(A_RECHECK);
  expect(github.pullRequest(REPO, number).merged).toBe(false);
  expect(gate(harness, group)).not.toMatch(/^success/);
});

test('the app that merges by itself says if a branch requires its merge queue', async () => {
  const harness = await start({ chain: MERGE_ONLY });
  const { github } = harness;
  github.addRuleset(REPO, { mergeQueue: {} });
  const { number, headSha } = await open(harness);
  await countersign(harness, number);
  expect(checkLines(harness, headSha)).toEqual([
    'in_progress: Not merging: main takes changes only through its merge queue; `merge: { by: queue }` in the settings, or `method: queue` of the step, has the app use it',
  ]);
});

test('a group does not fail because a pull request before it lands while the group is judged', async () => {
  const harness = await start({ chain: MERGE_ONLY, settings: 'merge: { by: queue }\n' });
  const { github } = harness;
  // The queue waits for the gate check only, so the first group lands while the second is judged.
  github.addRuleset(REPO, { checks: [{ context: GATE, app: github.app.slug }], mergeQueue: {} });
  const first = await openBuilt(harness, 'one');
  const second = await openBuilt(harness, 'two');
  await react(harness, first.number, 'mia');
  await react(harness, second.number, 'mia');
  await harness.advance(30_000);
  // Either can be the first in the queue: they were countersigned at the same time.
  const merges = github.merges.map(({ number, via }) => ({ number, via }));
  expect(merges.toSorted((a, b) => a.number - b.number)).toEqual([
    { number: first.number, via: 'queue' },
    { number: second.number, via: 'queue' },
  ]);
});
