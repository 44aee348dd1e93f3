import { CompiledQuery } from 'kysely';
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Begun, Cells, CopiedTable, CopyTarget } from '../sql/copy.ts';
import { pendingMigrations } from '../sql/migrate.ts';
import { noteCommit } from './commits.ts';
import { Connection, storable } from './connection.ts';
import { postgresFailure } from './failure.ts';
import { LOCK } from './lock.ts';
import { migrations } from './open.ts';
import { capitalized, type Place } from './place.ts';
import { openPool, type Pool, rowsOf } from './pool.ts';
import { appliedTo, migratePostgres } from './setup.ts';
import { COPIED_FROM, MARK_UNFINISHED, UNMARK_UNFINISHED } from './unfinished-copy.ts';

interface Options {
  clock: Clock;
  /** Of the process that copies, which must have claimed the database: see `servingOf`. */
  fence: number;
}

/**
 * Opens a database to copy another one into it, and creates its tables if it has none.
 * @returns the migrations that it lacks, if an older version of this program made it
 */
export async function openCopyTarget(
  place: Place,
  { clock, fence }: Options,
): Promise<{ pending: string[] } | (CopyTarget & { close(): Promise<void> })> {
  const pool = openPool(place);
  const database = { pool, place, clock, fence };
  try {
    const pending = await onConnection(database, async (connection) => {
      const applied = await appliedTo(connection);
      if (applied.length > 0) return pendingMigrations(migrations(), applied);
      await migratePostgres(connection, migrations(), { name: place.name, clock });
      return [];
    });
    if (pending.length === 0) return targetOn(database);
    await pool.end();
    return { pending: pending.map(({ name }) => name) };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

interface TargetDatabase extends Options {
  pool: Pool;
  place: Place;
}

function targetOn(database: TargetDatabase): CopyTarget & { close(): Promise<void> } {
  return {
    begin: ({ identity, tables }) => inTransaction(database, (on) => begin(on, database, identity, tables)),
    write: (table, rows, reached) => inTransaction(database, (on) => write(on, table, rows, reached)),
    stored: (cell) => storable(cell),
    rows: (table) => rowsIn(database, table),
    async finish(tables) {
      await inTransaction(database, (on) => finish(on, database, tables));
      // Plans of the first queries would otherwise be made for empty tables.
      await onConnection(database, (on) => on.script('ANALYZE'));
    },
    close: () => database.pool.end(),
  };
}

const progressSchema = z.record(z.string(), z.int().min(0));
const constraintsSchema = z.array(z.object({ table: z.string(), name: z.string(), definition: z.string() }));

interface Row {
  source: string;
  rows_json: string;
  constraints_json: string;
  finished_at: string | null;
}

async function begin(
  on: Connection,
  { place, clock }: TargetDatabase,
  identity: string,
  tables: readonly CopiedTable[],
): Promise<Begun> {
  await on.script(COPIED_FROM);
  const [answer] = await on.script('SELECT * FROM copied_from');
  const [begun] = rowsOf<Row>(answer);
  const rows = begun === undefined ? {} : progressSchema.parse(JSON.parse(begun.rows_json));
  if (begun && begun.source !== identity) {
    throw new CountersignError(
      'storage.other_copy',
      `${capitalized(place.name)} holds the copy of another database. Name an empty one.`,
    );
  }
  if (begun?.finished_at) return { finishedAt: begun.finished_at };
  for (const { name } of tables) {
    const [counted] = await on.script(`SELECT count(*) AS rows FROM "${name}"`);
    if (rowsOf<{ rows: number }>(counted)[0]?.rows === (rows[name] ?? 0)) continue;
    throw new CountersignError(
      'storage.not_empty',
      `${capitalized(place.name)} has rows in ${name} that are not of this copy. Name an empty one.`,
    );
  }
  // From here on, what a process without a claim would write, such as a webhook, is refused: it would be lost.
  await on.script(MARK_UNFINISHED);
  if (!begun) {
    const constraints = await dropForeignKeys(on, tables);
    await on.executeQuery(
      CompiledQuery.raw('INSERT INTO copied_from VALUES (1, $1, $2, $3, $4, NULL)', [
        identity,
        '{}',
        JSON.stringify(constraints),
        clock.now().toISOString(),
      ]),
    );
  }
  return { rows };
}

/**
 * Rows are copied table by table, and some tables refer to each other. Adding the keys again checks them all. Triggers count rows and
 * delete what others replace, and what they made is copied, too. Without the rights of a superuser there is no other way to turn off both.
 */
async function dropForeignKeys(
  on: Connection,
  tables: readonly CopiedTable[],
): Promise<z.infer<typeof constraintsSchema>> {
  const [answer] = await on.script(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
       FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2`,
  );
  const constraints = constraintsSchema.parse(rowsOf(answer));
  await on.script(
    [
      ...tables.map(({ name }) => `ALTER TABLE "${name}" DISABLE TRIGGER USER`),
      ...constraints.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT "${name}"`),
    ].join('; '),
  );
  return constraints;
}

