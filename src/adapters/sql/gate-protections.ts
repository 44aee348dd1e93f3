import type { Kysely } from 'kysely';
import type { GateProtections } from '../../ports/storage.ts';
import { reading, toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import type { KnownRows } from './known-rows.ts';
import type { Database } from './schema.ts';

const ofBranch = compiledOnce((db, { repositoryId, branch }: { repositoryId: number; branch: string }) =>
  db
    .selectFrom('gate_protections')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('branch', '=', branch),
);

export function gateProtectionsTable(db: Kysely<Database>, known?: KnownRows): GateProtections {
  return {
    async get(repositoryId, branch) {
      const key = `${repositoryId} ${branch}`;
      const { row } = known?.gateProtections.get(key) ?? {
        row: (await ofBranch(db, { repositoryId, branch })).rows[0],
      };
      known?.gateProtections.set(key, { row });
      return (
        row &&
        reading('gate_protections', key, () => ({
          protection: row.protection,
          readAt: toDate(row.read_at),
        }))
      );
    },

    async put(repositoryId, branch, { protection, readAt }) {
      const value = { protection, read_at: toText(readAt) };
      await db
        .insertInto('gate_protections')
        .values({ repository_id: repositoryId, branch, ...value })
        .onConflict((conflict) => conflict.columns(['repository_id', 'branch']).doUpdateSet(value))
        .execute();
    },
  };
}
