import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { Visible } from '../../../src/ports/visible.ts';
import { ManualClock } from '../../support/clock.ts';
import { startHarness } from '../../support/harness.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import { at, delivery, runState } from '../../support/rows.ts';
import { studioOn } from '../../support/studio-on.ts';
import { temporaryFolders } from '../../support/temp.ts';

const folder = temporaryFolders();
/** What one page searches, and so what it costs however many there are. */
const SEARCHED = 1_000;
const COUNT = SEARCHED + 10;

describe('a search for what is not there', () => {
  let storage: Storage;
  const visible = Visible.everything();

  beforeAll(async () => {
    const path = join(folder(), 'test.db');
    await writeMigratedDatabase(path);
    storage = await openStorage(`sqlite:${path}`, { clock: new ManualClock('2026-06-01T00:00:00.000Z') });
    await storage.transaction(async ({ deliveries, runs }) => {
      await deliveries.record(Array.from({ length: COUNT }, (_, n) => delivery(`guid-${n}`)));
      for (let n = 0; n < COUNT; n++)
        await runs.insert(runState(`run${n}`, { pullRequest: n, createdAt: at(n), updatedAt: at(n) }));
    });
  });
  afterAll(() => storage.close());

  const oldestSearched = COUNT - SEARCHED;

  it.each([{ failed: true }, { kind: 'nothing' }, { verdict: 'APPROVE' as const }, { text: 'nobody' }])(
    'among artifacts, as %j, ends at the thousandth run and says where to go on',
    async (search) => {
      const { runs, next } = await storage.read.artifacts.search({ visible, ...search });
      expect([runs, next]).toEqual([[], { createdAt: at(oldestSearched), id: `run${oldestSearched}` }]);
    },
  );

  it('among deliveries ends at the thousandth and says where to go on', async () => {
    const found = await storage.read.operations.deliveries({ text: 'nowhere', limit: 50 });
    expect(found).toEqual({ items: [], next: oldestSearched + 1 });
  });

  it('among runs ends at the thousandth and says where to go on', async () => {
    const filter = { text: 'nobody' };
    const end = await storage.read.runs.searchedTo(filter);
    const rest = { ...filter, ...(end && { before: end }) };
    expect([
      await storage.read.runs.list(filter),
      end,
      await storage.read.runs.list(rest),
      await storage.read.runs.searchedTo(rest),
    ]).toEqual([[], { createdAt: at(oldestSearched), id: `run${oldestSearched}` }, [], undefined]);
  });

  it('among runs finds an older one on the next page of Studio', async () => {
    const { config, clock } = await startHarness({});
    const studio = studioOn(storage, { config, clock });
    const first = (await studio('/runs?text=%233')).html;
    const next = /href="(\/runs\?[^"]*before=[^"]*)"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect([first.includes('/runs/run3"'), (await studio(next)).html.includes('/runs/run3"')]).toEqual([
      false,
      true,
    ]);
  });
});
