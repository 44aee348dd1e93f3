import { z } from 'zod';
import { type Authorship, isOwnComment } from '../../domain/policy/own-comment.ts';
import type { Client } from './client.ts';

/** What this app wrote itself and begins with the marker. The same text in the words of anybody else means nothing. */
export async function* ownOf<T extends Authorship & { body: string }>(
  client: Client,
  appId: number,
  entries: AsyncIterable<T>,
  marker: string,
): AsyncGenerator<T, void> {
  let accountId: number | undefined;
  for await (const entry of entries) {
    if (entry.author.type !== 'Bot' || !entry.body.startsWith(marker)) continue;
    if (entry.viaAppId === null) accountId ??= await readOwnAccount(client);
    if (isOwnComment(entry, { appId, accountId })) yield entry;
  }
}

const viewerSchema = z.object({ viewer: z.object({ databaseId: z.int() }) });

/**
 * The account of this app's bot. Installations cannot use REST's `GET /user`, but they can use GraphQL's
 * `viewer`: https://docs.github.com/en/graphql/reference/queries#viewer. Renovate does the same.
 * @throws GitHubError if GitHub does not say; the caller must then not conclude that there is no comment
 */
export async function readOwnAccount(client: Client): Promise<number> {
  return (await client.query('query { viewer { databaseId } }', {}, viewerSchema)).viewer.databaseId;
}
