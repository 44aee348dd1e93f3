// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDeliveryFates, PROMPT } from './delivery-order.ts';
import { play } from './play.ts';
import { anyStory } from './story.ts';

/**
 * Deliveries come late, twice and out of order, but they come. In any case a pull request ends in the state that it has when each
 * delivery comes once and at once, and that GitHub has. `COUNTERSIGN_LONG=1` plays many more stories, drawn by
 * `COUNTERSIGN_SEED`. Deliveries that never come are a matter of reconciliation, not of this test.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
const STORIES = LONG ? 300 : 2;
const TIMEOUT_MS = LONG ? 3_600_000 : 120_000;

test(
  `deliveries that come late, twice and in any order lead to the same end, in ${STORIES} stories of seed ${SEED}`,
  async () => {
    const property = fc.asyncProperty(anyStory, anyDeliveryFates, async (story, fates) => {
      const told = await play(story, fates);
      expect(told.contradictions).toEqual([]);
      if (!told.waits) return;
      expect(told.ends.at(-1)?.pullRequest.merged).toBe(true);
      expect(told.ends).toEqual((await play(story, [PROMPT])).ends);
    });
    await fc.assert(property, {
      seed: SEED,
      numRuns: STORIES,
      // A counterexample that is longer than necessary says more than a timeout.
      interruptAfterTimeLimit: TIMEOUT_MS - 30_000,
    });
  },
  TIMEOUT_MS,
);
