import type { Kysely, Selectable } from 'kysely';
import type { MissedDeliveries, MissedDelivery } from '../../ports/storage.ts';
import { reading, toDate, toText } from './columns.ts';
import type { Database, MissedDeliveriesTable } from './schema.ts';

export function missedDeliveriesTable(db: Kysely<Database>): MissedDeliveries {
  const rows = () => db.selectFrom('missed_deliveries').selectAll();
  return {
    async get(guid) {
      const row = await rows().where('guid', '=', guid).executeTakeFirst();
      return row && missedOf(row);
    },

    async put({ guid, attemptId, deliveredAt, asked, askAt }) {
      const value = {
        attempt_id: attemptId,
        delivered_at: toText(deliveredAt),
        asked,
        ask_at: toText(askAt),
      };
      await db
        .insertInto('missed_deliveries')
        .values({ guid, ...value })
        .onConflict((conflict) => conflict.column('guid').doUpdateSet(value))
        .execute();
    },

    async remove(guid) {
      await db.deleteFrom('missed_deliveries').where('guid', '=', guid).execute();
    },

    async due(now, limit) {
      const found = await rows()
        .where('ask_at', '<=', toText(now))
        .orderBy('delivered_at')
        .orderBy('attempt_id')
        .limit(limit)
        .execute();
      return found.map(missedOf);
    },
  };
}

function missedOf(row: Selectable<MissedDeliveriesTable>): MissedDelivery {
  return reading('missed_deliveries', row.guid, () => ({
    guid: row.guid,
    attemptId: row.attempt_id,
    deliveredAt: toDate(row.delivered_at),
    asked: row.asked,
    askAt: toDate(row.ask_at),
  }));
}
