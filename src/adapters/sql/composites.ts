import type { Kysely } from 'kysely';
import {
  type CompositePlace,
  type CompositeRow,
  type Composites,
  keyOfPullRequest,
} from '../../ports/composites.ts';
import { parseJson, toDate, toText } from './columns.ts';
import type { CompositesTable, Database } from './schema.ts';

export function compositesTable(db: Kysely<Database>): Composites {
  const at = ({ repositoryId, chain, branch, position, key }: CompositePlace) =>
    ({ repository_id: repositoryId, chain, branch, position, key }) as const;
  const ofPlace = (place: CompositePlace) =>
    db
      .selectFrom('composites')
      .selectAll()
      .where((eb) => eb.and(at(place)));

  return {
    async get(place) {
      const row = await ofPlace(place).executeTakeFirst();
      return row && rowIn(row);
    },

    async ofPullRequest({ repositoryId, pullRequest }) {
      const key = keyOfPullRequest(pullRequest);
      const rows = await db
        .selectFrom('composites')
        .selectAll()
        .where('repository_id', '=', repositoryId)
        // The key itself, or the key, a space and a commit: `!` follows the space.
        .where('key', '>=', key)
        .where('key', '<', `${key}!`)
        .orderBy('chain')
        .orderBy('position')
        .orderBy('key')
        .execute();
      return rows.map(rowIn);
    },

    async put(row) {
      const changing = {
        installation_id: row.installationId,
        repository: row.repository,
        definition_json: JSON.stringify(row.composite),
        state_json: JSON.stringify(row.state),
        expires_at: toText(row.expiresAt),
      };
      await db
        .insertInto('composites')
        .values({ ...at(row), ...changing })
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'chain', 'branch', 'position', 'key']).doUpdateSet(changing),
        )
        .execute();
    },

    async remove(place) {
      await db
        .deleteFrom('composites')
        .where((eb) => eb.and(at(place)))
        .execute();
    },

    async expired(now, limit) {
      const rows = await db
        .selectFrom('composites')
        .selectAll()
        .where('expires_at', '<=', toText(now))
        .orderBy('expires_at')
        .limit(limit)
        .execute();
      return rows.map(rowIn);
    },

    async nextAt() {
      const first = await db
        .selectFrom('composites')
        .select('expires_at')
        .orderBy('expires_at')
        .limit(1)
        .executeTakeFirst();
      return first && toDate(first.expires_at);
    },

    async beyond({ repositoryId, chain }, kept) {
      const ofChain = db
        .selectFrom('composites')
        .where('repository_id', '=', repositoryId)
        .where('chain', '=', chain);
      const { count } = await ofChain
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      if (count <= kept) return [];
      const rows = await ofChain
        .selectAll()
        .orderBy('expires_at')
        .limit(count - kept)
        .execute();
      return rows.map(rowIn);
    },
  };
}

function rowIn(row: CompositesTable): CompositeRow {
  return {
    repositoryId: row.repository_id,
    chain: row.chain,
    branch: row.branch,
    position: row.position,
    key: row.key,
    installationId: row.installation_id,
    repository: row.repository,
    composite: parseJson<CompositeRow['composite']>(row.definition_json),
    state: parseJson<CompositeRow['state']>(row.state_json),
    expiresAt: toDate(row.expires_at),
  };
}
