// @module-tag slow

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { openStorage } from '../../src/composition/storage.ts';
import { removePostgresOfScenarios } from '../support/postgres.ts';
import { databaseIn } from './app-process.ts';
import { writesOf } from './durable-writes.ts';
import {
  type KillPoint,
  nameOf,
  pointsAround,
  type RequestPoint,
  type When,
  writesIn,
} from './kill-point.ts';
import { limited } from './limited.ts';
import { type PlayResult, play, type Story } from './play.ts';
import {
  accepted,
  calling,
  commands,
  confirmed,
  findings,
  issue,
  missed,
  prompted,
  renamed,
  slowly,
  together,
  withoutReview,
  withReview,
} from './stories.ts';
import { NEVER_REACHED, ONLY_IN_LONG_FORM, SELDOM, SOMETIMES } from './unreached.ts';

/**
 * The process is killed (SIGKILL) between two steps of its work and started again; it must end in the same state as an
 * undisturbed one. The short form kills it at the most dangerous points. `COUNTERSIGN_LONG=1` kills it before and after every
 * request and every durable write, at pairs of those points, and at random moments; `COUNTERSIGN_SEED` draws both.
 * `COUNTERSIGN_LONG=each` kills it around each kind of request and of durable write, once. `COUNTERSIGN_TEST_DATABASE=postgres`
 * does all of it on PostgreSQL.
 */
const EACH = process.env.COUNTERSIGN_LONG === 'each';
const LONG = EACH || process.env.COUNTERSIGN_LONG === '1';
const SEED = Number(process.env.COUNTERSIGN_SEED ?? Date.now() % 1_000_000);
/** `1/4` plays the first quarter of the long form, so that four machines can share it. */
const SHARE = process.env.COUNTERSIGN_SHARE ?? '1/1';
const [share = 1, shares = 1] = SHARE.split('/').map(Number);
/** Of each story. */
const PAIRS = 10;
const MOMENTS = 50;
const TIMEOUT_MS = LONG ? 4 * 3_600_000 : 600_000;

const REPO = '/repos/{owner}/{repo}';
const CHECK_RUN = `POST ${REPO}/check-runs`;
const UPDATE_CHECK_RUN = `PATCH ${REPO}/check-runs/{number}`;
/** The poll that finds the countersign: people's reactions are read only when there are some. */
const LOOK = `GET ${REPO}/issues/comments/{number}/reactions`;
const COMMENT = `POST ${REPO}/issues/{number}/comments`;
const REVIEW = `POST ${REPO}/pulls/{number}/reviews`;
const ISSUE = `POST ${REPO}/issues`;
const LABEL = `POST ${REPO}/issues/{number}/labels`;
const MERGE = `PUT ${REPO}/pulls/{number}/merge`;

/** For each point, a story that reaches it, and if needed the first death after which it does. */
const STORY_OF: Record<(typeof SELDOM)[number], { story: Story; first?: KillPoint }> = {
  'jobs.release': { story: withoutReview, first: around('after', CHECK_RUN) },
  'missedDeliveries.remove': { story: missed, first: around('after', COMMENT) },
  'jobs.extend': { story: slowly },
  'runs.renameRepository': { story: renamed },
};

/** An app and a stand-in use a processor half of the time, and wait in the other. */
const inTurn = limited(3);

afterAll(removePostgresOfScenarios);

if (LONG) await describeLongForm();
else describeShortForm();

async function describeLongForm(): Promise<void> {
  const stories = {
    withoutReview,
    withReview,
    findings,
    commands,
    issue,
    missed,
    confirmed,
    prompted,
    together,
    calling,
    accepted,
  };
  const told = await Promise.all(
    Object.entries(stories).map(async ([name, story]) => ({
      name,
      story,
      undisturbed: await inTurn(() => play(story)),
    })),
  );
  expectEveryWriteReached(
    told.map(
      ({ undisturbed }) =>
        () =>
          Promise.resolve(undisturbed),
    ),
  );
  expectSameEndAtSeldomWrites();
  const killedAt = new Set<string>();
  for (const { name, story, undisturbed } of told) {
    const deaths = EACH ? deathsAtEach(undisturbed, killedAt) : allDeaths(story, undisturbed, killedAt);
    // By name, because the list of points differs a little each time.
    const mine = deaths.filter((death) => Math.abs(fc.hash(JSON.stringify(death))) % shares === share - 1);
    if (mine.length === 0) continue;
    describe(`${name}: ${deaths.length} kills, seed ${SEED}, share ${SHARE}`, () => {
      expectSameEnd(story, () => Promise.resolve(undisturbed), mine);
    });
  }
}

