import { describe, expect, it } from 'vitest';
import type { MissedDelivery } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, delivery } from '../support/rows.ts';

/** How far external lists were read, and the webhooks that are still to come. */
export function recoveryContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  describe('cursors', () => {
    it('do not exist at first', async () => {
      expect(await db.storage.read.cursors.get('a')).toBeUndefined();
    });

    it('hold what was written last, each under its own name', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.cursors.set('a', { after: 1 }, at(0));
        await tx.cursors.set('b', null, at(0));
        await tx.cursors.set('a', { after: 2, of: ['ü'] }, at(1));
      });
      const { cursors } = db.storage.read;
      expect([await cursors.get('a'), await cursors.get('b')]).toEqual([{ after: 2, of: ['ü'] }, null]);
    });
  });

  describe('missed deliveries', () => {
    const missed = (guid: string, over: Partial<MissedDelivery> = {}): MissedDelivery => ({
      guid,
      attemptId: 10,
      deliveredAt: at(0),
      asked: 0,
      askAt: at(0),
      ...over,
    });
    const put = (...all: MissedDelivery[]) =>
      db.storage.transaction(async (tx) => {
        for (const one of all) await tx.missedDeliveries.put(one);
      });

    it('are due by their time, those that were sent first before the others', async () => {
      await put(
        missed('young', { deliveredAt: at(20) }),
        missed('later', { askAt: at(60) }),
        missed('old', { deliveredAt: at(10) }),
      );
      const due = await db.storage.read.missedDeliveries.due(at(30), 5);
      expect(due.map(({ guid }) => guid)).toEqual(['old', 'young']);
      expect(await db.storage.read.missedDeliveries.due(at(30), 1)).toHaveLength(1);
    });

    it('exist once, as they were written last, until they are removed', async () => {
      const asked = missed('g', { attemptId: 2 ** 40, asked: 3, askAt: at(5) });
      await put(missed('g'), asked);
      expect(await db.storage.read.missedDeliveries.due(at(30), 5)).toEqual([asked]);
      await db.storage.transaction((tx) => tx.missedDeliveries.remove('g'));
      expect(await db.storage.read.missedDeliveries.get('g')).toBeUndefined();
    });

    it('are told apart from those that are recorded', async () => {
      const many = Array.from({ length: 1_200 }, (_, index) => `g${index}`);
      await db.storage.transaction((tx) => tx.deliveries.record([delivery('g7'), delivery('g1100')]));
      expect(await db.storage.read.deliveries.known(many)).toEqual(new Set(['g7', 'g1100']));
      expect(await db.storage.read.deliveries.known([])).toEqual(new Set());
    });
  });
}
