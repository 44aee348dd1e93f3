// @module-tag slow

import { expect, test } from 'vitest';
import { type ChaosOptions, runChaos } from './chaos.ts';

/**
 * The short form has some of the kinds of stories; `COUNTERSIGN_LONG=1` has 500 pull requests. The same `COUNTERSIGN_SEED` gives
 * the same stories, and the same fault for the same call or delivery.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? 20_260_302);

const CHAOS: ChaosOptions = {
  seed: SEED,
  pullRequests: LONG ? 500 : 4,
  owners: LONG ? 20 : 2,
  failing: 0.1,
  lost: 0.05,
  doubled: 0.05,
  delayed: 0.05,
  restarts: LONG ? 5 : 1,
  opensEveryMs: LONG ? 5_000 : 10_000,
  calmMinutes: LONG ? 40 : 10,
};

test(`${CHAOS.pullRequests} pull requests end correctly, and every effect exists once, after chaos of seed ${SEED}`, async () => {
  const { wrong, ...figures } = await runChaos(CHAOS);
  process.stdout.write(`chaos: ${JSON.stringify(figures)}\n`);
  expect(wrong).toEqual([]);
  // A run without faults proves nothing. Beside the calls that failed, reads that GitHub answered too old count too.
  const failed = Object.values(figures.failed).reduce((sum, count) => sum + count, 0);
  expect(failed / figures.stormy).toBeGreaterThan(0.07);
  expect(failed / figures.stormy).toBeLessThan(0.25);
}, 14_400_000);
