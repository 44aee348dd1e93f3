import { expect, test } from 'vitest';
import { MERGE_ONLY, open, start } from '../scenario/support.ts';
import { watchDatabases } from '../support/statements.ts';
import { person, studioFor } from '../support/studio.ts';

/** The statements of each page, however many rows it shows. */
const MOST = {
  '/': 12,
  '/?show=yours': 10,
  '/?show=stopped': 9,
  '/octo/app/pull/1': 10,
  '/insight': 4,
  '/runs/run_1': 15,
};

/** Those of operators. */
const MOST_OF_OPERATORS = {
  '/operations': 9,
  '/operations/deliveries': 2,
  '/operations/deliveries?repository=octo/app&text=p': 5,
  '/operations/effects?status=done': 3,
  '/operations/settings': 0,
};

test('a page of Studio asks the database for the same, however many pull requests it shows', async () => {
  const database = watchDatabases();
  try {
    const harness = await start({ chain: MERGE_ONLY, pollMs: 3_600_000 });
    await harness.settle();
    const mia = await studioFor(harness, { viewer: person(900, 'mia') });
    const operator = await studioFor(harness);
    const counts = async (most: Record<string, number>) => {
      const found: Record<string, number> = {};
      for (const path of Object.keys(most)) {
        database.reset();
        expect((await (path in MOST ? mia : operator)(path)).status).toBe(200);
        found[path] = database.work().statements;
      }
      return found;
    };
    await open(harness);
    const { items } = await harness.app.storage.read.operations.deliveries({ limit: 1 });
    const delivery = `/operations/deliveries/${items[0]?.guid}`;
    const most = { ...MOST, ...MOST_OF_OPERATORS, [delivery]: 7 };
    const one = await counts(most);
    for (const branch of ['one', 'two', 'three']) await open(harness, { branch });
    // What Insight remembers is out of date.
    await harness.sleep(120_000);
    expect(await counts(most)).toEqual(one);
    const tooMany = Object.entries(most).filter(([path, allowed]) => (one[path] ?? 0) > allowed);
    expect(tooMany.map(([path, allowed]) => [path, one[path], allowed])).toEqual([]);
  } finally {
    database.stop();
  }
});
