import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Action, anyPlay } from './action.ts';
import { type Played, play } from './play.ts';

/**
 * Random people do random things to pull requests, and invariant I1 is asserted from what the stand-in wrote down at
 * each merge request. The short form takes a few seconds; `COUNTERSIGN_LONG=1` plays thousands of steps. Both are
 * drawn by `COUNTERSIGN_SEED`, which the test's name tells.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
const PLAYS = LONG ? 200 : 5;
const MOST_SCENES = 40;
const TIMEOUT_MS = LONG ? 3_600_000 : 120_000;

test(
  `nothing is merged without a countersign, whoever does what, in ${PLAYS} plays of seed ${SEED}`,
  async () => {
    let steps = 0;
    let merges = 0;
    const isAllowed = async (actions: Action[]): Promise<boolean> => {
      const played = await play(actions);
      steps += actions.length;
      merges += played.merges.during;
      return played.faults.length === 0;
    };
    const result = await fc.check(fc.asyncProperty(anyPlay(MOST_SCENES), isAllowed), {
      seed: SEED,
      numRuns: PLAYS,
    });
    if (result.failed) {
      const [shrunk = []] = result.counterexample ?? [];
      throw new Error(report(await play(shrunk), steps));
    }
    if (LONG) console.info(`${steps} steps of ${PLAYS} plays, ${merges} merges in the midst of them`);
    expect(merges, 'a play in which nothing is merged shows nothing').toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

function report({ told, faults }: Played, steps: number): string {
  return [
    `After ${steps} steps, shrunk (seed ${SEED}):`,
    ...told,
    ...faults.map((fault) => `! ${fault}`),
  ].join('\n  ');
}
