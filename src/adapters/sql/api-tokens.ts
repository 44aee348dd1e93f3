import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import { API_SCOPES, type ApiToken } from '../../domain/api-token/api-token.ts';
import type { ApiTokens } from '../../ports/api-tokens.ts';
import { fromJson, reading, toDate, toDateOrNull, toText } from './columns.ts';
import type { ApiTokensTable, Database } from './schema.ts';

const scopes = z.array(z.enum(API_SCOPES));
const repositories = z.array(z.int()).nullable();

export function apiTokensTable(db: Kysely<Database>): ApiTokens {
  return {
    async insert({ scopes: allowed, repositoryIds, createdAt, expiresAt, revokedAt, usedAt, ...token }) {
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

    async revoke(id, at) {
      const { numUpdatedRows } = await db
        .updateTable('api_tokens')
        .set({ revoked_at: toText(at) })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
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
  }));
}