/** @param killedAt the names of the writes of the stories before, to which those of this one are added */
function allDeaths(story: Story, { routes, points, ms }: PlayResult, killedAt: Set<string>): KillPoint[][] {
  const requests = pointsAround(routes);
  const all = writesIn(points);
  // The two stories of a merge differ only in what the review writes.
  const writes = story === withReview ? all.filter((point) => !killedAt.has(point.name)) : all;
  for (const point of writes) killedAt.add(point.name);
  const anyPoint = fc.constantFrom(...requests, ...all);
  const pairs = fc.sample(fc.tuple(anyPoint, anyPoint), { seed: SEED, numRuns: PAIRS });
  // Every moment with the same likelihood; the generator itself would prefer the first few milliseconds.
  const anyMoment = fc.noBias(fc.integer({ min: 0, max: ms }));
  const moments = fc.sample(anyMoment, { seed: SEED, numRuns: MOMENTS });
  return [
    ...moments.map((at): KillPoint[] => [{ at: 'moment', ms: at }]),
    ...requests.map((point) => [point]),
    ...writes.map((point) => [point]),
    ...pairs,
  ];
}

/** Around the first request of each route and the first durable write of each method that no story before had. */
function deathsAtEach({ routes, points }: PlayResult, killedAt: Set<string>): KillPoint[][] {
  const writes = writesIn(points).flatMap(({ when, name }) =>
    name.split('+').map((write): KillPoint => ({ at: 'write', when, name: `*${write}`, nth: 1 })),
  );
  return [...pointsAround(routes).filter(({ nth }) => nth === 1), ...writes].flatMap((point) => {
    if (killedAt.has(nameOf(point))) return [];
    killedAt.add(nameOf(point));
    return [[point]];
  });
}

function expectSameEndAtSeldomWrites(): void {
  for (const write of SELDOM) {
    const { story, first } = STORY_OF[write];
    const before = first ? [first] : [];
    const undisturbed = once(() => inTurn(() => play(story)));
    const lives = first ? once(() => inTurn(() => play(story, before, { allWatched: true }))) : undisturbed;
    for (const when of ['before', 'after'] as const) {
      const name = `ends the same when it is killed ${[...before.map(nameOf), `${when} ${write} is committed`].join(', then ')}`;
      test.concurrent(name, { timeout: TIMEOUT_MS }, async () => {
        const points = writesIn((await lives()).points);
        const isThere = points.some((point) => point.name.split('+').includes(write));
        if (!isThere) throw new Error(`no life came to ${write}`);
        const deaths = [...before, { at: 'write' as const, when, name: `*${write}`, nth: 1 }];
        const told = await inTurn(() => play(story, deaths));
        expect(told.end).toEqual((await undisturbed()).end);
        expect(told.killed).toEqual(deaths.map(nameOf));
      });
    }
  }
}

function describeShortForm(): void {
  const told: (() => Promise<PlayResult>)[] = [];
  const undisturbedPlay = (story: Story) => {
    const undisturbed = once(() => inTurn(() => play(story)));
    told.push(undisturbed);
    return undisturbed;
  };

  describe('a chain without a review', () => {
    const undisturbed = undisturbedPlay(withoutReview);
    expectOneOfEach(undisturbed);
    // In one play: separate ones would start two more apps each and repeat the same work.
    expectSameEnd(withoutReview, undisturbed, [
      [around('while', CHECK_RUN), around('after', LOOK), around('after', MERGE)],
      [around('between', CHECK_RUN), around('between', COMMENT)],
    ]);
    expectSameEndAtWrites(withoutReview, undisturbed, [
      { when: 'after', what: 'records the delivery', writes: /inbox\.record|deliveries\.record/ },
    ]);
  });

  describe('the shipped chain, whose check run has annotations', () => {
    const undisturbed = undisturbedPlay(withReview);
    expectSameEnd(withReview, undisturbed, [[around('after', UPDATE_CHECK_RUN)]]);
  });

  describe('a chain that writes findings', () => {
    const undisturbed = undisturbedPlay(findings);
    expectSameEnd(findings, undisturbed, [
      [around('after', REVIEW), around('after', ISSUE)],
      [around('while', REVIEW), around('while', ISSUE), around('after', LABEL)],
    ]);
  });

  describe('a composite trigger', () => {
    const undisturbed = undisturbedPlay(together);
    const write = (when: When, name: string): KillPoint => ({ at: 'write', when, name: `*${name}`, nth: 1 });
    expectSameEnd(together, undisturbed, [
      // Between its parts, and then before its firing is committed.
      [write('after', 'composites.put'), write('before', 'firings.insert')],
      [write('after', 'firings.insert')],
    ]);
    test.concurrent('fires once', { timeout: TIMEOUT_MS }, async () => {
      const { end } = await undisturbed();
      expect(end.comments.filter((body) => body.includes('Ships'))).toHaveLength(1);
      expect(end.rows.firings).toEqual([{ chain: 'ship', status: 'fired', reason: null, count: 1 }]);
    });
  });

  describe('a step that runs another chain', () => {
    const undisturbed = undisturbedPlay(calling);
    // The second insert is that of the other run, together with the record that the step waits.
    const begins = (when: When): KillPoint => ({ at: 'write', when, name: '*runs.insert', nth: 2 });
    expectSameEnd(calling, undisturbed, [
      [begins('before')],
      [begins('after'), around('after', COMMENT)],
      [around('while', COMMENT)],
    ]);
    test.concurrent('runs it once', { timeout: TIMEOUT_MS }, async () => {
      const { end } = await undisturbed();
      expect(end.comments.filter((body) => body.includes('Welcome'))).toHaveLength(1);
    });
  });

  expectEveryWriteReached(told, ONLY_IN_LONG_FORM);
}

