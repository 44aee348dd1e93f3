import { randomBytes } from 'node:crypto';
import { CountersignError } from '../../core/errors.ts';
import { timeSortedIds } from '../../core/ids.ts';
import { type ApiScope, type ApiToken, isUsable, newApiToken } from '../../domain/api-token/api-token.ts';
import { noRepository, noToken, tokenCreated, tokenRevoked, tokenTable } from '../../messages/cli/token.ts';
import type { ReadTx } from '../../ports/storage.ts';
import type { Context, DatabaseOption, Output, Result } from './context.ts';

export interface TokenCreateOptions extends DatabaseOption {
  scope: ApiScope;
  /** `owner/name`; without any, all repositories. */
  repo?: readonly string[];
  /** In milliseconds. */
  expires: number;
}

/**
 * Makes a token for the API. It is shown once; only its hash is stored. It is written directly, because answers are
 * redacted, and so would be the token.
 */
export async function tokenCreate(
  { clock, tools, json, write }: Context,
  name: string,
  { scope, repo, expires, database }: TokenCreateOptions,
): Promise<Result> {
  const made = await tools.withDatabase(database, 'write', (storage) =>
    storage.transaction(async (tx) => {
      const now = clock.now();
      const parts = {
        id: timeSortedIds(() => now).next('tok'),
        name,
        scopes: scope === 'operate' ? (['read', 'operate'] as const) : (['read'] as const),
        repositoryIds: repo ? await idsOf(tx, repo) : null,
        owner: null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + expires),
      };
      const { token, secret } = newApiToken(parts, randomBytes(32));
      await tx.apiTokens.insert(token);
      return { text: tokenCreated(token, secret), json: { ...tokenJson(token, now), token: secret } };
    }),
  );
  await write(json ? `${JSON.stringify(made.json, null, 2)}\n` : `${made.text}\n`);
  return { ran: true, failed: false };
}

/** @throws CountersignError for a repository in which nothing has run yet */
async function idsOf(tx: ReadTx, names: readonly string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const name of names) {
    const found =
      (await tx.pullRequests.ofRepository(name)) ?? (await tx.runs.list({ repository: name, limit: 1 }))[0];
    if (!found) throw new CountersignError('cli.unknown_repository', noRepository(name));
    ids.push(found.repositoryId);
  }
  return ids;
}

export function tokenList({ clock, tools }: Context, { database }: DatabaseOption): Promise<Output> {
  return tools.withDatabase(database, 'read', async ({ read }) => {
    const tokens = await read.apiTokens.all();
    const now = clock.now();
    return {
      text: (screen) => tokenTable(tokens, now, screen),
      json: tokens.map((token) => tokenJson(token, now)),
    };
  });
}

export function tokenRevoke(
  { clock, tools }: Context,
  id: string,
  { database }: DatabaseOption,
): Promise<Output> {
  return tools.withDatabase(database, 'write', (storage) =>
    storage.transaction(async (tx) => {
      if (!(await tx.apiTokens.revoke(id, clock.now()))) {
        throw new CountersignError('cli.unknown_token', noToken(id));
      }
      return { text: tokenRevoked(id), json: { id, revoked: true } };
    }),
  );
}

function tokenJson(token: ApiToken, now: Date) {
  return {
    id: token.id,
    name: token.name,
    scopes: token.scopes,
    repository_ids: token.repositoryIds,
    owner: token.owner?.login ?? null,
    usable: isUsable(token, now),
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    revoked_at: token.revokedAt?.toISOString() ?? null,
    used_at: token.usedAt?.toISOString() ?? null,
  };
}
