import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { JobRow, Jobs } from '../storage.ts';
import { reading, toDate, toDateOrNull, toText } from './columns.ts';
import { insertOnceCompiled } from './insert.ts';
import type { Database, JobsTable } from './schema.ts';

const insertJobs = insertOnceCompiled((db, rows: readonly Insertable<JobsTable>[]) =>
  db.insertInto('jobs').values(rows),
);

/** A job is held while it has a lease token, and waits while it has none. */
export function jobsTable(db: Kysely<Database>): Jobs {
  /** The job, if it is still held under this token. */
  const held = (id: number, leaseToken: string) =>
    db.updateTable('jobs').where('id', '=', id).where('lease_token', '=', leaseToken);

  const endLeases = () =>
    db.updateTable('jobs').set((eb) => ({
      lease_token: null,
      lease_until: null,
      attempts: eb('attempts', '+', 1),
    }));

  return {
    async insert(...jobs) {
      await insertJobs(
        db,
        jobs.map(({ kind, key, payload, runAt }) => ({
          kind,
          key,
          payload,
          run_at: toText(runAt),
          attempts: 0,
          lease_token: null,
          lease_until: null,
        })),
      );
    },

    async bringForward(kind, key, runAt) {
      const at = toText(runAt);
      const { numUpdatedRows } = await db
        .updateTable('jobs')
        .set((eb) => ({ run_at: eb.case().when('run_at', '>', at).then(at).else(eb.ref('run_at')).end() }))
        .where('kind', '=', kind)
        .where('key', '=', key)
        .where('lease_token', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async claim(now, leaseUntil, leaseToken, limit) {
      // Ended leases are taken away first, so that a holder who was too slow cannot extend or complete
      // while another job of its key runs.
      await endLeases().where('lease_until', '<=', toText(now)).execute();
      const due = db
        .selectFrom('jobs as job')
        .select('job.id')
        .where('job.lease_token', 'is', null)
        .where('job.run_at', '<=', toText(now))
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('jobs as other')
                .select('other.id')
                .whereRef('other.key', '=', 'job.key')
                .where((or) =>
                  or.or([
                    or('other.lease_token', 'is not', null),
                    sql<boolean>`(other.run_at, other.id) < (job.run_at, job.id)`,
                  ]),
                ),
            ),
          ),
        )
        .orderBy('job.run_at')
        .orderBy('job.id')
        .limit(limit);
      const rows = await db
        .updateTable('jobs')
        .set({ lease_token: leaseToken, lease_until: toText(leaseUntil) })
        .where('id', 'in', due)
        .returningAll()
        .execute();
      return rows.map(jobOf).sort((a, b) => a.runAt.getTime() - b.runAt.getTime() || a.id - b.id);
    },

    async isHeld(id, leaseToken) {
      const row = await db
        .selectFrom('jobs')
        .select('id')
        .where('id', '=', id)
        .where('lease_token', '=', leaseToken)
        .executeTakeFirst();
      return row !== undefined;
    },

    async extend(id, leaseToken, leaseUntil) {
      const { numUpdatedRows } = await held(id, leaseToken)
        .set({ lease_until: toText(leaseUntil) })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async complete(id, leaseToken) {
      const { numDeletedRows } = await db
        .deleteFrom('jobs')
        .where('id', '=', id)
        .where('lease_token', '=', leaseToken)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async retry(id, leaseToken, runAt, attempts) {
      const { numUpdatedRows } = await held(id, leaseToken)
        .set({ lease_token: null, lease_until: null, run_at: toText(runAt), attempts })
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async leaseTokens() {
      const rows = await db
        .selectFrom('jobs')
        .select('lease_token')
        .distinct()
        .where('lease_token', 'is not', null)
        .execute();
      return rows.flatMap((row) => row.lease_token ?? []);
    },

    async release(leaseToken) {
      await endLeases().where('lease_token', '=', leaseToken).execute();
    },

    async nextDue(after) {
      const row = await db
        .selectFrom('jobs')
        .select('run_at')
        .where('lease_token', 'is', null)
        .where('run_at', '>', toText(after))
        .orderBy('run_at')
        .limit(1)
        .executeTakeFirst();
      return row && toDate(row.run_at);
    },

    async countDue(now) {
      // Two counts in one statement: with OR in its place, SQLite reads the whole table.
      const row = await db
        .selectNoFrom((eb) => {
          const jobs = eb.selectFrom('jobs').select(eb.fn.countAll<number>().as('count'));
          return [
            jobs.where('lease_token', 'is', null).where('run_at', '<=', toText(now)).as('waiting'),
            jobs.where('lease_token', 'is not', null).as('held'),
          ];
        })
        .executeTakeFirstOrThrow();
      return (row.waiting ?? 0) + (row.held ?? 0);
    },
  };
}

function jobOf(row: Selectable<JobsTable>): JobRow {
  return reading('jobs', row.id, () => ({
    id: row.id,
    kind: row.kind,
    key: row.key,
    payload: row.payload,
    runAt: toDate(row.run_at),
    attempts: row.attempts,
    leaseToken: row.lease_token,
    leaseUntil: toDateOrNull(row.lease_until),
  }));
}
