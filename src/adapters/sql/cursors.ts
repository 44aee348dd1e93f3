import type { Kysely } from 'kysely';
import type { Cursors } from '../../ports/storage.ts';
import { reading, toText } from './columns.ts';
import type { Database } from './schema.ts';

export function cursorsTable(db: Kysely<Database>): Cursors {
  return {
    async get(name) {
      const row = await db.selectFrom('cursors').selectAll().where('name', '=', name).executeTakeFirst();
      return row && reading('cursors', name, () => JSON.parse(row.position_json));
    },

    async set(name, position, at) {
      const value = { position_json: JSON.stringify(position), updated_at: toText(at) };
      await db
        .insertInto('cursors')
        .values({ name, ...value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(value))
        .execute();
    },
  };
}
