import type { DialectAdapter, Kysely } from 'kysely';
import type { Database } from './schema.ts';

/** Makes a value once per database. Transactions share it, because they share the database's adapter. */
export function perDatabase<T>(make: (db: Kysely<Database>) => T): (db: Kysely<Database>) => T {
  const made = new WeakMap<DialectAdapter, { value: T }>();
  return (db) => {
    const { adapter } = db.getExecutor();
    const found = made.get(adapter) ?? { value: make(db) };
    made.set(adapter, found);
    return found.value;
  };
}
