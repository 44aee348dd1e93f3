import { type Kysely, type Selectable, sql } from 'kysely';
import { CountersignError } from '../../core/errors.ts';
import type { OnDamaged } from '../../ports/storage.ts';
import { archiveKey, packText, unpackText } from './archive-content.ts';
import { readable, reading, toDate, toText } from './columns.ts';
import { cursorsTable } from './cursors.ts';
import type { Database, DeliveriesTable } from './schema.ts';

/** Deliveries in one archive. Reading one of them unpacks all. */
const DELIVERIES = 128;

type Row = Selectable<DeliveriesTable>;

/** An archive of deliveries. `last_id` is its own number, too. */
interface DeliveryArchive {
  last_id: number;
  first_id: number;
  content: Uint8Array;
}

/**
 * Archives the next deliveries that are done and that no run began with. Returns false if there are too few yet. One that
 * is passed over stays a row.
 */
export async function archiveDeliveries(db: Kysely<Database>, before: string, now: Date): Promise<boolean> {
  const cursors = cursorsTable(db);
  const after = await notBeyond(db, 'deliveries', Number((await cursors.get(CURSOR)) ?? 0));
  const { rows } = await sql<Row & { archivable: number }>`
    SELECT d.*, CASE WHEN status = 'done' AND error IS NULL AND queue_key IS NULL AND finished_at IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM chain_runs WHERE delivery_id = d.id) THEN 1 ELSE 0 END AS archivable
      FROM deliveries AS d
      -- Never the last, or a new delivery would get its number.
      WHERE id > ${after} AND id < (SELECT max(id) FROM deliveries)
      ORDER BY id LIMIT ${DELIVERIES}`.execute(db);
  const last = rows.at(-1);
  const isNew = ({ finished_at, received_at }: Row) => (finished_at ?? received_at) >= before;
  if (!last || rows.length < DELIVERIES || rows.some(isNew)) return false;
  await cursors.set(CURSOR, last.id, now);
  const archived = rows.filter(({ archivable }) => archivable === 1);
  const [first] = archived;
  const end = archived.at(-1);
  if (!first || !end) return true;
  await db
    .insertInto('delivery_archives')
    .values({
      last_id: end.id,
      first_id: first.id,
      newest_at: end.received_at,
      deliveries: archived.length,
      content: packDeliveries(archived),
    })
    .execute();
  const hashes = [...new Set(archived.map(({ guid }) => archiveKey(guid)))];
  await db
    .insertInto('archived_guids')
    .values(hashes.map((hash) => ({ hash, archive_id: end.id })))
    .execute();
  const ids = archived.map(({ id }) => id);
  await db.deleteFrom('deliveries').where('id', 'in', ids).execute();
  return true;
}

/** Ids begin again when retention has deleted all rows of a table. A position beyond them would pass over new rows. */
export async function notBeyond(
  db: Kysely<Database>,
  table: 'deliveries' | 'body_packs',
  position: number,
): Promise<number> {
  const { rows } = await sql<{
    last: number | null;
  }>`SELECT max(id) AS last FROM ${sql.table(table)}`.execute(db);
  return position > (rows[0]?.last ?? 0) ? 0 : position;
}

/** Where the job that archives deliveries is. */
const CURSOR = 'archived_deliveries';

/** Those of the deliveries that are archived. */
export async function archivedByGuid(db: Kysely<Database>, guids: readonly string[]): Promise<Row[]> {
  if (guids.length === 0) return [];
  const archives = await db
    .selectFrom('delivery_archives')
    .select(['last_id', 'first_id', 'content'])
    .where('last_id', 'in', (eb) =>
      eb.selectFrom('archived_guids').select('archive_id').where('hash', 'in', guids.map(archiveKey)),
    )
    .execute();
  // Different GUIDs may have the same hash.
  const wanted = new Set(guids);
  return archives.flatMap(rowsOf).filter(({ guid }) => wanted.has(guid));
}

export async function archivedById(db: Kysely<Database>, id: number): Promise<Row | undefined> {
  const archives = await withNumber(db, id);
  return archives.flatMap(rowsOf).find((row) => row.id === id);
}

/** The newest archived deliveries with a number above this one, and all others of their archives. */
export async function newestArchived(
  db: Kysely<Database>,
  above: number,
  limit: number,
  onDamaged: OnDamaged | undefined,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let below = Number.MAX_SAFE_INTEGER; rows.length < limit; ) {
    const archive = await db
      .selectFrom('delivery_archives')
      .select(['last_id', 'first_id', 'content'])
      .where('last_id', '>', above)
      .where('last_id', '<', below)
      .orderBy('last_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (!archive) break;
    rows.push(...((await readable(() => rowsOf(archive), onDamaged)) ?? []));
    below = archive.last_id;
  }
  return rows;
}

