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
  '/insight': 3,
  '/runs/run_1': 12,
};

test('a page of Studio asks the database for the same, however many pull requests it shows', async () => {
  const database = watchDatabases();
  try {
    const harness = await start({ chain: MERGE_ONLY, pollMs: 3_600_000 });
    const get = await studioFor(harness, { viewer: person(900, 'mia') });
    const counts = async () => {
      const found: Record<string, number> = {};
      for (const path of Object.keys(MOST)) {
        database.reset();
        expect((await get(path)).status).toBe(200);
        found[path] = database.work().statements;
      }
      return found;
    };
    await open(harness);
    const one = await counts();
    for (const branch of ['one', 'two', 'three']) await open(harness, { branch });
    expect(await counts()).toEqual(one);
    for (const [path, most] of Object.entries(MOST)) expect(one[path]).toBeLessThanOrEqual(most);
  } finally {
    database.stop();
  }
});
