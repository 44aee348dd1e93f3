import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atMost } from './at-most.ts';
import { type KillPoint, nameOf, pointsAround } from './kill-point.ts';
import { play, type Story, type Told } from './play.ts';
import { withoutReview, withReview } from './stories.ts';

/**
 * The process is killed (SIGKILL) between two steps of a pull request's way and started again; it must end in the same
 * state as one that nobody disturbed. The short form kills it at the writes. `COUNTERSIGN_LONG=1` kills it before
 * and after every request of the shipped chain's way, then at pairs of them, drawn by `COUNTERSIGN_SEED`.
 */
const LONG = process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
const PAIRS = 40;
const TIMEOUT_MS = LONG ? 3_600_000 : 120_000;

const REPO = '/repos/{owner}/{repo}';
const CHECK_RUN = `POST ${REPO}/check-runs`;
const UPDATE_CHECK_RUN = `PATCH ${REPO}/check-runs/{number}`;
const COMMENT = `POST ${REPO}/issues/{number}/comments`;
const LABEL = `POST ${REPO}/issues/{number}/labels`;
const MERGE = `PUT ${REPO}/pulls/{number}/merge`;
const LOOK = `GET ${REPO}/issues/comments/{number}/reactions`;

/** An app and a stand-in keep a processor busy, most of the time. */
const inTurn = atMost(2);

if (LONG) {
  const undisturbed = await play(withReview);
  const points = pointsAround(undisturbed.routes);
  const anyPoint = fc.constantFrom(...points);
  const pairs = fc.sample(fc.tuple(anyPoint, anyPoint), { seed: SEED, numRuns: PAIRS });
  describe(`the shipped chain, at each of ${points.length} points and at ${PAIRS} pairs of seed ${SEED}`, () => {
    expectSameEnd(withReview, () => Promise.resolve(undisturbed), [
      ...points.map((point) => [point]),
      ...pairs,
    ]);
  });
} else {
  describe('a chain without a review', () => {
    const undisturbed = once(() => inTurn(() => play(withoutReview)));
    expectOneOfEach(undisturbed);
    expectSameEnd(withoutReview, undisturbed, [
      [{ when: 'before', route: CHECK_RUN, nth: 1 }],
      [{ when: 'after', route: CHECK_RUN, nth: 1 }],
      // The approval comment, the chain's own and the status comment, in whichever order.
      [{ when: 'after', route: COMMENT, nth: 1 }],
      [{ when: 'after', route: COMMENT, nth: 3 }],
      [{ when: 'before', route: LOOK, nth: 1 }],
      [{ when: 'before', route: MERGE, nth: 1 }],
      [{ when: 'after', route: MERGE, nth: 1 }],
      [{ when: 'after', route: LABEL, nth: 1 }],
    ]);
  });

  describe('the shipped chain, whose check run has annotations', () => {
    const undisturbed = once(() => inTurn(() => play(withReview)));
    expectSameEnd(withReview, undisturbed, [[{ when: 'after', route: UPDATE_CHECK_RUN, nth: 1 }]]);
  });
}

function expectOneOfEach(undisturbed: () => Promise<Told>): void {
  test.concurrent(
    'ends with one merge, one check run and one comment of each kind',
    async () => {
      const { end } = await undisturbed();
      expect(end.pullRequest).toMatchObject({ merged: true, merges: 1 });
      expect(end.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
      const kinds = end.comments.map((body) => /<!-- countersign:(\w+)/.exec(body)?.[1]);
      expect(kinds).toEqual(['approval', 'comment', 'status']);
    },
    TIMEOUT_MS,
  );
}

function expectSameEnd(
  story: Story,
  undisturbed: () => Promise<Told>,
  deaths: readonly (readonly KillPoint[])[],
): void {
  for (const points of deaths) {
    // The runner's own templates would cut these names short, and then they could not be chosen with `-t`.
    const name = `ends the same when it is killed ${points.map(nameOf).join(', then ')}`;
    test.concurrent(name, { timeout: TIMEOUT_MS }, async (context) => {
      const told = await inTurn(() => play(story, points));
      expect(told.end).toEqual((await undisturbed()).end);
      // How often something is read depends on the moment, so a late look may not come in another run.
      if (LONG && told.killed.length < points.length) context.skip('that request did not come this time');
      expect(told.killed).toEqual(points.map(nameOf));
    });
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
