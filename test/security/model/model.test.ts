// @module-tag security
// @module-tag slow

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Action, anyPlay } from './action.ts';
import { type Played, play } from './play.ts';

/**
 * Random people do random things to pull requests, and invariant I1 is asserted from what the stand-in recorded at each merge
 * request. The short form takes a few seconds; `COUNTERSIGN_LONG=1` plays thousands of steps. `COUNTERSIGN_SEED` draws both, and
 * is in the test's name.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
const PLAYS = LONG ? 80 : 2;
const MOST_SCENES = LONG ? 30 : 15;
const TIMEOUT_MS = LONG ? 7_200_000 : 120_000;
/** A counterexample that is longer than necessary says more than a timeout. */
const SHRINK_UNTIL_MS = TIMEOUT_MS - 30_000;

test(
  `nothing is merged without a countersign, whoever does what, in ${PLAYS} plays of seed ${SEED}`,
  async () => {
    const seen = { plays: 0, steps: 0, byApp: 0, byOthers: 0, after: 0 };
    const isAllowed = async (actions: Action[]): Promise<boolean> => {
      const { faults, merges } = await play(actions);
      seen.plays += 1;
      seen.steps += actions.length;
      seen.byApp += merges.byApp;
      seen.byOthers += merges.byOthers;
      seen.after += merges.after;
      return faults.length === 0;
    };
    const { failed, counterexample } = await fc.check(fc.asyncProperty(anyPlay(MOST_SCENES), isAllowed), {
      seed: SEED,
      numRuns: PLAYS,
      interruptAfterTimeLimit: SHRINK_UNTIL_MS,
    });
    if (failed) throw new Error(report(await play(counterexample?.[0] ?? [])));
    console.info(
      `seed ${SEED}: ${seen.steps} steps in ${seen.plays} plays, during them ${seen.byApp} merges by the app and ${seen.byOthers} by others, ${seen.after} at their ends`,
    );
    // Plays without a merge prove nothing: they would pass whatever the gate allows.
    if (LONG) expect(seen.byApp + seen.byOthers).toBeGreaterThan(seen.steps / 500);
    expect(seen.after).toBeGreaterThanOrEqual(seen.plays);
  },
  TIMEOUT_MS,
);

function report({ told, faults }: Played): string {
  const lines = [...told, ...faults.map((fault) => `→ ${fault}`)];
  return [`a merge that nobody allowed, or none where one was due (seed ${SEED}):`, ...lines].join('\n  ');
}
