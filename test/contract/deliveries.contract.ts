import { describe, expect, it } from 'vitest';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, delivery } from '../support/rows.ts';

/** What is stored of deliveries, and which are run again. */
export function deliveriesContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  describe('deliveries', () => {
    const record = (...deliveries: ReturnType<typeof delivery>[]) =>
      db.storage.transaction((tx) => tx.deliveries.record(deliveries));
    const due = () =>
      Promise.all([db.storage.read.jobs.countDue(at(0)), db.storage.read.deliveries.oldestToQueue()]);
    const claimUnqueued = (most: number) => db.storage.transaction((tx) => tx.deliveries.claimUnqueued(most));
    const setStatus = (...args: Parameters<typeof db.storage.read.deliveries.setStatus>) =>
      db.storage.transaction((tx) => tx.deliveries.setStatus(...args));

    it('are stored byte for byte', async () => {
      const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const [recorded] = await record(delivery('g1', { body, action: null, installationId: null }));
      expect(recorded).toEqual({ id: expect.any(Number), guid: 'g1', fresh: true });
      const found = await db.storage.read.deliveries.byGuid('g1');
      expect(found).toMatchObject({
        id: recorded?.id,
        event: 'pull_request',
        action: null,
        installationId: null,
        receivedAt: at(0),
        status: 'received',
        attempts: 0,
        error: null,
        finishedAt: null,
      });
      expect([...(found?.body ?? [])]).toEqual([...body]);
      expect(await db.storage.read.deliveries.get(recorded?.id ?? 0)).toEqual(found);
    });

    it('are answered in the given order, also when there are more than one statement can hold', async () => {
      const guids = Array.from({ length: 1_203 }, (_, n) => `g${n}`);
      const recorded = await record(...guids.map((guid) => delivery(guid)));
      expect(recorded.map(({ guid }) => guid)).toEqual(guids);
      expect(new Set(recorded.map(({ id }) => id)).size).toBe(guids.length);
    });

    it('are recorded each with its own body, however many there are', async () => {
      const guids = Array.from({ length: 7 }, (_, n) => `g${n}`);
      await record(...guids.map((guid) => delivery(guid, { body: Buffer.from(guid) })));
      for (const guid of guids) {
        const found = await db.storage.read.deliveries.byGuid(guid);
        expect(Buffer.from(found?.body ?? []).toString()).toBe(guid);
      }
    });

    it('are recorded each with its own body, whatever their sizes', async () => {
      const sizes = [0, 1, 300_000, 200_000, 20_000, 600_000, 3, 524_288, 7];
      const bodies = sizes.map((size, n) => Buffer.alloc(size, `${n} of ${sizes.length} `));
      await record(...bodies.map((body, n) => delivery(`g${n}`, { body })));
      for (const [n, body] of bodies.entries()) {
        const found = await db.storage.read.deliveries.byGuid(`g${n}`);
        expect(body.equals(found?.body ?? Buffer.from('none'))).toBe(true);
      }
    });

    it('that failed get the body of the redelivery', async () => {
      const [first] = await record(delivery('g1', { body: Buffer.from('spoiled') }));
      await setStatus(first?.id ?? 0, 'failed', at(1), 'It cannot be read.');
      await record(delivery('g0'), delivery('g1', { body: Buffer.from('whole') }));
      const found = await db.storage.read.deliveries.byGuid('g1');
      expect(Buffer.from(found?.body ?? []).toString()).toBe('whole');
    });

    it('are handed to the queue once, oldest first, each with its key', async () => {
      const [a, b] = await record(delivery('g1', { queueKey: 'a' }), delivery('g2', { queueKey: 'b' }));
      const [, d] = await record(
        delivery('g2', { queueKey: 'c' }),
        delivery('g3', { queueKey: 'd', installationId: 7, receivedAt: at(1) }),
      );
      expect(await claimUnqueued(2)).toEqual([
        { id: a?.id, queueKey: 'a', installationId: 7, receivedAt: at(0) },
        { id: b?.id, queueKey: 'b', installationId: 7, receivedAt: at(0) },
      ]);
      expect(await claimUnqueued(2)).toEqual([
        { id: d?.id, queueKey: 'd', installationId: 7, receivedAt: at(1) },
      ]);
      expect(await claimUnqueued(2)).toEqual([]);
    });

    it('count as due until they are handed to the queue', async () => {
      await record(delivery('g1'), delivery('g2', { receivedAt: at(1) }));
      expect(await due()).toEqual([2, at(0)]);
      await claimUnqueued(1);
      expect(await due()).toEqual([1, at(1)]);
      await claimUnqueued(1);
      expect(await due()).toEqual([0, undefined]);
    });

    it('that failed are handed to the queue again when they are redelivered', async () => {
      const [first] = await record(delivery('g1'));
      await claimUnqueued(1);
      await setStatus(first?.id ?? 0, 'failed', at(1), 'boom');
      expect(await claimUnqueued(1)).toEqual([]);
      await record(delivery('g1', { queueKey: 'again' }));
      expect(await claimUnqueued(1)).toMatchObject([{ id: first?.id, queueKey: 'again' }]);
    });

    it('with a known GUID are duplicates, and change nothing', async () => {
      const [first] = await record(delivery('g1'));
      const [again, other] = await record(delivery('g1', { event: 'push' }), delivery('g2'));
      expect(again).toEqual({ id: first?.id, guid: 'g1', fresh: false });
      expect(other?.fresh).toBe(true);
      expect((await db.storage.read.deliveries.byGuid('g1'))?.event).toBe('pull_request');
    });

    it('with the same GUID twice in one batch count once', async () => {
      const recorded = await record(delivery('g1'), delivery('g1'));
      expect(recorded.map(({ fresh }) => fresh)).toEqual([true, false]);
      expect(recorded[0]?.id).toBe(recorded[1]?.id);
    });

    it.each(['received', 'processing', 'done'] as const)('that are %s are not run again', async (status) => {
      const [first] = await record(delivery('g1'));
      await setStatus(first?.id ?? 0, status, at(1));
      expect((await record(delivery('g1')))[0]?.fresh).toBe(false);
      expect((await db.storage.read.deliveries.byGuid('g1'))?.status).toBe(status);
    });

    it('that failed are run again when they are redelivered', async () => {
      const [first] = await record(delivery('g1'));
      await setStatus(first?.id ?? 0, 'processing', at(1));
      await setStatus(first?.id ?? 0, 'failed', at(2), 'The installation is gone.');
      expect(await db.storage.read.deliveries.byGuid('g1')).toMatchObject({
        status: 'failed',
        error: 'The installation is gone.',
        finishedAt: at(2),
      });
      expect(await record(delivery('g1'))).toEqual([{ id: first?.id, guid: 'g1', fresh: true }]);
      expect(await db.storage.read.deliveries.byGuid('g1')).toMatchObject({
        status: 'received',
        attempts: 1,
        error: null,
        finishedAt: null,
      });
    });

    it.each([
      [['done'], 1],
      [['processing', 'processing', 'done'], 3],
      [['processing', 'failed'], 1],
      [['failed'], 1],
      [['done', 'received', 'done'], 2],
    ] as const)('that became %j were tried %i times', async (statuses, attempts) => {
      const [first] = await record(delivery('g1'));
      for (const status of statuses) await setStatus(first?.id ?? 0, status, at(1));
      expect((await db.storage.read.deliveries.byGuid('g1'))?.attempts).toBe(attempts);
    });

    it('are listed newest first, without bodies, by status', async () => {
      const recorded = await record(delivery('g1'), delivery('g2'), delivery('g3'));
      await setStatus(recorded[1]?.id ?? 0, 'done', at(1));
      const all = await db.storage.read.deliveries.list({ limit: 2 });
      expect(all.map(({ guid }) => guid)).toEqual(['g3', 'g2']);
      expect(all[0]).not.toHaveProperty('body');
      const done = await db.storage.read.deliveries.list({ status: 'done', limit: 9 });
      expect(done.map(({ guid }) => guid)).toEqual(['g2']);
      expect(await db.storage.read.deliveries.countByStatus()).toEqual({
        received: 2,
        processing: 0,
        done: 1,
        failed: 0,
      });
    });

    it('are packed together once they are old enough, and read as before', async () => {
      const guids = ['g1', 'g2', 'g3', 'new'];
      const bodyOf = (guid: string) => Buffer.from(`{"guid":"${guid}"}`);
      for (const [second, guid] of guids.entries()) {
        await record(delivery(guid, { body: bodyOf(guid), receivedAt: at(second) }));
      }
      const pack = (after: number) =>
        db.storage.transaction((tx) => tx.deliveries.packTogether(after, at(guids.length - 1)));
      const { last, more } = await pack(0);
      expect(more).toBe(false);
      // The next pass finds only the pack that it made, and the new delivery.
      expect(await pack(last)).toEqual({ last, more: false, damaged: [] });
      // Retention had deleted all packs, and their numbers began again.
      expect(await pack(9_999)).toEqual({ last: expect.any(Number), more: false, damaged: [] });
      expect((await pack(9_999)).last).toBeLessThan(9_999);
      for (const guid of guids) {
        expect((await db.storage.read.deliveries.byGuid(guid))?.body).toEqual(bodyOf(guid));
      }
    });

    it('that do not exist cannot change', async () => {
      await expect(setStatus(99, 'done', at(1))).rejects.toMatchObject({ code: 'storage.no_such_row' });
      expect(await db.storage.read.deliveries.get(99)).toBeUndefined();
    });
  });
}