async function write(
  on: Connection,
  { name, columns }: CopiedTable,
  rows: readonly Cells[],
  reached: number,
): Promise<void> {
  let parameter = 0;
  const values = rows.map((row) => `(${row.map(() => `$${++parameter}`).join(', ')})`);
  await on.executeQuery(
    CompiledQuery.raw(`INSERT INTO "${name}" (${quoted(columns)}) VALUES ${values.join(', ')}`, rows.flat()),
  );
  await on.executeQuery(
    CompiledQuery.raw(
      'UPDATE copied_from SET rows_json = CAST(CAST(rows_json AS JSONB) || CAST($1 AS JSONB) AS TEXT)',
      [JSON.stringify({ [name]: reached })],
    ),
  );
}

/** Rows that may be large are read a few at a time. */
const ROWS_AT_ONCE = { small: 500, large: 16 };

async function* rowsIn(
  database: TargetDatabase,
  { name, columns }: CopiedTable,
): AsyncIterable<readonly Cells[]> {
  const connection = await connect(database);
  try {
    await connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const [bytes] = await connection.script(
      `SELECT 1 FROM pg_attribute WHERE attrelid = '"${name}"'::regclass AND atttypid = 'bytea'::regtype`,
    );
    const atOnce = rowsOf(bytes).length > 0 ? ROWS_AT_ONCE.large : ROWS_AT_ONCE.small;
    await connection.script(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${quoted(columns)} FROM "${name}"`);
    for (;;) {
      const [answer] = await connection.script(`FETCH ${atOnce} FROM copied`);
      const rows = rowsOf<Record<string, Cells[number]>>(answer);
      if (rows.length === 0) return;
      yield rows.map((row) => columns.map((column) => row[column] ?? null));
    }
  } finally {
    // Ends the transaction, too.
    connection.end(true);
  }
}

async function finish(
  on: Connection,
  { clock }: TargetDatabase,
  tables: readonly CopiedTable[],
): Promise<void> {
  const [answer] = await on.script('SELECT constraints_json FROM copied_from');
  const [row] = rowsOf<Pick<Row, 'constraints_json'>>(answer);
  const constraints = constraintsSchema.parse(JSON.parse(row?.constraints_json ?? ''));
  const [identities] = await on.script(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
       WHERE table_schema = current_schema() AND is_identity = 'YES'`,
  );
  await on.script(
    [
      ...constraints.map(
        ({ table, name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT "${name}" ${definition}`,
      ),
      ...tables.map(({ name }) => `ALTER TABLE "${name}" ENABLE TRIGGER USER`),
      ...rowsOf<{ table: string; column: string }>(identities).map(
        ({ table, column }) =>
          `SELECT setval(pg_get_serial_sequence('"${table}"', '${column}'), max("${column}")) FROM "${table}" HAVING count(*) > 0`,
      ),
    ].join('; '),
  );
  await on.executeQuery(
    CompiledQuery.raw('UPDATE copied_from SET finished_at = $1', [clock.now().toISOString()]),
  );
  await on.script(UNMARK_UNFINISHED);
  await on.script(noteCommit('copy'));
}

/** Writes under the lock of all that write, as long as nobody else serves the database. */
async function inTransaction<T>(database: TargetDatabase, work: (on: Connection) => Promise<T>): Promise<T> {
  return onConnection(database, async (connection) => {
    try {
      const answers = await connection.script(`BEGIN; ${LOCK}; SELECT fence FROM serving`);
      if (rowsOf<{ fence: number }>(answers.at(-1))[0]?.fence !== database.fence) {
        throw new CountersignError(
          'storage.not_serving',
          `Another process serves ${database.place.name} now, so nothing more is copied.`,
        );
      }
      const result = await work(connection);
      await connection.script('COMMIT');
      return result;
    } catch (error) {
      await connection.rollBack();
      throw error;
    }
  });
}

async function onConnection<T>(
  database: Pick<TargetDatabase, 'pool' | 'place'>,
  work: (on: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(database);
  try {
    return await work(connection);
  } finally {
    connection.end();
  }
}

async function connect({ pool, place }: Pick<TargetDatabase, 'pool' | 'place'>): Promise<Connection> {
  const failing = (error: unknown) => postgresFailure(error, place.name);
  try {
    return new Connection(await pool.connect(), failing);
  } catch (error) {
    throw failing(error);
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
