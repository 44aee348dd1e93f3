import type { Kysely, NotNull, Selectable } from 'kysely';
import {
  DELIVERY_STATUSES,
  type Deliveries,
  type Delivery,
  type DeliveryStatus,
  type DeliverySummary,
  type NewDelivery,
} from '../../ports/storage.ts';
import {
  AT_REST,
  type Pack,
  type Packing,
  type Place,
  packBodies,
  unpack,
  unpackBody,
} from './body-packs.ts';
import { mustExist, readable, reading, toDate, toDateOrNull, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import {
  archiveDeliveries,
  archivedByGuid,
  archivedById,
  newestArchived,
  notBeyond,
  restoreDelivery,
} from './delivery-archives.ts';
import { insertOnceCompiled } from './insert.ts';
import type { KnownRows } from './known-rows.ts';
import type { Database, DeliveriesTable } from './schema.ts';
import { statusCounts } from './status-counts.ts';
import type { UnitOfWork } from './unit-of-work.ts';
import { isWorkOf } from './work-of.ts';

/** The packs that are read at once, to be packed together. */
const PACKS_AT_ONCE = 96;

/** GUIDs per statement. */
const BATCH = 500;

/** Returns those that were new, or whose processing had failed. */
const insertDeliveries = insertOnceCompiled((db, rows: readonly ReturnType<typeof newRow>[]) =>
  db
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column('guid')
        .doUpdateSet((eb) => ({
          status: 'received',
          error: null,
          finished_at: null,
          queue_key: eb.ref('excluded.queue_key'),
        }))
        .where('deliveries.status', '=', 'failed'),
    )
    .returningAll(),
);

const insertPacks = insertOnceCompiled((db, rows: readonly Pack[]) =>
  db.insertInto('body_packs').values(rows).returning('id'),
);

/**
 * A failed delivery already has a body. The redelivered one replaces it, because the first may be damaged.
 */
const insertBodies = insertOnceCompiled((db, rows: readonly Database['delivery_bodies'][]) =>
  db
    .insertInto('delivery_bodies')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('delivery_id').doUpdateSet((eb) => ({
        pack_id: eb.ref('excluded.pack_id'),
        start: eb.ref('excluded.start'),
        length: eb.ref('excluded.length'),
      })),
    ),
);

const withBody = (db: Kysely<Database>) =>
  db
    .selectFrom('deliveries')
    .innerJoin('delivery_bodies', 'delivery_bodies.delivery_id', 'deliveries.id')
    .innerJoin('body_packs', 'body_packs.id', 'delivery_bodies.pack_id')
    .selectAll('deliveries')
    .select(['start', 'length', 'encoding', 'bytes']);

const byId = compiledOnce((db, { id }: { id: number }) => withBody(db).where('deliveries.id', '=', id));

const unqueued = (db: Kysely<Database>, most: number) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'queue_key', 'installation_id', 'received_at'])
    .where('queue_key', 'is not', null)
    .orderBy('id')
    .limit(most)
    .$narrowType<{ queue_key: NotNull }>();

const nextToQueue = compiledOnce((db, { most }: { most: number }) => unqueued(db, most));
const nextToQueueOf = compiledOnce((db, { most, worker }: { most: number; worker: string }) =>
  unqueued(db, most).where(isWorkOf(worker)),
);

const queuedUntil = (db: Kysely<Database>, last: number) =>
  db
    .updateTable('deliveries')
    .set({ queue_key: null })
    .where('queue_key', 'is not', null)
    .where('id', '<=', last);

const takeUntil = compiledOnce((db, { last }: { last: number }) => queuedUntil(db, last));
const takeUntilOf = compiledOnce((db, { last, worker }: { last: number; worker: string }) =>
  queuedUntil(db, last).where(isWorkOf(worker)),
);

interface StatusChange {
  id: number;
  status: DeliveryStatus;
  error: string | null;
  finished_at: string | null;
}
/** A delivery that fails was last marked as being processed, and that attempt was counted then. */
const changeStatus = compiledOnce((db, { id, status, error, finished_at }: StatusChange) =>
  db
    .updateTable('deliveries')
    .set((eb) => ({
      status,
      error,
      finished_at,
      attempts: eb
        .case()
        .when(
          eb.or([
            eb(eb.val(status), '=', 'received'),
            eb.and([eb(eb.val(status), '=', 'failed'), eb('status', '=', 'processing')]),
          ]),
        )
        .then(eb.ref('attempts'))
        .else(eb('attempts', '+', 1))
        .end(),
    }))
    .where('id', '=', id),
);

