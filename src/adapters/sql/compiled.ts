import { type Compilable, CompiledQuery, type Kysely, type QueryResult } from 'kysely';
import { perDatabase } from './per-database.ts';
import type { Database } from './schema.ts';

/** Stands where a parameter will be. */
class Place {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * A statement whose text Kysely builds and compiles once for each database; later calls only fill in its parameters. Building and
 * compiling took as long as SQLite took to carry the statement out, so what the queue and every look at a run ask for is worth
 * it; what is asked seldom is not, since `build` may do nothing with a parameter but hand it to Kysely: it sees no values.
 */
export function compiledOnce<Params extends object, Row>(
  build: (db: Kysely<Database>, params: Params) => Compilable<Row>,
): (db: Kysely<Database>, params: Params) => Promise<QueryResult<Row>> {
  const textFor = perDatabase((db) => {
    const asked = new Set<PropertyKey>();
    const places = new Proxy({} as Params, {
      get(_, name) {
        asked.add(name);
        return new Place(name);
      },
    });
    const text = build(db, places).compile();
    for (const one of text.parameters) if (one instanceof Place) asked.delete(one.name);
    if (asked.size > 0) {
      throw new Error(`a statement changes its parameters before they are bound: ${[...asked].join(', ')}`);
    }
    return text;
  });

  return (db, params) => {
    const { sql, parameters } = textFor(db);
    const bound = parameters.map((one) => (one instanceof Place ? params[one.name as keyof Params] : one));
    return db.executeQuery<Row>(CompiledQuery.raw(sql, bound) as CompiledQuery<Row>);
  };
}
