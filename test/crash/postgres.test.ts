// @module-tag slow
import { afterAll, describe, expect, test } from 'vitest';
import { postgresPrograms, removePostgresOfScenarios, WITHOUT_POSTGRES } from '../support/postgres.ts';
import { type KillPoint, nameOf, type When } from './kill-point.ts';
import { limited } from './limited.ts';
import { type PlayResult, play } from './play.ts';
import { withoutReview } from './stories.ts';

/**
 * A sample of the crash points on PostgreSQL, where the next process waits for the lease of the one that was killed. All of them:
 * `COUNTERSIGN_LONG=1 COUNTERSIGN_TEST_DATABASE=postgres npx vitest run test/crash/crash.test.ts`.
 */
const TIMEOUT_MS = 600_000;
const REPO = '/repos/{owner}/{repo}';

const write = (when: When, name: string, nth = 1): KillPoint => ({
  at: 'write',
  when,
  name: `*${name}`,
  nth,
});

const DEATHS: readonly KillPoint[][] = [
  [
    { at: 'request', when: 'while', route: `POST ${REPO}/check-runs`, nth: 1 },
    { at: 'request', when: 'after', route: `PUT ${REPO}/pulls/{number}/merge`, nth: 1 },
  ],
  [write('before', 'deliveries.record'), write('after', 'deliveries.record')],
  [write('after', 'runs.insert'), write('before', 'approvals.save')],
  [write('after', 'approvals.save')],
];

afterAll(removePostgresOfScenarios);

/** Each waits most of its time. */
const inTurn = limited(3);

describe.skipIf(postgresPrograms === undefined)(
  `an app on PostgreSQL that is killed and started again${WITHOUT_POSTGRES}`,
  () => {
    let undisturbed: Promise<PlayResult> | undefined;
    const wanted = () => {
      undisturbed ??= inTurn(() => play(withoutReview, [], { on: 'postgres' }));
      return undisturbed;
    };

    test.concurrent.each(DEATHS.map((points) => ({ points, name: points.map(nameOf).join(', then ') })))(
      'ends the same when it is killed $name',
      { timeout: TIMEOUT_MS },
      async ({ points }) => {
        const told = await inTurn(() => play(withoutReview, points, { on: 'postgres' }));
        expect(told.end).toEqual((await wanted()).end);
        expect(told.killed).toEqual(points.map(nameOf));
      },
    );
  },
);