export function deliveriesTable(db: Kysely<Database>, unit?: UnitOfWork, known?: KnownRows): Deliveries {
  /** What the transaction has recorded for the first time. */
  const recordedNow = new Map<number, Delivery>();

  async function recordBatch(all: readonly NewDelivery[], into: Map<string, Recorded>) {
    const archived = await archivedByGuid(
      db,
      all.map(({ guid }) => guid),
    );
    for (const { id, guid } of archived) into.set(guid, { id, fresh: false });
    const deliveries = all.filter(({ guid }) => !into.has(guid));
    const taken = await insertDeliveries(db, deliveries.map(newRow));
    for (const { id, guid } of taken) {
      into.set(guid, { id, fresh: true });
      known?.deliveries.set(id, true);
    }
    const rows = new Map(taken.map((row) => [row.guid, row]));
    const bodies = deliveries.flatMap(({ guid, body }) => {
      const row = rows.get(guid);
      if (!row) return [];
      if (unit) recordedNow.set(row.id, { ...summary(row), body });
      return [{ delivery_id: row.id, body }];
    });
    await insertPacked(bodies);

    const before = deliveries.map((delivery) => delivery.guid).filter((guid) => !into.has(guid));
    if (before.length === 0) return;
    const knownRows = await db
      .selectFrom('deliveries')
      .select(['id', 'guid'])
      .where('guid', 'in', before)
      .execute();
    for (const row of knownRows) into.set(row.guid, { id: row.id, fresh: false });
  }

  /** Returns the packs that are damaged. They stay as they are, with their bodies. */
  async function mergePacks(ids: readonly number[]): Promise<{ id: number; err: unknown }[]> {
    const packs = await db.selectFrom('body_packs').selectAll().where('id', 'in', ids).execute();
    const damaged: { id: number; err: unknown }[] = [];
    const unpacked = new Map<number, Pack>();
    for (const { id, ...pack } of packs) {
      try {
        unpacked.set(id, unpack(pack));
      } catch (err) {
        damaged.push({ id, err });
      }
    }
    const places = await db
      .selectFrom('delivery_bodies')
      .selectAll()
      .where('pack_id', 'in', [...unpacked.keys()])
      .orderBy('delivery_id')
      .execute();
    const bodies = places.flatMap(({ delivery_id, pack_id, ...place }) => {
      const pack = unpacked.get(pack_id);
      return pack ? [{ delivery_id, body: unpackBody(pack, place) }] : [];
    });
    await insertPacked(bodies, AT_REST);
    await db
      .deleteFrom('body_packs')
      .where('id', 'in', [...unpacked.keys()])
      .execute();
    return damaged;
  }

  async function insertPacked(
    bodies: readonly { delivery_id: number; body: Uint8Array }[],
    packing?: Packing,
  ): Promise<void> {
    for (const { pack, contents } of packBodies(bodies, packing)) {
      const [recorded] = await insertPacks(db, [pack]);
      if (!recorded) throw new Error('a pack of bodies was not recorded');
      await insertBodies(
        db,
        contents.map(({ item, place }) => ({
          delivery_id: item.delivery_id,
          pack_id: recorded.id,
          ...place,
        })),
      );
    }
  }

  async function withArchivedBody(row: Selectable<DeliveriesTable> | undefined) {
    if (!row) return undefined;
    const body = await db
      .selectFrom('delivery_bodies')
      .innerJoin('body_packs', 'body_packs.id', 'delivery_bodies.pack_id')
      .select(['start', 'length', 'encoding', 'bytes'])
      .where('delivery_id', '=', row.id)
      .executeTakeFirst();
    return body && withUnpackedBody({ ...row, ...body });
  }

  return {
    async record(deliveries) {
      // Only the first of each GUID: PostgreSQL refuses a statement that updates one row twice.
      const first = new Map<string, NewDelivery>();
      for (const delivery of deliveries) {
        if (!first.has(delivery.guid)) first.set(delivery.guid, delivery);
      }
      const unique = [...first.values()];
      const recorded = new Map<string, Recorded>();
      for (let start = 0; start < unique.length; start += BATCH) {
        await recordBatch(unique.slice(start, start + BATCH), recorded);
      }
      return deliveries.map((delivery) => {
        const { guid } = delivery;
        const row = recorded.get(guid);
        if (!row) throw new Error(`the delivery ${guid} was neither recorded nor found`);
        return { id: row.id, guid, fresh: row.fresh && first.get(guid) === delivery };
      });
    },

    async claimUnqueued(most, worker) {
      const { rows } = await (worker === undefined
        ? nextToQueue(db, { most })
        : nextToQueueOf(db, { most, worker }));
      const last = rows.at(-1);
      // One statement cannot return the old values that it overwrites. SQLite excludes other writers until
      // the transaction ends; a database that does not would have to name each row.
      if (last)
        await (worker === undefined
          ? takeUntil(db, { last: last.id })
          : takeUntilOf(db, { last: last.id, worker }));
      return rows.map(({ id, queue_key, installation_id, received_at }) => ({
        id,
        queueKey: queue_key,
        installationId: installation_id,
        receivedAt: toDate(received_at),
      }));
    },

    async packTogether(position, before) {
      const after = await notBeyond(db, 'body_packs', position);
      const packs = await db
        .selectFrom('delivery_bodies')
        // Archived deliveries are old.
        .leftJoin('deliveries', 'deliveries.id', 'delivery_bodies.delivery_id')
        .select('pack_id')
        .select(({ fn }) => [fn.sum<number>('length').as('bytes'), fn.max('received_at').as('newest')])
        .where('pack_id', '>', after)
        .groupBy('pack_id')
        .orderBy('pack_id')
        .limit(PACKS_AT_ONCE)
        .execute();
      const tooNew = packs.findIndex(({ newest }) => newest !== null && newest >= toText(before));
      const old = tooNew < 0 ? packs : packs.slice(0, tooNew);
      const small = smallPacks(old);
      const last = small.at(-1)?.pack_id ?? old.at(-1)?.pack_id ?? after;
      const damaged = small.length > 1 ? await mergePacks(small.map(({ pack_id }) => pack_id)) : [];
      // The last pack of a short list waits for what comes after it.
      const more = old.length === PACKS_AT_ONCE;
      return { last: more || small.length !== 1 ? last : after, more, damaged };
    },

    archive(before, now) {
      unit?.movesArchives();
      return archiveDeliveries(db, toText(before), now);
    },

    async oldestToQueue() {
      const { rows } = await nextToQueue(db, { most: 1 });
      return rows[0] && toDate(rows[0].received_at);
    },

    async known(guids) {
      const found = new Set<string>();
      for (let start = 0; start < guids.length; start += BATCH) {
        const some = guids.slice(start, start + BATCH);
        const rows = await db.selectFrom('deliveries').select('guid').where('guid', 'in', some).execute();
        const archived = await archivedByGuid(db, some);
        for (const { guid } of [...rows, ...archived]) found.add(guid);
      }
      return found;
    },

    async get(id) {
      const recorded = recordedNow.get(id);
      if (recorded) return recorded;
      const [row] = (await byId(db, { id })).rows;
      return row ? withUnpackedBody(row) : withArchivedBody(await archivedById(db, id));
    },

    async byGuid(guid) {
      const row = await withBody(db).where('deliveries.guid', '=', guid).executeTakeFirst();
      if (row) return withUnpackedBody(row);
      const [archived] = await archivedByGuid(db, [guid]);
      return withArchivedBody(archived);
    },

    async setStatus(id, status, at, error) {
      const over = status === 'done' || status === 'failed';
      const change = { id, status, error: error ?? null, finished_at: over ? toText(at) : null };
      let { numAffectedRows } = await changeStatus(db, change);
      if (!numAffectedRows) unit?.movesArchives();
      if (!numAffectedRows && (await restoreDelivery(db, id))) {
        ({ numAffectedRows } = await changeStatus(db, change));
      }
      mustExist((numAffectedRows ?? 0n) > 0n, 'deliveries', id);
    },

    async list({ status, limit }, onDamaged) {
      const query = db
        .selectFrom('deliveries')
        .selectAll()
        .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'received'))
        .orderBy('id', 'desc')
        .limit(limit);
      const rows = await query.execute();
      const withArchived = status === undefined || status === 'done';
      const above = rows.length < limit ? 0 : (rows.at(-1)?.id ?? 0);
      const archived = withArchived ? await newestArchived(db, above, limit, onDamaged) : [];
      const all = [...rows, ...archived].toSorted((a, b) => b.id - a.id).slice(0, limit);
      const read = await Promise.all(all.map((row) => readable(() => summary(row), onDamaged)));
      return read.filter((one) => one !== undefined);
    },

    countByStatus: () => statusCounts(db, 'delivery', DELIVERY_STATUSES),
  };
}