/** At a durable write that no story reaches, nobody dies: a method that is added later must get its story. */
function expectEveryWriteReached(
  told: readonly (() => Promise<PlayResult>)[],
  otherwise: readonly string[] = [],
) {
  const name = 'every durable write is in a story, or on the list of those that are in none';
  test.concurrent(name, { timeout: TIMEOUT_MS }, async () => {
    const plays = await Promise.all(told.map((undisturbed) => undisturbed()));
    const points = plays.flatMap((play) => play.points);
    const reached = new Set(writesIn(points).flatMap((point) => point.name.split('+')));
    const writes = await everyWrite();
    const listed = [...Object.keys(NEVER_REACHED), ...SELDOM, ...SOMETIMES, ...otherwise];
    expect(writes.filter((write) => !reached.has(write) && !listed.includes(write))).toEqual([]);
    expect(listed.filter((write) => !writes.includes(write))).toEqual([]);
  });
}

async function everyWrite(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-crash-'));
  const storage = await openStorage(`sqlite:${databaseIn(folder)}`);
  try {
    return await storage.transaction(async (tx) => writesOf(tx));
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true });
  }
}

function around(when: RequestPoint['when'], route: string, nth = 1): KillPoint {
  return { at: 'request', when, route, nth };
}

function expectOneOfEach(undisturbed: () => Promise<PlayResult>): void {
  test.concurrent(
    'ends with one merge, one check run and one comment of each kind',
    async () => {
      const { end } = await undisturbed();
      expect(end.merges).toHaveLength(1);
      expect(end.checkRuns).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
      const kinds = end.comments.map((body) => /<!-- countersign:(\w+)/.exec(body)?.[1]);
      // The status comment comes only if the approval comment did not say everything soon enough.
      expect(kinds.filter((kind) => kind !== 'status')).toEqual(['approval', 'comment']);
      expect(new Set(kinds).size).toBe(kinds.length);
    },
    TIMEOUT_MS,
  );
}

function expectSameEnd(
  story: Story,
  undisturbed: () => Promise<PlayResult>,
  deaths: readonly (readonly KillPoint[])[],
): void {
  for (const points of deaths) {
    // The runner's own templates would shorten these names, and then `-t` could not choose them.
    const name = `ends the same when it is killed ${points.map(nameOf).join(', then ')}`;
    test.concurrent(name, { timeout: TIMEOUT_MS }, async (context) => {
      const told = await inTurn(() => playKilled(story, points));
      expect(told.end).toEqual((await undisturbed()).end);
      // How often something is read or claimed depends on the moment, so another run may not reach a late point.
      if (LONG && told.killed.length < points.length) context.skip('that point did not come this time');
      expect(told.killed).toHaveLength(points.length);
    });
  }
}

/** How often a story is played whose points did not all come. */
const PLAYS = 5;

/**
 * A moment comes too late if the machine has become faster since its story was timed; then it comes earlier. Writes of work
 * that is done side by side may share a commit; then the point between them does not come, and the story is played again.
 */
async function playKilled(story: Story, points: readonly KillPoint[], plays = PLAYS): Promise<PlayResult> {
  const told = await play(story, points);
  const isShort = told.killed.length < points.length && points.every(({ at }) => at === 'write');
  if (isShort && plays > 1) return playKilled(story, points, plays - 1);
  const isLate = told.killed.length === 0 && points.some(({ at }) => at === 'moment');
  if (!isLate) return told;
  const earlier = points.map((point) =>
    point.at === 'moment' ? { ...point, ms: Math.floor(point.ms / 2) } : point,
  );
  return playKilled(story, earlier);
}

/** A write by what it does: the nth of those in an undisturbed run that match. */
interface DangerousWrite {
  when: When;
  what: string;
  writes: RegExp;
  nth?: number;
}

function expectSameEndAtWrites(
  story: Story,
  undisturbed: () => Promise<PlayResult>,
  dangerous: readonly DangerousWrite[],
): void {
  for (const { when, what, writes, nth = 1 } of dangerous) {
    const name = `ends the same when it is killed ${when} the write that ${what} is committed`;
    test.concurrent(name, { timeout: TIMEOUT_MS }, async () => {
      const { points, end } = await undisturbed();
      const matching = writesIn(points).filter((point) => point.when === when && writes.test(point.name));
      const point = matching[nth - 1];
      if (!point) throw new Error(`no write ${nth} matches ${writes}:\n${points.join('\n')}`);
      const told = await inTurn(() => play(story, [point]));
      expect(told.end).toEqual(end);
      expect(told.killed).toEqual([nameOf(point)]);
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
