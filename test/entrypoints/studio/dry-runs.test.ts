import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import { createDryRuns } from '../../../src/entrypoints/studio/dry-runs.ts';
import type { DryRunAsked, DryRunEnd, DryRunPlayer, ShownStep } from '../../../src/ports/dry-runs.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { ManualClock } from '../../support/clock.ts';
import { sqliteTestDatabase } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const ASKED: DryRunAsked = {
  repo: { owner: 'octo', name: 'app' },
  pullRequest: 12,
  chain: 'pr-review',
  stored: [],
};
const MIA = { personId: 1, repositoryId: 7, token: 'ghu_mia' };
const STEP: ShownStep = {
  id: 'ci',
  depth: 0,
  mark: '…',
  words: 'waits',
  state: 'waiting',
  reason: null,
  dependsOn: [],
};

let clock: ManualClock;
let storage: Storage;
let remove: () => Promise<void>;
/** What is due in a process when its next second has passed. */
let due: (() => void)[];
let played: { signal: AbortSignal; show(steps: readonly ShownStep[]): void; end(end: DryRunEnd): void }[];

beforeEach(async () => {
  clock = new ManualClock('2026-03-02T09:00:00.000Z');
  ({ storage, remove } = await sqliteTestDatabase(clock));
  due = [];
  played = [];
});
afterEach(() => remove());

/** One of several processes that have Studio. Its dry runs end when they are stopped, or the test says so. */
function newProcess(given: Pick<Storage, 'read' | 'transaction'> = storage) {
  const play: DryRunPlayer['play'] = (_, __, { signal, onSteps }) => {
    const { promise, resolve } = Promise.withResolvers<DryRunEnd>();
    signal.addEventListener('abort', () => resolve({ kind: 'failed', because: 'stopped' }));
    played.push({ signal, show: onSteps, end: resolve });
    return promise;
  };
  const timers = {
    after(_: number, work: () => void) {
      due.push(work);
      return () => undefined;
    },
  };
  return createDryRuns({ player: { play }, storage: given, clock, timers, log: silentLog });
}

const aSecond = () => {
  for (const work of due.splice(0)) work();
};

async function begunIn(process: ReturnType<typeof newProcess>, by = MIA): Promise<string> {
  const begun = await process.begin(ASKED, by);
  if (begun.kind !== 'begun') throw new Error(`not begun: ${begun.kind}`);
  return begun.id;
}

const endOf = (process: ReturnType<typeof newProcess>, id: string) =>
  until('the end', async () => (await process.of(MIA.personId, id))?.end ?? undefined);

describe('a dry run in Studio', () => {
  it('is shown by each process, with the steps so far and its result', async () => {
    const [one, other] = [newProcess(), newProcess()];
    const id = await begunIn(one);
    const begun = await other.of(MIA.personId, id);
    expect(begun).toMatchObject({ chain: 'pr-review', repository: 'octo/app', pullRequest: 12, end: null });
    played[0]?.show([STEP]);
    const working = await until('the steps', async () => {
      const found = await other.of(MIA.personId, id);
      return found?.steps.length === 1 ? found : undefined;
    });
    expect(working.steps).toEqual([STEP]);
    expect(working.stamp).not.toBe(begun?.stamp);
    played[0]?.end({ kind: 'failed', because: 'hidden' });
    expect(await endOf(other, id)).toEqual({ kind: 'failed', because: 'hidden' });
    expect((await other.of(MIA.personId, id))?.stamp).not.toBe(working.stamp);
  });

  it('is stopped within a second by a process that does not play it, for the person who asked only', async () => {
    const [one, other] = [newProcess(), newProcess()];
    const id = await begunIn(one);
    await other.stop(2, id);
    aSecond();
    expect(await other.of(2, id)).toBeUndefined();
    await until('the next second', () => (due.length > 0 ? true : undefined));
    expect(played[0]?.signal.aborted).toBe(false);
    await other.stop(MIA.personId, id);
    aSecond();
    expect(await endOf(other, id)).toEqual({ kind: 'failed', because: 'stopped' });
    await one.close();
    // It asks no more once nothing is played.
    aSecond();
    await storage.read.dryRuns.get(id);
    expect(due).toEqual([]);
  });

  it('is one at once for a person in all processes together, and two for all in each', async () => {
    const [one, other] = [newProcess(), newProcess()];
    const id = await begunIn(one);
    expect(await other.begin(ASKED, MIA)).toEqual({ kind: 'own', id });
    expect(await other.inTheWay(MIA.personId)).toEqual({ kind: 'own', id });
    const asked = [2, 3, 4].map((personId) => one.begin(ASKED, { ...MIA, personId }));
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['begun', 'busy', 'busy']);
    expect(await other.begin(ASKED, { ...MIA, personId: 5 })).toMatchObject({ kind: 'begun' });
    await Promise.all([one.close(), other.close()]);
  });

  it('is lost with a process that ends without a word, and is then in nobody’s way', async () => {
    const [killed, next] = [newProcess(), newProcess()];
    const id = await begunIn(killed);
    clock.advance(3 * MINUTE - 1);
    expect(await next.of(MIA.personId, id)).toMatchObject({ end: null });
    expect(await next.begin(ASKED, MIA)).toEqual({ kind: 'own', id });
    clock.advance(1);
    expect(await next.of(MIA.personId, id)).toMatchObject({ end: { kind: 'failed', because: 'lost' } });
    expect(await next.begin(ASKED, MIA)).toMatchObject({ kind: 'begun' });
  });

  it('is stopped, and says so, when its process is asked to end', async () => {
    const one = newProcess();
    const id = await begunIn(one);
    await one.close();
    expect(await newProcess().of(MIA.personId, id)).toMatchObject({
      end: { kind: 'failed', because: 'stopped' },
    });
    expect(await one.begin(ASKED, MIA)).toEqual({ kind: 'busy' });
  });

  it('is shown for half an hour after its end, and leaves no row behind', async () => {
    const one = newProcess();
    const id = await begunIn(one);
    played[0]?.end({ kind: 'failed', because: 'hidden' });
    await endOf(one, id);
    clock.advance(30 * MINUTE - 1);
    expect(await one.of(MIA.personId, id)).toBeDefined();
    clock.advance(1);
    expect(await one.of(MIA.personId, id)).toBeUndefined();
    clock.advance(4 * MINUTE);
    await begunIn(one);
    expect(await storage.read.dryRuns.get(id)).toBeUndefined();
  });

  it('writes the newest of many steps, and goes on when they cannot be written', async () => {
    let writes = 0;
    const failing: Pick<Storage, 'read' | 'transaction'> = {
      read: storage.read,
      transaction: (work, options) =>
        storage.transaction(
          (tx) =>
            work({
              ...tx,
              dryRuns: {
                ...tx.dryRuns,
                async changeSteps(id, steps) {
                  writes += 1;
                  if (writes === 1) throw new Error('the disk is full');
                  return tx.dryRuns.changeSteps(id, steps);
                },
              },
            }),
          options,
        ),
    };
    const one = newProcess(failing);
    const id = await begunIn(one);
    for (let nth = 1; nth <= 100; nth++) played[0]?.show([{ ...STEP, words: `step ${nth}` }]);
    await until('the newest steps', async () =>
      (await one.of(MIA.personId, id))?.steps[0]?.words === 'step 100' ? true : undefined,
    );
    expect(writes).toBe(2);
    await one.close();
  });
});
