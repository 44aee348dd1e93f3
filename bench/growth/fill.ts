import { bucketOf } from '../../src/domain/run/figures.ts';
import { daysUntilAnswer, seededRandom } from '../scale/arrivals.ts';

/** A database of either kind, spoken to below the app. */
export interface Target {
  kind: 'sqlite' | 'postgres';
  run(sql: string): Promise<Record<string, unknown>[]>;
}

/** Pull requests of the app that each copy repeats; their deliveries fill whole archives. */
export const COPIED = 16;
/** What the app must have played before, so that an archive of deliveries ends beyond the copied ones. */
export const PLAYED = 18;

/** Runs are spread over so many repositories, of which the first is the one that the app has played in. */
const REPOSITORIES = 50;
/** Numbers of copied pull requests begin here, above those that GitHub will give to new ones. */
const FIRST_NUMBER = 10_000;
/** How many values an archive's hash can have, and a prime that spreads the copies over them. */
const HASHES = 2 ** 48;
const SPREAD = 7_919_000_003;
/** So many times until an answer are drawn, and used by the copies in turn: a prime, so that each day has others. */
const TIMES = 1_009;
const SECONDS_OF_DAY = 86_400;
/** Of our ids: a letter stands for five bits of the milliseconds since 1970. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The rows of a unit, by table, in an order that foreign keys allow. `LAST` stands for the last archived delivery. */
const ROWS = {
  deliveries: `id IN (SELECT delivery_id FROM chain_runs WHERE pull_request <= ${COPIED})`,
  pull_requests: `number <= ${COPIED}`,
  chain_runs: `pull_request <= ${COPIED}`,
  run_archives: `id IN (SELECT archive_id FROM chain_runs WHERE pull_request <= ${COPIED})`,
  archived_keys: `archive_id IN (SELECT archive_id FROM chain_runs WHERE pull_request <= ${COPIED})`,
  delivery_archives: 'last_id <= LAST',
  archived_guids: 'archive_id <= LAST',
  body_packs: 'id IN (SELECT pack_id FROM delivery_bodies WHERE delivery_id <= LAST)',
  delivery_bodies: 'delivery_id <= LAST',
  audit_log: `pull_request <= ${COPIED}`,
  pushes: `recorded_at <= (SELECT max(state_at) FROM pull_requests WHERE number <= ${COPIED})`,
} as const;

/** Columns with numbers that the database gives, and the table and column whose numbers they are. */
const NUMBERS: Readonly<Record<string, `${string}.id`>> = {
  'deliveries.id': 'deliveries.id',
  'chain_runs.delivery_id': 'deliveries.id',
  'delivery_bodies.delivery_id': 'deliveries.id',
  'delivery_archives.last_id': 'deliveries.id',
  'delivery_archives.first_id': 'deliveries.id',
  'archived_guids.archive_id': 'deliveries.id',
  'run_archives.id': 'run_archives.id',
  'chain_runs.archive_id': 'run_archives.id',
  'archived_keys.archive_id': 'run_archives.id',
  'body_packs.id': 'body_packs.id',
  'delivery_bodies.pack_id': 'body_packs.id',
  'audit_log.id': 'audit_log.id',
};

/** In this order, a tree with random keys grows at its end. */
const SORTED: Readonly<Record<string, string>> = { archived_keys: 'hash', archived_guids: 'hash' };

export interface Fill {
  runs: number;
  /** The copies are spread over the time between these two. */
  from: Date;
  until: Date;
}

/**
 * Copies the first pull requests that the app has played and archived, with all of their rows, until there are as many runs as
 * wanted: each copy has ids, numbers, hashes and times of its own, in the order in which the app would have given them. The content
 * of archives stays the same, so an archived run shows the steps of the one that it is a copy of. Figures by day have other times than
 * the rows: how long people take is drawn as in bench/scale, because the app has played all answers at once, and one length of time is
 * one row however often it occurs. Uses SQL without the app, and makes indexes at the end, because the app would take days.
 */
export async function fill(db: Target, { runs, from, until }: Fill): Promise<void> {
  const units = Math.max(0, Math.ceil((runs - PLAYED) / COPIED));
  if (units === 0) return;
  const [found] = await db.run(
    'SELECT max(last_id) AS last_archived, (SELECT repository_id FROM chain_runs LIMIT 1) AS repository FROM delivery_archives',
  );
  const last = Number(found?.last_archived);
  await unitsInto(db, { units, from, until, firstRepository: Number(found?.repository) });
  await withoutIndexes(db, async () => {
    for (const [table, where] of Object.entries(ROWS)) {
      await db.run(
        `CREATE TEMP TABLE unit AS SELECT * FROM ${table} WHERE ${where.replaceAll('LAST', String(last))}`,
      );
      await db.run(await copying(db, table));
      await db.run('DROP TABLE unit');
    }
    await countAgain(db);
  });
  await db.run('DROP TABLE copies');
  await db.run('DROP TABLE times');
}

