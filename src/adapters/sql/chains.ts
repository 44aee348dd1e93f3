import { type Kysely, sql } from 'kysely';
import type { Chains } from '../../ports/storage.ts';
import { toText } from './columns.ts';
import type { Database } from './schema.ts';

export function chainsTable(db: Kysely<Database>): Chains {
  return {
    async all() {
      const rows = await db
        .selectFrom('chains')
        .selectAll()
        .orderBy('owner')
        .orderBy('name')
        .orderBy('id')
        .execute();
      return rows.map(({ created_at, updated_at, ...row }) => ({
        ...row,
        createdAt: new Date(created_at),
        updatedAt: new Date(updated_at),
      }));
    },

    async changedAt(owner) {
      const newest = await db
        .selectFrom('chains')
        .select(({ fn }) => fn.max('updated_at').as('at'))
        .where('owner', '=', owner)
        .executeTakeFirst();
      return newest?.at == null ? undefined : new Date(newest.at);
    },

    async put({ createdAt, updatedAt, ...row }) {
      const { definition, status } = row;
      const updated = { definition, status, updated_at: toText(updatedAt) };
      await db
        .insertInto('chains')
        .values({ ...row, ...updated, created_at: toText(createdAt) })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(updated))
        .execute();
    },

    async renameRepository(from, to) {
      const [[owner = '', name = ''], [newOwner = '', newName = '']] = [from.split('/'), to.split('/')];
      await db
        .updateTable('chains')
        .set({ owner: newOwner, repository: newName })
        .where(sql<boolean>`owner = ${owner} and repository = ${name}`)
        .execute();
    },
  };
}
