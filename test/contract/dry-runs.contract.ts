import { expect, it } from 'vitest';
import type { DryRunEnd, StoredDryRun } from '../../src/ports/dry-runs.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at } from '../support/rows.ts';

const row = (id: string, over: Partial<StoredDryRun> = {}) => ({
  id,
  personId: 1,
  repositoryId: 7,
  repository: 'octo/app',
  pullRequest: 12,
  chain: 'pr-review',
  isPasted: false,
  begunAt: at(0),
  ...over,
});
const STOPPED: DryRunEnd = { kind: 'failed', because: 'stopped' };
const STEP = {
  id: 'ci',
  depth: 0,
  mark: '…',
  words: 'a \u0000 and half a pair \ud800',
  state: 'waiting',
  reason: null,
  dependsOn: [],
};

export function dryRunsContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  it('keeps a dry run with what it shows until it has ended, and nothing changes it afterwards', async () => {
    await db.storage.transaction(async ({ dryRuns }) => {
      await dryRuns.insert(row('one', { pullRequest: null, isPasted: true }));
      await dryRuns.changeSteps('one', [STEP]);
    });
    const { dryRuns } = db.storage.read;
    expect(await dryRuns.get('one')).toEqual({
      ...row('one', { pullRequest: null, isPasted: true }),
      steps: [STEP],
      changes: 1,
      end: null,
      endedAt: null,
    });
    await db.storage.transaction(async (tx) => {
      await tx.dryRuns.end('one', STOPPED, at(60));
      await tx.dryRuns.changeSteps('one', [STEP]);
      await tx.dryRuns.end('one', { kind: 'failed', because: 'broken' }, at(90));
    });
    expect(await dryRuns.get('one')).toMatchObject({ steps: [], changes: 2, end: STOPPED, endedAt: at(60) });
    expect(await dryRuns.get('none')).toBeUndefined();
  });

  it('finds the dry run of a person that is under way and not older than it may be', async () => {
    await db.storage.transaction(async ({ dryRuns }) => {
      await dryRuns.insert(row('ended', { begunAt: at(10) }));
      await dryRuns.end('ended', STOPPED, at(20));
      await dryRuns.insert(row('own', { begunAt: at(10) }));
      await dryRuns.insert(row('other', { begunAt: at(10), personId: 2 }));
    });
    const { dryRuns } = db.storage.read;
    expect(await dryRuns.underWay(1, at(9))).toBe('own');
    expect(await dryRuns.underWay(1, at(10))).toBeUndefined();
    expect(await dryRuns.underWay(3, at(9))).toBeUndefined();
  });

  it('says which dry runs somebody wants to stop', async () => {
    await db.storage.transaction(async ({ dryRuns }) => {
      for (const id of ['one', 'two', 'three']) await dryRuns.insert(row(id));
      await dryRuns.askToStop('two');
      await dryRuns.askToStop('three');
    });
    expect(await db.storage.read.dryRuns.askedToStop(['one', 'two'])).toEqual(['two']);
    expect(await db.storage.read.dryRuns.askedToStop([])).toEqual([]);
  });

  it('removes dry runs by their age, by how many there are, and by what their results take', async () => {
    const length = JSON.stringify(STOPPED).length;
    const left = async () => {
      const found = ['a', 'b', 'c', 'd', 'under way'].map((id) => db.storage.read.dryRuns.get(id));
      return (await Promise.all(found)).flatMap((one) => (one ? [one.id] : []));
    };
    await db.storage.transaction(async ({ dryRuns }) => {
      for (const [nth, id] of ['a', 'b', 'c', 'd'].entries()) {
        await dryRuns.insert(row(id, { begunAt: at(nth) }));
        await dryRuns.end(id, STOPPED, at(100 - nth));
      }
      await dryRuns.insert(row('under way', { begunAt: at(1) }));
    });
    await db.storage.transaction((tx) => tx.dryRuns.removeBefore(at(1)));
    expect(await left()).toEqual(['b', 'c', 'd', 'under way']);
    await db.storage.transaction((tx) => tx.dryRuns.removeBeyond({ most: 2, characters: 10 * length }));
    expect(await left()).toEqual(['c', 'd', 'under way']);
    await db.storage.transaction((tx) => tx.dryRuns.removeBeyond({ most: 2, characters: 2 * length - 1 }));
    expect(await left()).toEqual(['d', 'under way']);
  });
}