/** Puts the delivery back into its table, with all others of its archive. Returns whether it was archived. */
export async function restoreDelivery(db: Kysely<Database>, id: number): Promise<boolean> {
  const archive = (await withNumber(db, id)).find((one) => rowsOf(one).some((row) => row.id === id));
  if (archive) await restore(db, archive);
  return archive !== undefined;
}

/** Puts all deliveries of these archives back into their table. */
export async function restoreArchives(db: Kysely<Database>, ids: readonly number[]): Promise<void> {
  const archives = await db
    .selectFrom('delivery_archives')
    .select(['last_id', 'first_id', 'content'])
    .where('last_id', 'in', ids)
    .execute();
  for (const archive of archives) {
    try {
      await restore(db, archive);
    } catch (error) {
      // A damaged archive stays, and retention goes on.
      if (!(error instanceof CountersignError) || error.code !== 'storage.unreadable_row') throw error;
    }
  }
}

async function restore(db: Kysely<Database>, archive: DeliveryArchive): Promise<void> {
  const rows = rowsOf(archive);
  // Before the deliveries are counted again.
  await db.deleteFrom('delivery_archives').where('last_id', '=', archive.last_id).execute();
  const hashes = [...new Set(rows.map(({ guid }) => archiveKey(guid)))];
  await db
    .deleteFrom('archived_guids')
    .where('hash', 'in', hashes)
    .where('archive_id', '=', archive.last_id)
    .execute();
  await db.insertInto('deliveries').values(rows).execute();
  // The job archives them again later. CASE, because positions of other cursors are no numbers.
  const { first_id } = archive;
  await sql`UPDATE cursors SET position_json = ${String(first_id - 1)}
    WHERE name = ${CURSOR} AND CASE WHEN name = ${CURSOR} THEN CAST(position_json AS BIGINT) END >= ${first_id}`.execute(
    db,
  );
}

function withNumber(db: Kysely<Database>, id: number): Promise<DeliveryArchive[]> {
  return db
    .selectFrom('delivery_archives')
    .select(['last_id', 'first_id', 'content'])
    .where('last_id', '>=', id)
    .where('first_id', '<=', id)
    .execute();
}

/** @throws CountersignError `storage.unreadable_row` */
export function rowsOf({ last_id, content }: Pick<DeliveryArchive, 'last_id' | 'content'>): Row[] {
  return reading('delivery_archives', last_id, () => unpackDeliveries(content));
}

/** By column, and numbers and times as differences. */
interface Columns {
  id: number[];
  guid: string[];
  event: string[];
  action: (string | null)[];
  installation: (number | null)[];
  /** Milliseconds after the one before. */
  received: number[];
  /** Milliseconds after it was received. */
  finished: number[];
  attempts: number[];
}

/** All of them are done. */
function packDeliveries(rows: readonly Row[]): Buffer {
  const ms = rows.map(({ received_at }) => toDate(received_at).getTime());
  const columns: Columns = {
    id: differences(rows.map(({ id }) => id)),
    guid: rows.map(({ guid }) => guid),
    event: rows.map(({ event }) => event),
    action: rows.map(({ action }) => action),
    installation: rows.map(({ installation_id }) => installation_id),
    received: differences(ms),
    finished: rows.map(
      ({ finished_at, received_at }, at) => toDate(finished_at ?? received_at).getTime() - (ms[at] ?? 0),
    ),
    attempts: rows.map(({ attempts }) => attempts),
  };
  return packText(JSON.stringify(columns));
}

/** @throws if the content is damaged, or was packed by a later version */
function unpackDeliveries(content: Uint8Array): Row[] {
  const columns = JSON.parse(unpackText(content)) as Columns;
  const ids = sums(columns.id);
  const received = sums(columns.received);
  return columns.guid.map((guid, at) => ({
    id: ids[at] ?? 0,
    guid,
    event: columns.event[at] ?? '',
    action: columns.action[at] ?? null,
    installation_id: columns.installation[at] ?? null,
    received_at: toText(new Date(received[at] ?? 0)),
    status: 'done',
    attempts: columns.attempts[at] ?? 0,
    error: null,
    finished_at: toText(new Date((received[at] ?? 0) + (columns.finished[at] ?? 0))),
    queue_key: null,
  }));
}

function differences(numbers: readonly number[]): number[] {
  return numbers.map((number, at) => number - (numbers[at - 1] ?? 0));
}

function sums(numbers: readonly number[]): number[] {
  let sum = 0;
  return numbers.map((number) => {
    sum += number;
    return sum;
  });
}
