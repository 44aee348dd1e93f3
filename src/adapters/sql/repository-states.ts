import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { RepositoryState } from '../../domain/run/report.ts';
import type { RepositoryStates } from '../../ports/repository-states.ts';
import { fromJson, reading, toText } from './columns.ts';
import { caseless } from './dialect.ts';
import { insertOnceCompiled } from './insert.ts';
import type { KnownRows } from './known-rows.ts';
import type { Database, RepositoryStatesTable } from './schema.ts';
import { visibleIn } from './visible-in.ts';

const FACTS = [
  'installation_id',
  'repository',
  'branch',
  'rollout',
  'rollout_by',
  'errors',
  'first_json',
] as const;

/** An upsert that leaves a row as it is if only the time differs, so that no page of the file is written. */
const upsert = insertOnceCompiled(
  (db, rows: readonly RepositoryStatesTable[]) =>
    db
      .insertInto('repository_states')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('repository_id')
          .doUpdateSet((eb) => ({
            ...Object.fromEntries(FACTS.map((name) => [name, eb.ref(`excluded.${name}`)])),
            changed_at: eb.ref('excluded.changed_at'),
          }))
          .where((eb) =>
            eb.or(
              FACTS.map((name) =>
                eb(`repository_states.${name}`, 'is distinct from', eb.ref(`excluded.${name}`)),
              ),
            ),
          ),
      ),
  { keeps: true },
);

const NAME = caseless(sql.ref('repository'));

const firstSchema = z.strictObject({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
});

export function repositoryStatesTable(db: Kysely<Database>, known?: KnownRows): RepositoryStates {
  return {
    async put(state, at) {
      const row = rowOf(state, at);
      const facts = JSON.stringify(FACTS.map((name) => row[name]));
      if (known?.repositoryStates.get(row.repository_id) === facts) return;
      await upsert(db, [row]);
      known?.repositoryStates.set(row.repository_id, facts);
    },

    async remove(of) {
      await db
        .deleteFrom('repository_states')
        .where((eb) =>
          'repositoryId' in of
            ? eb('repository_id', '=', of.repositoryId)
            : eb('installation_id', '=', of.installationId),
        )
        .execute();
    },

    async list({ visible, owner, repository }, { after, limit }) {
      const conditions: RawBuilder<boolean>[] = [visibleIn(visible, sql.ref('repository_id'))];
      if (owner !== undefined)
        // From `octo/` up to, and not with, the character after the slash: the index has the names in that order.
        conditions.push(
          sql`${NAME} >= ${caseless(sql`${`${owner}/`}`)} AND ${NAME} < ${caseless(sql`${`${owner}0`}`)}`,
        );
      if (repository !== undefined) conditions.push(sql`${NAME} = ${caseless(sql`${repository}`)}`);
      if (after)
        conditions.push(
          sql`(${NAME}, repository_id) > (${caseless(sql`${after.repository}`)}, ${after.repositoryId})`,
        );
      const { rows } = await sql<Selectable<RepositoryStatesTable>>`
        SELECT * FROM repository_states WHERE ${sql.join(conditions, sql` AND `)}
          ORDER BY ${NAME}, repository_id LIMIT ${limit}`.execute(db);
      return rows.map(stateOf);
    },
  };
}

function rowOf(state: RepositoryState, at: Date): RepositoryStatesTable {
  return {
    repository_id: state.repositoryId,
    installation_id: state.installationId,
    repository: state.repository,
    branch: state.branch,
    rollout: state.rollout.level,
    rollout_by: state.rollout.by ?? null,
    errors: state.errors,
    first_json: state.first && JSON.stringify(state.first),
    changed_at: toText(at),
  };
}

function stateOf(row: Selectable<RepositoryStatesTable>): RepositoryState {
  return reading('repository_states', String(row.repository_id), () => ({
    repositoryId: row.repository_id,
    installationId: row.installation_id,
    repository: row.repository,
    branch: row.branch,
    rollout: { level: row.rollout, ...(row.rollout_by !== null && { by: row.rollout_by }) },
    errors: row.errors,
    first: row.first_json === null ? null : fromJson(firstSchema, row.first_json),
  }));
}
