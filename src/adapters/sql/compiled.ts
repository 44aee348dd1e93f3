import { type Compilable, CompiledQuery, type Kysely, type QueryResult } from 'kysely';
import { perDatabase } from './per-database.ts';
import type { Database } from './schema.ts';

/** Whether a statement's caller keeps the rows up to date that are kept in memory (`KnownRows`). */
export interface Keeps {
  keeps?: boolean;
}

const keeping = new WeakSet<CompiledQuery>();

/** A compiled statement with its parameters. */
export function queryOf<Row>(
  text: string,
  parameters: readonly unknown[],
  keeps: boolean,
): CompiledQuery<Row> {
  const query = CompiledQuery.raw(text, [...parameters]) as CompiledQuery<Row>;
  if (keeps) keeping.add(query);
  return query;
}

/** Whether the caller keeps the rows up to date that the statement changes. */
export function keepsRows(query: CompiledQuery): boolean {
  return keeping.has(query);
}

/** A placeholder for a parameter. */
class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * A statement that Kysely builds and compiles once per database; later calls only bind parameters. Building
 * and compiling took as long as SQLite took to execute the statement, so it is worthwhile for the queries of
 * the queue and of every step. For rare queries it is not: `build` may only pass its parameters on to Kysely,
 * because it gets placeholders and not values.
 */
export function compiledOnce<Params extends object, Row>(
  build: (db: Kysely<Database>, params: Params) => Compilable<Row>,
  { keeps = false }: Keeps = {},
): (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>> {
  const compiledFor = perDatabase((db) => {
    const unbound = new Set<PropertyKey>();
    const placeholders = new Proxy({} as Params, {
      get(_, name) {
        unbound.add(name);
        return new Placeholder(name);
      },
    });
    const compiled = build(db, placeholders).compile();
    for (const parameter of compiled.parameters)
      if (parameter instanceof Placeholder) unbound.delete(parameter.name);
    if (unbound.size > 0) {
      throw new Error(`a statement changes its parameters before they are bound: ${[...unbound].join(', ')}`);
    }
    return { sql: withHiddenValues(compiled.sql), parameters: compiled.parameters };
  });

  return (db, params) => {
    const { sql, parameters } = compiledFor(db);
    const bound = parameters.map((parameter) =>
      parameter instanceof Placeholder ? params[parameter.name as keyof Params] : parameter,
    );
    return db.executeQuery<Row>(queryOf<Row>(sql, bound, keeps));
  };
}

/** Longer lists are compiled each time. */
const FEW_VALUES = 16;

/**
 * Like `compiledOnce`, for a statement whose only parameters are the values of one list: one text for each length.
 */
export function listOnceCompiled<Value extends string | number, Row>(
  build: (db: Kysely<Database>, values: readonly Value[]) => Compilable<Row>,
): (db: Kysely<Database>, values: readonly Value[]) => Promise<Row[]> {
  const textsOf = perDatabase(() => new Map<number, string>());

  return async (db, values) => {
    const texts = textsOf(db);
    let text = texts.get(values.length);
    if (text === undefined) {
      const compiled = build(db, values).compile();
      if (compiled.parameters.length !== values.length)
        throw new Error('a statement for a list has other parameters, too');
      text = withHiddenValues(compiled.sql);
      if (values.length <= FEW_VALUES) texts.set(values.length, text);
    }
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>);
    return rows;
  };
}

/**
 * Hides the values of parameters from SQLite's planner, which would otherwise prepare the statement again each
 * time that a value is bound, to plan by it: https://sqlite.org/c3ref/prepare.html, on `SQLITE_ENABLE_STAT4`, with
 * which better-sqlite3 is built. To claim a job took 124 µs like that, and takes 6 µs without it. The planner
 * does not look behind an operator; a unary plus changes no value. No statement needs it to:
 * `test/contract/sqlite-plans.test.ts`. Only SQLite has `?` as its placeholder.
 */
function withHiddenValues(text: string): string {
  return text.replaceAll('limit ?', 'limit (? + 0)').replaceAll(/\?(?! \+ 0\))/g, '+?');
}