/** One row for each copy of the unit. */
async function unitsInto(
  db: Target,
  {
    units,
    from,
    until,
    firstRepository,
  }: { units: number; from: Date; until: Date; firstRepository: number },
): Promise<void> {
  const [first] = await db.run('SELECT min(created_at) AS at FROM chain_runs');
  const begun = Date.parse(String(first?.at));
  await db.run(
    'CREATE TEMP TABLE copies (n BIGINT, later BIGINT, head TEXT, hex TEXT, repository_id BIGINT, repository TEXT, numbers BIGINT)',
  );
  const rows = Array.from({ length: units }, (_, index) => {
    const n = index + 1;
    const at = from.getTime() + Math.floor(((until.getTime() - from.getTime()) / units) * index);
    const later = Math.floor((at - begun) / 1_000);
    const place = index % REPOSITORIES;
    const name = place === 0 ? 'octo/app' : `octo/app-${place}`;
    const numbers = FIRST_NUMBER + COPIED * Math.floor(index / REPOSITORIES);
    return `(${n}, ${later}, '${headOf(begun + later * 1_000)}', '${n.toString(16).padStart(8, '0')}', ${firstRepository + place}, '${name}', ${numbers})`;
  });
  for (let at = 0; at < rows.length; at += 500)
    await db.run(`INSERT INTO copies VALUES ${rows.slice(at, at + 500).join()}`);
  await db.run('CREATE TEMP TABLE times (place BIGINT, bucket BIGINT, seconds BIGINT)');
  const random = seededRandom(1);
  const times = Array.from({ length: TIMES }, (_, place) => {
    const seconds = Math.max(1, Math.round(daysUntilAnswer(random) * SECONDS_OF_DAY));
    return `(${place}, ${bucketOf(seconds)}, ${seconds})`;
  });
  await db.run(`INSERT INTO times VALUES ${times.join()}`);
}

function headOf(ms: number): string {
  let head = '';
  for (let rest = ms; head.length < 9; rest = Math.floor(rest / 32)) head = ALPHABET[rest % 32] + head;
  return head;
}

/** The statement that inserts all copies of the temporary table `unit`. */
async function copying(db: Target, table: string): Promise<string> {
  const columns =
    db.kind === 'sqlite'
      ? (await db.run(`SELECT name FROM pragma_table_info('${table}')`)).map(({ name }) => String(name))
      : (
          await db.run(
            `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = '${table}' ORDER BY ordinal_position`,
          )
        ).map(({ name }) => String(name));
  const values = await Promise.all(columns.map((column) => copiedValue(db, table, column)));
  const order = SORTED[table];
  const at = order === undefined ? 'copies.n' : columns.indexOf(order) + 1;
  // SQLite keeps the order of a CROSS JOIN.
  return `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join(', ')} FROM copies CROSS JOIN unit ORDER BY ${at}`;
}

async function copiedValue(db: Target, table: string, column: string): Promise<string> {
  const own = `unit.${column}`;
  const numbered = NUMBERS[`${table}.${column}`];
  if (numbered !== undefined) return `${own} + copies.n * ${await spanOf(db, numbered)}`;
  if (column === 'at' || column.endsWith('_at')) return later(db, own);
  if (column === 'repository_id' || column === 'repository') return `copies.${column}`;
  if (column === 'number' || column === 'pull_request') return `${own} + copies.numbers`;
  if (column.endsWith('_sha')) return `substr(${own}, 1, 32) || copies.hex`;
  if (column === 'guid') return `substr(${own}, 1, 28) || copies.hex`;
  if (column === 'once_key') return `${own} || copies.hex`;
  if (column === 'hash') return `(${own} + copies.n * ${SPREAD}) % ${HASHES}`;
  if (column === 'run_id' || (column === 'id' && table === 'chain_runs'))
    return `substr(${own}, 1, 4) || copies.head || substr(${own}, 14)`;
  return own;
}

const spans = new WeakMap<Target, Map<string, number>>();

/** How far apart the numbers of two copies are: as many as the app has given. */
async function spanOf(db: Target, numbered: `${string}.id`): Promise<number> {
  const known = spans.get(db) ?? new Map<string, number>();
  spans.set(db, known);
  const table = numbered.slice(0, -'.id'.length);
  if (!known.has(numbered)) {
    const [row] = await db.run(`SELECT max(id) AS last FROM ${table}`);
    known.set(numbered, Number(row?.last));
  }
  return known.get(numbered) ?? 0;
}

