import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { redactValue } from '../../core/redact/redact.ts';
import { auditEntrySchema } from '../../domain/audit/entry.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import { reading, toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { insertOnceCompiled } from './insert.ts';
import type { AuditLogTable, Database } from './schema.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const insertOnce = insertOnceCompiled((db, rows: readonly Insertable<AuditLogTable>[]) =>
  db
    .insertInto('audit_log')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing()),
);

const newestConfiguration = compiledOnce(
  (db, { repositoryId, baseRef }: { repositoryId: number; baseRef: string }) =>
    db
      .selectFrom('audit_log')
      .select('details_json')
      .where('kind', '=', sql.lit('configuration.changed'))
      .where('repository_id', '=', repositoryId)
      .where('base_ref', '=', baseRef)
      .orderBy('id', 'desc')
      .limit(1),
);

/** The table of the audit log. It redacts entries, so that no caller can forget it. */
export function auditTable(db: Kysely<Database>, clock: Clock, unit?: UnitOfWork): AuditLog {
  const unwritten: Insertable<AuditLogTable>[] = [];

  async function flush(): Promise<void> {
    if (unwritten.length > 0) await insertOnce(db, unwritten.splice(0));
  }
  unit?.writesLast(flush);

  return {
    async record(entry, onceKey) {
      const {
        kind,
        by,
        repository,
        pull_request,
        head_sha,
        base_ref,
        configuration_sha,
        run_id,
        ...details
      } = auditEntrySchema.parse(entry);
      unwritten.push({
        at: toText(clock.now()),
        kind,
        repository_id: repository?.id ?? null,
        repository: repository?.name ?? null,
        pull_request,
        head_sha,
        base_ref,
        configuration_sha,
        run_id,
        by_json: JSON.stringify(redactValue(by)),
        details_json: JSON.stringify(redactValue(details)),
        once_key: onceKey ?? null,
      });
      if (!unit) await flush();
    },

    async lastConfiguration(repositoryId, baseRef) {
      await flush();
      const [row] = (await newestConfiguration(db, { repositoryId, baseRef })).rows;
      return row && String((JSON.parse(row.details_json) as { digest: unknown }).digest);
    },

    async page({ after, limit, since, repository }) {
      await flush();
      let query = db.selectFrom('audit_log').selectAll().where('id', '>', after).orderBy('id').limit(limit);
      if (since !== undefined) query = query.where('at', '>=', toText(since));
      if (repository !== undefined) {
        // A renamed repository has one id and several names.
        query = query.where(({ or, eb, selectFrom }) =>
          or([
            eb('repository', '=', repository),
            eb(
              'repository_id',
              'in',
              selectFrom('audit_log as other')
                .select('other.repository_id')
                .distinct()
                .where('other.repository', '=', repository)
                .where('other.repository_id', 'is not', null),
            ),
          ]),
        );
      }
      return (await query.execute()).map(lineOf);
    },
  };
}

/** Not validated: an entry of an older version must not prevent an export of the log. */
function lineOf(row: Selectable<AuditLogTable>) {
  return reading('audit_log', row.id, () => ({
    id: row.id,
    at: toDate(row.at),
    kind: row.kind,
    entry: {
      by: JSON.parse(row.by_json),
      repository: row.repository === null ? null : { id: row.repository_id, name: row.repository },
      pull_request: row.pull_request,
      head_sha: row.head_sha,
      base_ref: row.base_ref,
      configuration_sha: row.configuration_sha,
      run_id: row.run_id,
      ...JSON.parse(row.details_json),
    },
  }));
}
