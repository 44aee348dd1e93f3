import { type Insertable, type Kysely, sql } from 'kysely';
import type { PullRequests } from '../../ports/storage.ts';
import { reading, toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { unindexed } from './dialect.ts';
import { insertOnceCompiled } from './insert.ts';
import type { KnownRows, OpenPullRequest } from './known-rows.ts';
import type { Database, PullRequestsTable } from './schema.ts';

const byNumber = compiledOnce((db, { repositoryId, number }: { repositoryId: number; number: number }) =>
  db
    .selectFrom('pull_requests')
    .selectAll()
    .where('repository_id', '=', repositoryId)
    .where('number', '=', number),
);

const openOnHead = compiledOnce((db, { repositoryId, headSha }: { repositoryId: number; headSha: string }) =>
  db
    .selectFrom('pull_requests')
    .select(['number', 'paused_by'])
    .where('repository_id', '=', repositoryId)
    .where('head_sha', '=', headSha)
    .where((eb) => eb.or([eb('state', 'is', null), eb('state', '=', 'open')]))
    // The few of a head are sorted: in the order of their numbers, SQLite would read all of the repository.
    .orderBy(unindexed('number')),
);

type Row = Insertable<PullRequestsTable>;

/** Not every caller knows them, and what was known stays. */
const ABOUT = ['title', 'author_id', 'author_login'] as const;

const FACTS = [
  'repository',
  'installation_id',
  'paused_by',
  'head_sha',
  'previous_head_sha',
  'head_seen_at',
  'updated_at',
] as const;

/** An upsert that leaves a closed pull request's `state_at` as it is while its state stays the same. */
const upserting = (columns: { facts: boolean; state: boolean }) =>
  insertOnceCompiled(
    (db, rows: readonly Row[]) =>
      db
        .insertInto('pull_requests')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['repository_id', 'number']).doUpdateSet((eb) => ({
            ...(columns.facts && Object.fromEntries(FACTS.map((name) => [name, eb.ref(`excluded.${name}`)]))),
            ...(columns.facts &&
              Object.fromEntries(
                ABOUT.map((name) => [
                  name,
                  eb.fn.coalesce(eb.ref(`excluded.${name}`), eb.ref(`pull_requests.${name}`)),
                ]),
              )),
            ...(columns.state && {
              state: eb.ref('excluded.state'),
              state_at: eb
                .case()
                .when(
                  eb.and([
                    eb('pull_requests.state', '=', eb.ref('excluded.state')),
                    eb('pull_requests.state', '<>', sql.lit('open')),
                  ]),
                )
                .then(eb.ref('pull_requests.state_at'))
                .else(eb.ref('excluded.state_at'))
                .end(),
            }),
          })),
        ),
    { keeps: true },
  );

const upsertRow = upserting({ facts: true, state: false });
const upsertState = upserting({ facts: false, state: true });
const upsertSeen = upserting({ facts: true, state: true });

export function pullRequestsTable(db: Kysely<Database>, known?: KnownRows): PullRequests {
  async function rowsOnHead(repositoryId: number, headSha: string): Promise<OpenPullRequest[]> {
    const ofRepository = known?.openOnHeads.get(repositoryId);
    const found = ofRepository?.get(headSha);
    if (found) return found;
    const { rows } = await openOnHead(db, { repositoryId, headSha });
    if (ofRepository) ofRepository.set(headSha, rows);
    else known?.openOnHeads.set(repositoryId, new Map([[headSha, rows]]));
    return rows;
  }

  return {
    async get(repositoryId, number) {
      const [row] = (await byNumber(db, { repositoryId, number })).rows;
      return (
        row &&
        reading('pull_requests', `${repositoryId}#${number}`, () => ({
          repositoryId: row.repository_id,
          number: row.number,
          repository: row.repository,
          installationId: row.installation_id,
          pausedBy: row.paused_by,
          headSha: row.head_sha,
          previousHeadSha: row.previous_head_sha,
          headSeenAt: row.head_seen_at === null ? null : toDate(row.head_seen_at),
          updatedAt: toDate(row.updated_at),
        }))
      );
    },

    async ofRepository(repository) {
      const row = await db
        .selectFrom('pull_requests')
        .select(['repository_id', 'installation_id'])
        .where('repository', '=', repository)
        .orderBy('updated_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && { repositoryId: row.repository_id, installationId: row.installation_id };
    },

    async openWithHead(repositoryId, headSha) {
      const rows = await rowsOnHead(repositoryId, headSha);
      return rows.map(({ number, paused_by }) => ({ number, pausedBy: paused_by }));
    },

    async upsert(pullRequest, seen) {
      const row = {
        repository_id: pullRequest.repositoryId,
        number: pullRequest.number,
        repository: pullRequest.repository,
        installation_id: pullRequest.installationId,
        paused_by: pullRequest.pausedBy,
        head_sha: pullRequest.headSha,
        previous_head_sha: pullRequest.previousHeadSha,
        head_seen_at: pullRequest.headSeenAt === null ? null : toText(pullRequest.headSeenAt),
        updated_at: toText(pullRequest.updatedAt),
        title: pullRequest.about?.title ?? null,
        author_id: pullRequest.about?.author.id ?? null,
        author_login: pullRequest.about?.author.login ?? null,
        seen_at: toText(pullRequest.updatedAt),
      };
      known?.openOnHeads.delete(row.repository_id);
      if (!seen) return void (await upsertRow(db, [row]));
      await upsertSeen(db, [{ ...row, state: seen.state, state_at: toText(seen.at) }]);
    },

    async sawState({ repositoryId, number, repository, installationId }, state, at) {
      const now = toText(at);
      known?.openOnHeads.delete(repositoryId);
      await upsertState(db, [
        {
          repository_id: repositoryId,
          number,
          repository,
          installation_id: installationId,
          paused_by: null,
          head_sha: null,
          previous_head_sha: null,
          head_seen_at: null,
          updated_at: now,
          state,
          state_at: now,
        },
      ]);
    },

    async areGone(of, at) {
      await db
        .updateTable('pull_requests')
        .set({ state: 'gone', state_at: toText(at) })
        .where((eb) =>
          'repositoryId' in of
            ? eb('repository_id', '=', of.repositoryId)
            : eb('installation_id', '=', of.installationId),
        )
        .where((eb) => eb.or([eb('state', 'is', null), eb('state', '=', 'open')]))
        .execute();
    },
  };
}
