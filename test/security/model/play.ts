import { REPO, startHarness } from '../../support/harness.ts';
import type { Action } from './action.ts';
import { faultsOf } from './oracle.ts';
import { perform } from './perform.ts';
import { filesOf, RULES } from './rules.ts';
import { BASES, LATE_MAINTAINER, World } from './world.ts';

export interface Played {
  /** What was done, a sentence each. */
  told: string[];
  /** Every merge that I1 does not allow, and every countersigned pull request that was not merged at the end. */
  faults: string[];
  /** Merges in the midst of it, and those at its end. */
  merges: { during: number; after: number };
}

/** Plays actions against the real app, then lets a quiet time pass and has everything that is open countersigned. */
export async function play(actions: readonly Action[]): Promise<Played> {
  const harness = await startHarness({ files: filesOf(RULES.usual) });
  const world = new World(harness);
  const told: string[] = [];
  try {
    await world.set();
    for (const action of actions) {
      // The app has nothing left to do at this moment: races are made on purpose, by surprises.
      await world.quiet();
      // No two actions happen at one moment, so that it can be told which came first.
      harness.clock.advance(1);
      const at = harness.clock.now().toISOString().slice(11, 19);
      const done = await perform(world, action);
      if (done !== undefined) told.push(`${at} ${done}`);
      await world.quiet();
      // Later ones may be the first one's fault: what is told ends where it went wrong.
      if (mergeFaults(world).length > 0) break;
    }
    const during = harness.github.merges.length;
    const unmerged = mergeFaults(world).length > 0 ? [] : await finish(world);
    const after = harness.github.merges.length - during;
    return { told, faults: [...mergeFaults(world), ...unmerged], merges: { during, after } };
  } finally {
    await harness.stop();
  }
}

function mergeFaults(world: World): string[] {
  const { github } = world.harness;
  return github.mergeRequests.flatMap((request) => {
    const faults = faultsOf(request, github.app.botLogin, (...span) => world.inForce(...span));
    const outcome = request.refused === undefined ? 'merged' : `not merged (${request.refused})`;
    return faults.map((fault) => `#${request.number} was ${outcome}, but ${fault}`);
  });
}

/** A quiet time, then the usual rules, a fresh head, green CI and somebody who may: that must merge whatever is open. */
async function finish(world: World): Promise<string[]> {
  const { github, advance } = world.harness;
  for (const takeBack of world.prepared) takeBack();
  await github.releaseDeliveries();
  await advance(20_000);
  for (const base of BASES) await world.change('usual', base);
  if (world.open.length === 0) await world.openPull('ada', false);
  const left = world.open;
  for (const { number } of left) {
    await github.comment(REPO, number, LATE_MAINTAINER, '/countersign resume');
    await github.readyForReview(REPO, number, 'ada');
  }
  await world.quiet();
  for (const pull of left) {
    await world.push(pull, 'ada', undefined);
    await github.setStatus(REPO, world.headOf(pull), { context: 'test', state: 'success' });
  }
  await advance(4_000);
  for (const pull of left) {
    const question = world.questions(pull).at(-1);
    if (question) await github.react(REPO, question.id, LATE_MAINTAINER, 'rocket');
  }
  await advance(4_000);
  return left
    .filter(({ number }) => !github.pullRequest(REPO, number).merged)
    .map(({ number }) => `#${number} is clean and countersigned by ${LATE_MAINTAINER}, but not merged`);
}
