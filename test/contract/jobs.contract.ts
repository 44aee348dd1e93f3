import { describe, expect, it } from 'vitest';
import { WORTH } from '../../src/ports/jobs.ts';
import type { Jobs } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at } from '../support/rows.ts';

/** The rows below the embedded queue. */
export function jobsContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  const jobs = <T>(work: (jobs: Jobs) => Promise<T>) => db.storage.transaction((tx) => work(tx.jobs));
  const insert = (key: string, second = 0, kind = 'wake') =>
    jobs((table) => table.insert({ kind, key, payload: `{"n":"${key}"}`, runAt: at(second) }));
  const claim = (second: number, token: string, limit = 10) =>
    jobs((table) => table.claim(at(second), at(second + 30), token, limit));
  const claimOne = async (second: number, token: string) => {
    const [row] = await claim(second, token, 1);
    if (!row) throw new Error('there was nothing to claim');
    return row;
  };
  const keys = (rows: { key: string }[]) => rows.map(({ key }) => key);

  describe('claiming', () => {
    it('takes what is due, first due first, up to the limit', async () => {
      await insert('late', 5);
      await insert('early', 1);
      await insert('future', 90);
      await insert('middle', 3);
      expect(keys(await claim(10, 't1', 2))).toEqual(['early', 'middle']);
      expect(keys(await claim(10, 't2'))).toEqual(['late']);
      expect(await claim(10, 't3')).toEqual([]);
    });

    it('takes what is worth most first, and reviews in places of their own', async () => {
      const insertWorth = (key: string, second: number, worth: number) =>
        jobs((table) => table.insert({ kind: 'wake', key, payload: '{}', runAt: at(second), worth }));
      await insertWorth('edit', 1, WORTH.last);
      await insertWorth('review', 2, WORTH.review);
      await insertWorth('delivery', 3, WORTH.normal);
      await insertWorth('merge', 4, WORTH.first);
      const first = await jobs((table) => table.claim(at(10), at(40), 't1', 2, { reviews: 0 }));
      expect(keys(first).sort()).toEqual(['delivery', 'merge']);
      const rest = await jobs((table) => table.claim(at(10), at(40), 't2', 1, { reviews: 1 }));
      expect(keys(rest).sort()).toEqual(['edit', 'review']);
    });

    describe('takes one job that has been due for ten minutes', () => {
      const insertWorth = (key: string, second: number, worth: number) =>
        jobs((table) => table.insert({ kind: 'wake', key, payload: '{}', runAt: at(second), worth }));

      it.each([
        ['an edit', WORTH.last],
        ['a delivery', WORTH.normal],
      ])('such as %s before what is worth more', async (key, worth) => {
        await insertWorth(key, 0, worth);
        await insertWorth('merge', 1, WORTH.first);
        expect(keys(await claim(600, 't1', 1))).toEqual([key]);
      });

      it('and no other one before that is done', async () => {
        for (let n = 0; n < 20; n++) await insertWorth(`edit ${n}`, 0, WORTH.last);
        await insertWorth('merge', 599, WORTH.first);
        await insertWorth('gate', 599, WORTH.first);
        expect(keys(await claim(600, 't1', 2))).toEqual(['edit 0', 'merge']);
        expect(keys(await claim(600, 't2', 1))).toEqual(['gate']);
      });
    });

    it('returns the whole row with its lease', async () => {
      await insert('a', 1);
      expect(await claimOne(2, 't1')).toEqual({
        id: expect.any(Number),
        kind: 'wake',
        key: 'a',
        payload: '{"n":"a"}',
        installationId: null,
        runAt: at(1),
        attempts: 0,
        unavailableSince: null,
        leaseToken: 't1',
        leaseUntil: at(32),
      });
    });

    it('never takes two jobs of one key, and takes the one that was due first', async () => {
      await insert('a', 2, 'event');
      await insert('a', 1, 'session');
      await insert('b', 3);
      const rows = await claim(5, 't1');
      expect(rows.map(({ key, kind }) => `${kind} ${key}`)).toEqual(['session a', 'wake b']);
    });

    it('skips a key while anyone holds a job of it', async () => {
      await insert('a', 1);
      const held = await claimOne(5, 't1');
      await insert('a', 0);
      expect(await claim(6, 't2')).toEqual([]);
      await jobs((table) => table.complete(held.id, 't1'));
      expect(keys(await claim(6, 't2'))).toEqual(['a']);
    });

    it('is not delayed by many jobs of one key', async () => {
      for (let n = 0; n < 30; n++) await insert('busy', n / 100);
      await insert('other', 1);
      expect(keys(await claim(5, 't1', 2))).toEqual(['busy', 'other']);
    });

    it('takes over a job whose lease has ended, one attempt older', async () => {
      await insert('a');
      await claimOne(0, 't1');
      expect(await claim(29, 't2')).toEqual([]);
      expect(await claimOne(30, 't2')).toMatchObject({ attempts: 1, leaseToken: 't2' });
    });
  });

  describe('a lease', () => {
    it('that was lost can neither be extended nor complete nor return its job', async () => {
      await insert('a');
      const { id } = await claimOne(0, 't1');
      await claimOne(30, 't2');
      expect(await jobs((table) => table.extend(id, 't1', at(90)))).toBe(false);
      expect(
        await jobs((table) => table.retry(id, 't1', at(90), { attempts: 1, unavailableSince: null })),
      ).toBe(false);
      expect(await jobs((table) => table.complete(id, 't1'))).toBe(false);
      expect(await jobs((table) => table.complete(id, 't2'))).toBe(true);
      expect(await jobs((table) => table.complete(id, 't2'))).toBe(false);
    });

    it('that has ended is lost once another job of its key is taken', async () => {
      await insert('a', 1);
      const { id } = await claimOne(1, 't1');
      await insert('a', 0);
      expect((await claimOne(40, 't2')).id).not.toBe(id);
      expect(await jobs((table) => table.extend(id, 't1', at(90)))).toBe(false);
    });

    it('lasts longer when it is extended', async () => {
      await insert('a');
      const { id } = await claimOne(0, 't1');
      expect(await jobs((table) => table.extend(id, 't1', at(60)))).toBe(true);
      expect(await claim(59, 't2')).toEqual([]);
      expect(keys(await claim(60, 't2'))).toEqual(['a']);
    });

    it('ends for all jobs under its token when that is released', async () => {
      await insert('a');
      await insert('b');
      await insert('c');
      await claim(0, 'dead', 2);
      await claim(0, 'alive', 1);
      expect((await db.storage.read.jobs.leaseTokens()).sort()).toEqual(['alive', 'dead']);
      const released = await jobs((table) => table.release('dead'));
      expect(released).toMatchObject([
        { key: 'a', attempts: 1, leaseToken: null },
        { key: 'b', attempts: 1, leaseToken: null },
      ]);
      expect(await claim(1, 't2')).toMatchObject([
        { key: 'a', attempts: 1 },
        { key: 'b', attempts: 1 },
      ]);
    });
  });

  it('a job can be returned for later, with its counts', async () => {
    await insert('a');
    const { id } = await claimOne(0, 't1');
    expect(
      await jobs((table) => table.retry(id, 't1', at(8), { attempts: 3, unavailableSince: at(1) })),
    ).toBe(true);
    expect(await claim(7, 't2')).toEqual([]);
    expect(await claimOne(8, 't2')).toMatchObject({ id, attempts: 3, unavailableSince: at(1), runAt: at(8) });
    expect(await jobs((table) => table.release('t2'))).toMatchObject([
      { attempts: 4, unavailableSince: at(1) },
    ]);
  });

  describe('the same job, requested while one is held,', () => {
    const COUNTED = { attempts: 3, unavailableSince: at(1) };
    const giveBack = (id: number, seconds: number) =>
      jobs((table) => table.retry(id, 't1', at(seconds), COUNTED));

    it('takes over its counts if it runs first', async () => {
      await insert('a');
      const { id } = await claimOne(0, 't1');
      await insert('a', 5);
      expect(await giveBack(id, 8)).toBe(true);
      expect(await claim(9, 't2')).toMatchObject([{ ...COUNTED, runAt: at(5) }]);
      expect(await db.storage.read.jobs.countDue(at(99))).toBe(1);
    });

    it('stays beside it if it runs later', async () => {
      await insert('a');
      const { id } = await claimOne(0, 't1');
      await insert('a', 9);
      await giveBack(id, 8);
      expect(await claimOne(9, 't2')).toMatchObject({ id, attempts: 3 });
    });

    it.each([
      ['of another kind', { kind: 'event' }],
      ['of another payload', { payload: '{"n":"b"}' }],
    ])('is another job if it is %s', async (_, other) => {
      await insert('a');
      const { id } = await claimOne(0, 't1');
      await jobs((table) =>
        table.insert({ kind: 'wake', key: 'a', payload: '{"n":"a"}', runAt: at(5), ...other }),
      );
      await giveBack(id, 8);
      expect(await claimOne(8, 't2')).toMatchObject({ attempts: 0 });
      await jobs(async (table) => {
        for (const row of await table.claim(at(8), at(9), 'x', 1)) await table.complete(row.id, 'x');
      });
      expect(await db.storage.read.jobs.countDue(at(99))).toBe(2);
    });
  });

  describe('bringing a job forward', () => {
    it('moves a waiting job to the earlier time', async () => {
      await insert('a', 50);
      expect(await jobs((table) => table.bringForward('wake', 'a', at(20)))).toBe(true);
      expect((await claimOne(20, 't1')).runAt).toEqual(at(20));
    });

    it('never moves a job back', async () => {
      await insert('a', 20);
      expect(await jobs((table) => table.bringForward('wake', 'a', at(50)))).toBe(true);
      expect((await claimOne(20, 't1')).runAt).toEqual(at(20));
    });

    it('considers kind and key, and waiting jobs only', async () => {
      await insert('a', 0, 'event');
      expect(await jobs((table) => table.bringForward('wake', 'a', at(0)))).toBe(false);
      expect(await jobs((table) => table.bringForward('event', 'b', at(0)))).toBe(false);
      await claimOne(0, 't1');
      expect(await jobs((table) => table.bringForward('event', 'a', at(0)))).toBe(false);
    });
  });

  it('the storage says when the next waiting job is due', async () => {
    expect(await db.storage.read.jobs.nextDue(at(0))).toBeUndefined();
    for (const [key, second] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
    ] as const)
      await insert(key, second);
    expect(await db.storage.read.jobs.nextDue(at(0))).toEqual(at(10));
    expect(await db.storage.read.jobs.nextDue(at(10))).toEqual(at(20));
    await claim(20, 't1');
    expect(await db.storage.read.jobs.nextDue(at(0))).toEqual(at(30));
  });

  it('the storage counts jobs that need only a slot, reviews apart', async () => {
    expect(await db.storage.read.jobs.ready(at(5))).toEqual({
      reviews: { count: 0, since: undefined },
      others: { count: 0, since: undefined },
    });
    await insert('held', 1);
    await claimOne(1, 't1');
    await insert('held', 1);
    await insert('a', 2);
    await insert('a', 3);
    await insert('b', 4);
    await insert('later', 90);
    await insert('c', 3, 'review');
    expect(await db.storage.read.jobs.ready(at(5))).toEqual({
      reviews: { count: 1, since: at(3) },
      others: { count: 2, since: at(2) },
    });
  });

  it('the storage counts jobs that are due or held', async () => {
    await insert('a', 1);
    await insert('b', 2);
    await insert('c', 90);
    await claimOne(1, 't1');
    expect(await db.storage.read.jobs.countDue(at(0))).toBe(1);
    expect(await db.storage.read.jobs.countDue(at(5))).toBe(2);
  });
}
