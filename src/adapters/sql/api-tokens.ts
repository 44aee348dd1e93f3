import { type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { API_SCOPES, type ApiToken } from '../../domain/api-token/api-token.ts';
import type { ApiTokens } from '../../ports/api-tokens.ts';
import { fromJson, reading, toDate, toDateOrNull, toText } from './columns.ts';
import type { ApiTokensTable, Database } from './schema.ts';

const scopes = z.array(z.enum(API_SCOPES));
const repositories = z.array(z.int()).nullable();

export function apiTokensTable(db: Kysely<Database>): ApiTokens {
  return {
    async insert({
      scopes: allowed,
      repositoryIds,
      owner,
      createdAt,
      expiresAt,
      revokedAt,
      usedAt,
      ...token
    }) {
      await db
        .insertInto('api_tokens')
        .values({
          ...token,
          scopes_json: JSON.stringify(allowed),
          repositories_json: JSON.stringify(repositoryIds),
          created_at: toText(createdAt),
          expires_at: toText(expiresAt),
          revoked_at: toText(revokedAt),
          used_at: toText(usedAt),
          owner_id: owner?.id ?? null,
          owner_login: owner?.login ?? null,
        })
        .execute();
    },

    async byHash(hash) {
      const row = await db.selectFrom('api_tokens').selectAll().where('hash', '=', hash).executeTakeFirst();
      return row && tokenOf(row);
    },

    async all() {
      const rows = await db
        .selectFrom('api_tokens')
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return rows.map(tokenOf);
    },

    async ofOwner(ownerId, now, limit) {
      const rows = await db
        .selectFrom('api_tokens')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .orderBy(sql`revoked_at IS NULL AND expires_at > ${toText(now)}`, 'desc')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      return rows.map(tokenOf);
    },

    async countUsable(ownerId, now) {
      const { count } = await db
        .selectFrom('api_tokens')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner_id', '=', ownerId)
        .where('revoked_at', 'is', null)
        .where('expires_at', '>', toText(now))
        .executeTakeFirstOrThrow();
      return count;
    },

    async removeOver(ownerId, since) {
      await db
        .deleteFrom('api_tokens')
        .where('owner_id', '=', ownerId)
        .where(({ eb, or }) =>
          or([eb('expires_at', '<', toText(since)), eb('revoked_at', '<', toText(since))]),
        )
        .execute();
    },

    async revoke(id, at, ownerId) {
      const { numUpdatedRows } = await db
        .updateTable('api_tokens')
        .set({ revoked_at: toText(at) })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .$if(ownerId !== undefined, (query) => query.where('owner_id', '=', ownerId ?? null))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async used(id, at) {
      await db
        .updateTable('api_tokens')
        .set({ used_at: toText(at) })
        .where('id', '=', id)
        .execute();
    },
  };
}

function tokenOf(row: Selectable<ApiTokensTable>): ApiToken {
  return reading('api_tokens', row.id, () => ({
    id: row.id,
    name: row.name,
    hash: row.hash,
    scopes: fromJson(scopes, row.scopes_json),
    repositoryIds: fromJson(repositories, row.repositories_json),
    createdAt: toDate(row.created_at),
    expiresAt: toDate(row.expires_at),
    revokedAt: toDateOrNull(row.revoked_at),
    usedAt: toDateOrNull(row.used_at),
    owner:
      row.owner_id === null || row.owner_login === null ? null : { id: row.owner_id, login: row.owner_login },
  }));
}