function later({ kind }: Target, time: string): string {
  return kind === 'sqlite'
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${time}, '+' || copies.later || ' seconds')`
    : `to_char((CAST(${time} AS timestamptz) + copies.later * interval '1 second') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Without triggers, too: what they count is counted once, at the end. */
async function withoutIndexes(db: Target, work: () => Promise<void>): Promise<void> {
  if (db.kind === 'sqlite') {
    for (const pragma of [
      'synchronous = OFF',
      'foreign_keys = OFF',
      'journal_mode = OFF',
      'cache_size = -524288',
    ])
      await db.run(`PRAGMA ${pragma}`);
    const removed = await db.run(
      "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type",
    );
    for (const { type, name } of removed) await db.run(`DROP ${type} ${name}`);
    await work();
    for (const { sql } of removed) await db.run(String(sql));
    await db.run('PRAGMA journal_mode = WAL');
    return;
  }
  await db.run(
    "SET session_replication_role = replica; SET maintenance_work_mem = '512MB'; SET synchronous_commit = off",
  );
  const removed = await db.run(
    `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
       AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)`,
  );
  for (const { indexname } of removed) await db.run(`DROP INDEX ${indexname}`);
  await work();
  for (const { indexdef } of removed) await db.run(String(indexdef));
  for (const table of ['deliveries', 'run_archives', 'body_packs', 'audit_log'])
    await db.run(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`);
  // As its own housekeeping does after such a change.
  await db.run('VACUUM ANALYZE');
}

/** What triggers and jobs keep of all rows. */
async function countAgain(db: Target): Promise<void> {
  const day = `substr(${later(db, "(unit.day || 'T12:00:00.000Z')")}, 1, 10)`;
  const members = Array.from({ length: COPIED }, (_, member) => `(${member})`).join();
  // A time for each run of each copy.
  const drawn = `copies CROSS JOIN unit CROSS JOIN members JOIN times ON times.place = (copies.n * ${COPIED} + member) % ${TIMES}`;
  const statements = [
    'DELETE FROM status_counts',
    "INSERT INTO status_counts SELECT 'run', status, count(*) FROM chain_runs GROUP BY status",
    "INSERT INTO status_counts SELECT 'delivery', status, count(*) FROM deliveries GROUP BY status",
    "INSERT INTO status_counts SELECT 'effect', status, count(*) FROM effects GROUP BY status",
    "INSERT INTO status_counts SELECT 'effect', 'done', 0 WHERE NOT EXISTS (SELECT 1 FROM status_counts WHERE subject = 'effect' AND status = 'done')",
    "UPDATE status_counts SET count = count + (SELECT sum(deliveries) FROM delivery_archives) WHERE subject = 'delivery' AND status = 'done'",
    "UPDATE status_counts SET count = count + (SELECT sum(effects) FROM run_archives) WHERE subject = 'effect' AND status = 'done'",
    'DELETE FROM chain_counts',
    'INSERT INTO chain_counts (chain, repository_id, status, runs) SELECT chain, repository_id, status, count(*) FROM chain_runs GROUP BY 1, 2, 3',
    'DELETE FROM newest_of_chains',
    'INSERT INTO newest_of_chains (chain, repository_id, run_id, begun_at) SELECT chain, repository_id, max(id), max(created_at) FROM chain_runs GROUP BY 1, 2',
    'CREATE TEMP TABLE members (member BIGINT)',
    `INSERT INTO members VALUES ${members}`,
    "CREATE TEMP TABLE unit AS SELECT * FROM daily_figures WHERE what NOT IN ('waited', 'answered')",
    `INSERT INTO daily_figures (day, repository_id, what, name, bucket, count, total)
       SELECT ${day}, copies.repository_id, what, name, bucket, sum(count), sum(total) FROM copies CROSS JOIN unit GROUP BY 1, 2, 3, 4, 5`,
    'DROP TABLE unit',
    "CREATE TEMP TABLE unit AS SELECT min(day) AS day, what, name FROM daily_figures WHERE what IN ('waited', 'answered') GROUP BY what, name",
    `INSERT INTO daily_figures (day, repository_id, what, name, bucket, count, total)
       SELECT ${day}, copies.repository_id, what, name, times.bucket, count(*), sum(seconds) FROM ${drawn} GROUP BY 1, 2, 3, 4, 5`,
    'DROP TABLE unit',
    'CREATE TEMP TABLE unit AS SELECT min(day) AS day FROM lead_figures',
    `INSERT INTO lead_figures (day, repository_id, bucket, count)
       SELECT ${day}, copies.repository_id, times.bucket, count(*) FROM ${drawn} GROUP BY 1, 2, 3`,
    'DROP TABLE unit',
    'DROP TABLE members',
    'CREATE TEMP TABLE unit AS SELECT * FROM repository_states',
    `INSERT INTO repository_states SELECT DISTINCT copies.repository_id, installation_id, copies.repository, branch, rollout, rollout_by, errors, first_json, changed_at
       FROM copies CROSS JOIN unit WHERE copies.repository_id <> unit.repository_id`,
    'DROP TABLE unit',
    "UPDATE cursors SET position_json = CAST((SELECT max(id) FROM body_packs) AS TEXT) WHERE name = 'packed_bodies'",
    "UPDATE cursors SET position_json = CAST((SELECT max(last_id) FROM delivery_archives) AS TEXT) WHERE name = 'archived_deliveries'",
  ];
  for (const statement of statements) await db.run(statement);
}