/** The first run of packs that fit into one together. */
function smallPacks<Sized extends { bytes: number }>(packs: readonly Sized[]): Sized[] {
  const small: Sized[] = [];
  let space = AT_REST.maxBytes;
  for (const pack of packs) {
    if (pack.bytes <= space) {
      small.push(pack);
      space -= pack.bytes;
    } else if (small.length > 1) break;
    else {
      // Large enough by itself.
      small.splice(0, 1, pack);
      space = AT_REST.maxBytes - pack.bytes;
    }
  }
  return small;
}

interface Recorded {
  id: number;
  fresh: boolean;
}

function newRow(delivery: NewDelivery) {
  return {
    guid: delivery.guid,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    received_at: toText(delivery.receivedAt),
    status: 'received' as const,
    attempts: 0,
    error: null,
    finished_at: null,
    queue_key: delivery.queueKey,
  };
}

function withUnpackedBody(row: Selectable<DeliveriesTable> & Pack & Place): Delivery {
  return { ...summary(row), body: reading('deliveries', row.id, () => unpackBody(row, row)) };
}

/** A delivery without its body. */
export function summary(row: Selectable<DeliveriesTable>): DeliverySummary {
  return reading('deliveries', row.id, () => ({
    id: row.id,
    guid: row.guid,
    event: row.event,
    action: row.action,
    installationId: row.installation_id,
    receivedAt: toDate(row.received_at),
    status: row.status,
    attempts: row.attempts,
    error: row.error,
    finishedAt: toDateOrNull(row.finished_at),
  }));
}
