import { type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { DeliverySearch, FoundDeliveries } from '../../ports/operations.ts';
import { unpack } from './body-packs.ts';
import { readable, reading } from './columns.ts';
import { summary } from './deliveries.ts';
import { rowsOf } from './delivery-archives.ts';
import type { Database, DeliveriesTable } from './schema.ts';

/** What a search reads at most, so that no page takes long however rare what it looks for is. */
const SCANNED = 1_000;
/** The repository is only in the body. */
const SCANNED_BODIES = 200;
const MAX_BODY_BYTES = 2_000_000;
/** Archives that one page opens, of 128 deliveries at most. */
const OPENED = 4;

/** Pages of lists say nothing of damaged rows; the one of the row itself does. */
const IGNORED = () => {};

type Row = Selectable<DeliveriesTable>;

/** The number of statements never grows with the rows. */
export async function searchDeliveries(
  db: Kysely<Database>,
  search: DeliverySearch,
): Promise<FoundDeliveries> {
  const { status, before = Number.MAX_SAFE_INTEGER, repository, limit } = search;
  const isNarrowed = search.event !== undefined || search.text !== undefined;
  const scanned = repository !== undefined ? SCANNED_BODIES : isNarrowed ? SCANNED : limit + 1;
  const rows = await db
    .selectFrom('deliveries')
    .selectAll()
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'received'))
    .where('id', '<', before)
    .orderBy('id', 'desc')
    .limit(scanned)
    .execute();
  const lowest = rows.length === scanned ? (rows.at(-1)?.id ?? 0) : 0;
  const archived =
    status === undefined || status === 'done' ? await newest(db, { above: lowest, before }) : NOTHING;
  // Down to here, everything was looked at.
  const floor = Math.max(lowest, archived.floor);
  const wanted = [...rows, ...archived.rows]
    .filter((row) => row.id < before && row.id >= floor && isWanted(row, search))
    .toSorted((a, b) => b.id - a.id);
  const looked = repository === undefined ? wanted : wanted.slice(0, SCANNED_BODIES);
  const lookedTo = looked.length < wanted.length ? (looked.at(-1)?.id ?? floor) : floor;
  const found = repository === undefined ? looked : await ofRepository(db, looked, repository);
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1)?.id : lookedTo || undefined;
  return { items: items.map(summary), ...(last !== undefined && { next: last }) };
}

function isWanted({ event, action, guid, error }: Row, search: DeliverySearch): boolean {
  if (search.event !== undefined && search.event !== event) return false;
  const text = search.text?.toLowerCase();
  return (
    text === undefined ||
    [`${event}.${action}`, guid, error ?? ''].some((one) => one.toLowerCase().includes(text))
  );
}

const NOTHING: { rows: Row[]; floor: number } = { rows: [], floor: 0 };

async function newest(db: Kysely<Database>, { above, before }: { above: number; before: number }) {
  const archives = await db
    .selectFrom('delivery_archives')
    .select(['last_id', 'first_id', 'content'])
    .where('last_id', '>', above)
    .where('first_id', '<', before)
    .orderBy('last_id', 'desc')
    .limit(OPENED + 1)
    .execute();
  const opened = archives.slice(0, OPENED);
  // A damaged archive hides none of the others.
  const read = await Promise.all(opened.map((archive) => readable(() => rowsOf(archive), IGNORED)));
  return {
    rows: read.flatMap((rows) => rows ?? []),
    floor: archives.length > OPENED ? (opened.at(-1)?.first_id ?? 0) : 0,
  };
}

/** Those of the deliveries that say so, or that a run of the repository began with, if their body is deleted. */
async function ofRepository(db: Kysely<Database>, rows: readonly Row[], name: string): Promise<Row[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const wanted = name.toLowerCase();
  const [runs, places] = await Promise.all([
    db
      .selectFrom('chain_runs')
      .select('delivery_id')
      .where('delivery_id', 'in', ids)
      .where(sql`lower(repository)`, '=', wanted)
      .execute(),
    db
      .selectFrom('delivery_bodies')
      .selectAll()
      .where('delivery_id', 'in', ids)
      .where('length', '<=', MAX_BODY_BYTES)
      .execute(),
  ]);
  const packs = await db
    .selectFrom('body_packs')
    .selectAll()
    .where('id', 'in', [...new Set(places.map(({ pack_id }) => pack_id))])
    .execute();
  const found = new Set(runs.map(({ delivery_id }) => delivery_id));
  const byPack = Map.groupBy(places, ({ pack_id }) => pack_id);
  for (const { id, ...pack } of packs) {
    const bytes = await readable(() => reading('body_packs', id, () => unpack(pack).bytes), IGNORED);
    for (const { delivery_id, start, length } of (bytes && byPack.get(id)) ?? []) {
      const body = new TextDecoder().decode(bytes?.subarray(start, start + length)).toLowerCase();
      // Most bodies are not parsed.
      if (body.includes(wanted) && repositoryIn(body) === wanted) found.add(delivery_id);
    }
  }
  return rows.filter(({ id }) => found.has(id));
}

/** The repository that a body is about, in the case that it is given in. */
function repositoryIn(body: string): string | undefined {
  try {
    const payload = z.object({ repository: z.object({ full_name: z.string() }) });
    return payload.safeParse(JSON.parse(body)).data?.repository.full_name;
  } catch {
    return undefined;
  }
}
