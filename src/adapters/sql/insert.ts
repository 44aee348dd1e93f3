import type { Compilable, Kysely } from 'kysely';
import { type Keeps, queryOf } from './compiled.ts';
import { perDatabase } from './per-database.ts';
import type { Database } from './schema.ts';

/**
 * Rows per statement, a power of two: far below every database's limit on parameters, and more than a usual
 * batch.
 */
const MAX_ROWS = 512;

/** Up to so many rows, there is a text for each number. */
const FEW_ROWS = 8;

/** The parameters after those of the rows, which do not depend on the rows. */
interface CompiledInsert {
  sql: string;
  constants: readonly unknown[];
}

/**
 * An INSERT of any number of rows, which Kysely builds and compiles once per database and number of rows. Its
 * share of the time to record a delivery fell from 8 % to 2 %. Many rows are inserted in powers of two, so
 * that there are few such texts, which the driver also prepares only once.
 *
 * All rows must have the same columns in the same order. Returns the columns of `RETURNING`, in no particular
 * order.
 */
export function insertOnceCompiled<Row extends object, Returned>(
  build: (db: Kysely<Database>, rows: readonly Row[]) => Compilable<Returned>,
  { keeps = false }: Keeps = {},
) {
  const textsOf = perDatabase(() => new Map<number, CompiledInsert>());

  function textFor(db: Kysely<Database>, rows: readonly Row[]): CompiledInsert {
    const texts = textsOf(db);
    const found = texts.get(rows.length);
    if (found) return found;
    const { sql, parameters } = build(db, rows).compile();
    const text = { sql, constants: parameters.slice(rows.flatMap(Object.values).length) };
    texts.set(rows.length, text);
    return text;
  }

  return async (db: Kysely<Database>, rows: readonly Row[]): Promise<Returned[]> => {
    const returned: Returned[] = [];
    for (let start = 0; start < rows.length; ) {
      const left = Math.min(rows.length - start, MAX_ROWS);
      const size = left <= FEW_ROWS ? left : 2 ** Math.floor(Math.log2(left));
      const some = rows.slice(start, start + size);
      const { sql, constants } = textFor(db, some);
      const parameters = [...some.flatMap(Object.values), ...constants];
      const result = await db.executeQuery<Returned>(queryOf<Returned>(sql, parameters, keeps));
      returned.push(...result.rows);
      start += size;
    }
    return returned;
  };
}
