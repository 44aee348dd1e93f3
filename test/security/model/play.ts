import type { MergeRecord } from '../../support/github/merge-record.ts';
import { REPO, startHarness } from '../../support/harness.ts';
import type { Action } from './action.ts';
import { violationsOf, violationsOfOthersMerge } from './oracle.ts';
import { perform } from './perform.ts';
import { filesOf, RULES } from './rules.ts';
import { BASES, LATE_MAINTAINER, type Pull, World } from './world.ts';

export interface Played {
  /** What was done, a sentence each. */
  told: string[];
  /** Every merge that I1 does not allow, and every countersigned pull request that was not merged at the end. */
  faults: string[];
  /** Merges during the play, by the app and by others, and those at its end. */
  merges: { byApp: number; byOthers: number; after: number };
}

/** Plays actions against the real app, then lets time pass without actions and has everything that is open countersigned. */
export async function play(actions: readonly Action[]): Promise<Played> {
  const harness = await startHarness({ files: filesOf(RULES.usual) });
  const world = new World(harness);
  const told: string[] = [];
  try {
    await world.set();
    for (const action of actions) {
      // The app has nothing left to do at this moment: surprises create races on purpose.
      await world.quiet();
      // No two actions happen at the same moment, so that it is known which came first.
      harness.clock.advance(1);
      world.remember();
      const at = harness.clock.now().toISOString().slice(11, 19);
      const done = await perform(world, action);
      if (done !== undefined) told.push(`${at} ${done}`);
      await world.quiet();
      // Later ones may follow from the first, so the report ends with it.
      if (mergeDiagnostics(world).length > 0) break;
    }
    const during = [...harness.github.merges];
    const byApp = during.filter(({ via }) => via === 'api').length;
    const unmerged = mergeDiagnostics(world).length > 0 ? [] : await finish(world);
    const after = harness.github.merges.length - during.length;
    const merges = { byApp, byOthers: during.length - byApp, after };
    return { told, faults: [...mergeDiagnostics(world), ...unmerged], merges };
  } finally {
    await harness.stop();
  }
}

function mergeDiagnostics(world: World): string[] {
  const { github } = world.harness;
  const asked = github.mergeRequests.flatMap((request) => {
    const rules = world.rulesAt(request.pullRequest.baseRef, request.at);
    const faults = violationsOf(request, github.app.botLogin, rules);
    const outcome = request.refused === undefined ? 'merged' : `not merged (${request.refused})`;
    return faults.map((fault) => `#${request.number} was ${outcome}, but ${fault}`);
  });
  return [...asked, ...github.merges.flatMap((merge) => faultsOfOthers(world, merge))];
}

function faultsOfOthers(world: World, merge: MergeRecord): string[] {
  const { via, at, number, pullRequest, by } = merge;
  if (via === 'api' || !world.isGuarded(pullRequest.baseRef, at)) return [];
  const { github } = world.harness;
  const { before } = world;
  const window = world.windowOf(merge);
  const rules = world.rulesAt(pullRequest.baseRef, at);
  return violationsOfOthersMerge(merge, github.app.botLogin, rules, { window, before }).map(
    (fault) => `#${number} was merged by ${by} (${via}), but ${fault}`,
  );
}

/**
 * Time without actions, then the default rules, a new head, green CI and an eligible person: that must merge whatever is open.
 */
async function finish(world: World): Promise<string[]> {
  const { github, advance } = world.harness;
  for (const takeBack of world.prepared) takeBack();
  await world.release('fifo');
  // The app's writes per minute are limited, and earlier ones may have used them up.
  await advance(70_000);
  const hasQueue = world.guard === 'queue' || world.guard === 'tested queue';
  for (const base of BASES) await world.change(hasQueue ? 'queue' : 'usual', base);
  for (const { number } of world.open.filter((pull) => isAside(world, pull)))
    await github.closePullRequest(REPO, number, 'ada');
  if (world.open.length === 0) await world.openPull('ada', false);
  const left = world.open;
  for (const { number } of left) {
    await github.comment(REPO, number, LATE_MAINTAINER, '/countersign resume');
    await github.readyForReview(REPO, number, 'ada');
  }
  await world.quiet();
  for (const pull of left) {
    await world.push(pull, 'ada', undefined);
  }
  // Two of them may have one branch.
  for (const pull of left) {
    await github.setStatus(REPO, world.headOf(pull), { context: 'test', state: 'success' });
  }
  const unmerged = () => left.filter(({ number }) => !github.pullRequest(REPO, number).merged);
  for (let round = 0; round < 4 && unmerged().length > 0; round += 1) {
    await advance(round === 0 ? 4_000 : 70_000);
    for (const pull of unmerged()) {
      const question = world.questions(pull).at(-1);
      if (question) await github.react(REPO, question.id, LATE_MAINTAINER, 'rocket');
    }
    await advance(4_000);
    for (const group of world.groups)
      await github.setStatus(REPO, group, { context: 'test', state: 'success' });
    if (hasQueue) await advance(12_000);
  }
  return unmerged().map((pull) => {
    const said = github.checkRuns(REPO, world.headOf(pull)).map(({ title }) => title ?? '');
    return `#${pull.number} is clean and countersigned by ${LATE_MAINTAINER}, but not merged: ${said.join('; ')}`;
  });
}

/**
 * Whether it need not be merged at the end: it was opened for the branch of another pull request, or for one of which something
 * was merged already, so that the next push to it may conflict.
 */
function isAside({ harness: { github }, pulls }: World, { number, branch }: Pull): boolean {
  const others = pulls.filter((other) => other.branch === branch && other.number !== number);
  return others.some((other) => other.number < number || github.pullRequest(REPO, other.number).merged);
}
