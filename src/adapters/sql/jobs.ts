import { type Insertable, type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { REVIEW, WORTH } from '../../ports/jobs.ts';
import { type JobRow, type Jobs, MAX_COUNTED, MAX_READY, type ReadyJobs } from '../../ports/storage.ts';
import { reading, toDate, toDateOrNull, toText } from './columns.ts';
import { compiledOnce, listOnceCompiled } from './compiled.ts';
import { insertOnceCompiled } from './insert.ts';
import type { KnownJobs } from './known-rows.ts';
import type { Database, JobsTable } from './schema.ts';
import { isWorkOf } from './work-of.ts';

type Row = Selectable<JobsTable>;

const insertJobs = insertOnceCompiled(
  (db, rows: readonly Insertable<JobsTable>[]) => db.insertInto('jobs').values(rows).returningAll(),
  { keeps: true },
);

const endLeases = (db: Kysely<Database>) =>
  db.updateTable('jobs').set((eb) => ({
    lease_token: null,
    lease_until: null,
    attempts: eb('attempts', '+', 1),
  }));

const endLeasesUntil = compiledOnce((db, { now }: { now: string }) =>
  endLeases(db).where('lease_until', '<=', now),
);
/** The clock of the process that took a lease may differ from this one's, so each process ends those of its own installations. */
const endOwnLeasesUntil = compiledOnce((db, { now, worker }: { now: string; worker: string }) =>
  endLeases(db).where('lease_until', '<=', now).where(isWorkOf(worker)),
);

interface Claim {
  now: string;
  /** One job of each worth that has been due since then goes before all others. */
  overdue: string;
  leaseUntil: string;
  leaseToken: string;
  limit: number;
  reviews: number;
}
interface ClaimOf extends Claim {
  worker: string;
}

/** The earliest due job of each key, unless another job of that key is held. */
const dueJobs = (db: Kysely<Database>, worth: number, now: string, limit: number, worker?: string) =>
  db
    .selectFrom('jobs as job')
    .select(['job.id', 'job.worth', 'job.run_at'])
    .where('job.lease_token', 'is', null)
    .where('job.run_at', '<=', now)
    .where('job.worth', '=', worth)
    .$if(worker !== undefined, (query) => query.where(isWorkOf(worker ?? '')))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('jobs as other')
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

/**
 * One at a time: after an hour without the app, thousands of edits are overdue, and a merge must not wait for
 * them.
 */
const oneOverdue = (db: Kysely<Database>, worth: number, overdue: string, worker?: string) =>
  dueJobs(db, worth, overdue, 1, worker).where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('jobs as held')
          .select('held.id')
          .where('held.lease_token', 'is not', null)
          .where('held.worth', '=', worth)
          .$if(worker !== undefined, (query) => query.where(isWorkOf(worker ?? ''))),
      ),
    ),
  );

/** One statement for all, because every turn of the queue needs it. Each part reads only what it takes. */
const claiming = (
  db: Kysely<Database>,
  { now, overdue, leaseUntil, leaseToken, limit, reviews }: Claim,
  worker?: string,
) =>
  db
    .updateTable('jobs')
    .set({ lease_token: leaseToken, lease_until: leaseUntil })
    .where('id', 'in', (eb) => {
      const some = (rows: ReturnType<typeof dueJobs>, rank: number) =>
        eb.selectFrom(rows.as('some')).select(['some.id', 'some.run_at', sql.lit(rank).as('rank')]);
      const byWorth = some(oneOverdue(db, WORTH.last, overdue, worker), -1)
        .unionAll(some(oneOverdue(db, WORTH.normal, overdue, worker), -1))
        .unionAll(some(dueJobs(db, WORTH.first, now, limit, worker), WORTH.first))
        .unionAll(some(dueJobs(db, WORTH.normal, now, limit, worker), WORTH.normal))
        .unionAll(some(dueJobs(db, WORTH.last, now, limit, worker), WORTH.last));
      const first = eb
        .selectFrom(byWorth.as('some'))
        .select('some.id')
        .groupBy('some.id')
        .orderBy((order) => order.fn.min('some.rank'))
        .orderBy((order) => order.fn.min('some.run_at'))
        .orderBy('some.id')
        .limit(limit);
      const reviewed = dueJobs(db, WORTH.review, now, reviews, worker);
      return eb
        .selectFrom(first.as('some'))
        .select('some.id')
        .unionAll(eb.selectFrom(reviewed.as('some')).select('some.id'));
    })
    .returningAll();

const claimDue = compiledOnce((db, claim: Claim) => claiming(db, claim), { keeps: true });
const claimDueOf = compiledOnce((db, claim: ClaimOf) => claiming(db, claim, claim.worker), { keeps: true });

/**
 * How long a job may be due while more worth ones go before it, in milliseconds. Then it goes first, unless
 * another job of its worth runs, so that every job runs in the end.
 */
const OVERDUE_MS = 600_000;

const bringWaitingForward = compiledOnce(
  (db, { kind, key, at }: { kind: string; key: string; at: string }) =>
    db
      .updateTable('jobs')
      .set((eb) => ({ run_at: eb.case().when('run_at', '>', at).then(at).else(eb.ref('run_at')).end() }))
      .where('kind', '=', kind)
      .where('key', '=', key)
      .where('lease_token', 'is', null),
  { keeps: true },
);

const ofKeys = listOnceCompiled((db, keys: readonly string[]) =>
  db.selectFrom('jobs').selectAll().where('key', 'in', keys),
);

interface Taken {
  id: number;
  runAt: string;
  leaseUntil: string;
  leaseToken: string;
}

const removeWaiting = compiledOnce(
  (db, { kind, key }: { kind: string; key: string }) =>
    db.deleteFrom('jobs').where('kind', '=', kind).where('key', '=', key).where('lease_token', 'is', null),
  { keeps: true },
);

const takeWaiting = compiledOnce(
  (db, { id, runAt, leaseUntil, leaseToken }: Taken) =>
    db
      .updateTable('jobs')
      .set({ run_at: runAt, lease_token: leaseToken, lease_until: leaseUntil })
      .where('id', '=', id)
      .where('lease_token', 'is', null)
      .returningAll(),
  { keeps: true },
);

const findHeld = compiledOnce((db, { id, leaseToken }: { id: number; leaseToken: string }) =>
  db.selectFrom('jobs').select('id').where('id', '=', id).where('lease_token', '=', leaseToken),
);

const returnJob = compiledOnce(
  (db, job: ReturnedJob) =>
    db
      .updateTable('jobs')
      .set({
        lease_token: null,
        lease_until: null,
        run_at: job.runAt,
        attempts: job.attempts,
        away_since: job.unavailableSince,
      })
      .where('id', '=', job.id)
      .where('lease_token', '=', job.leaseToken)
      .returningAll(),
  { keeps: true },
);

const extendLease = compiledOnce(
  (db, { id, leaseToken, leaseUntil }: { id: number; leaseToken: string; leaseUntil: string }) =>
    db
      .updateTable('jobs')
      .where('id', '=', id)
      .where('lease_token', '=', leaseToken)
      .set({ lease_until: leaseUntil })
      .returningAll(),
  { keeps: true },
);

const firstJobs = compiledOnce((db, { most }: { most: number }) =>
  db.selectFrom('jobs').selectAll().limit(most),
);

interface ReturnedJob {
  id: number;
  leaseToken: string;
  runAt: string;
  attempts: number;
  unavailableSince: string | null;
}

/** Passes the counters on to a waiting job that equals the held one, if it is due by then. */
const handOver = compiledOnce((db, { id, runAt, attempts, unavailableSince }: ReturnedJob) =>
  db
    .updateTable('jobs')
    .set((eb) => ({
      attempts: eb.case().when('attempts', '<', attempts).then(attempts).else(eb.ref('attempts')).end(),
      away_since: eb.fn.coalesce(eb.val(unavailableSince), 'away_since'),
    }))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('jobs as same')
        .innerJoin('jobs as held', (join) =>
          join
            .onRef('held.key', '=', 'same.key')
            .onRef('held.kind', '=', 'same.kind')
            .onRef('held.payload', '=', 'same.payload'),
        )
        .select('same.id')
        .where('held.id', '=', id)
        .where('same.lease_token', 'is', null)
        .where('same.run_at', '<=', runAt)
        .orderBy('same.run_at')
        .limit(1),
    ),
);

const deleteHeld = compiledOnce(
  (db, { id, leaseToken }: { id: number; leaseToken: string }) =>
    db.deleteFrom('jobs').where('id', '=', id).where('lease_token', '=', leaseToken),
  { keeps: true },
);

const waitingAfter = (db: Kysely<Database>, after: string) =>
  db
    .selectFrom('jobs')
    .select('run_at')
    .where('lease_token', 'is', null)
    .where('run_at', '>', after)
    .orderBy('run_at')
    .limit(1);

const firstAfter = compiledOnce((db, { after }: { after: string }) => waitingAfter(db, after));
const firstAfterOf = compiledOnce((db, { after, worker }: { after: string; worker: string }) =>
  waitingAfter(db, after).where(isWorkOf(worker)),
);

// Separate counts in one statement: with OR, SQLite would read the whole table.
const countHeldAndDue = compiledOnce((db, { now, most }: { now: string; most: number }) =>
  db.selectNoFrom((eb) => {
    const upTo = (rows: SelectQueryBuilder<Database, 'jobs' | 'deliveries', { id: number }>) =>
      eb.selectFrom(rows.limit(most).as('some')).select(eb.fn.countAll<number>().as('count'));
    const jobs = eb.selectFrom('jobs').select('id');
    return [
      upTo(jobs.where('lease_token', 'is', null).where('run_at', '<=', now)).as('waiting'),
      upTo(jobs.where('lease_token', 'is not', null)).as('held'),
      upTo(eb.selectFrom('deliveries').select('id').where('queue_key', 'is not', null)).as('recorded'),
    ];
  }),
);

/** A row for each worth, and one for the deliveries that no slot was free to make a job of. */
const countReady = compiledOnce((db, { now, most }: { now: string; most: number }) => {
  const ofWorth = (worth: number) =>
    db
      .selectFrom(dueJobs(db, worth, now, most).as('some'))
      .select((eb) => [
        eb.fn.min('some.worth').as('worth'),
        eb.fn.countAll<number>().as('count'),
        eb.fn.min('some.run_at').as('since'),
      ]);
  return ofWorth(WORTH.first)
    .unionAll(ofWorth(WORTH.normal))
    .unionAll(ofWorth(WORTH.last))
    .unionAll(ofWorth(WORTH.review))
    .unionAll(
      db
        .selectFrom(
          db
            .selectFrom('deliveries')
            .select('received_at')
            .where('queue_key', 'is not', null)
            .orderBy('id')
            .limit(most)
            .as('some'),
        )
        .select((eb) => [
          sql.lit<number>(WORTH.normal).as('worth'),
          eb.fn.countAll<number>().as('count'),
          eb.fn.min('some.received_at').as('since'),
        ]),
    );
});

/** A job with a lease token is held, one without is waiting. */
export function jobsTable(db: Kysely<Database>, known?: KnownJobs): Jobs {
  /** All jobs, if they are known. */
  async function all(): Promise<ReadonlyMap<number, Row> | undefined> {
    return known?.load(async (most) => (await firstJobs(db, { most })).rows);
  }

  function keep(rows: readonly Row[]): readonly Row[] {
    for (const row of rows) known?.put(row);
    return rows;
  }

  async function isHeld(id: number, leaseToken: string): Promise<boolean> {
    const jobs = await all();
    if (jobs) return jobs.get(id)?.lease_token === leaseToken;
    const { rows } = await findHeld(db, { id, leaseToken });
    return rows.length > 0;
  }

  return {
    async insert(...jobs) {
      const rows = await insertJobs(
        db,
        jobs.map(
          ({
            kind,
            key,
            payload,
            runAt,
            worth = kind === REVIEW ? WORTH.review : WORTH.normal,
            installationId = null,
            lease,
          }) => ({
            kind,
            key,
            payload,
            installation_id: installationId,
            run_at: toText(runAt),
            attempts: 0,
            away_since: null,
            lease_token: lease?.token ?? null,
            lease_until: lease ? toText(lease.until) : null,
            worth,
          }),
        ),
      );
      return keep(rows).map(jobOf);
    },

    async bringForward(kind, key, runAt) {
      const at = toText(runAt);
      const jobs = await all();
      const same = jobs && known?.ofKey(key).filter((row) => row.kind === kind && row.lease_token === null);
      if (same?.every(({ run_at }) => run_at <= at)) return same.length > 0;
      const { numAffectedRows } = await bringWaitingForward(db, { kind, key, at });
      keep((same ?? []).map((row) => (row.run_at > at ? { ...row, run_at: at } : row)));
      return hasAny(numAffectedRows);
    },

    async removeWaiting(kind, key) {
      const jobs = await all();
      const same = jobs && known?.ofKey(key).filter((row) => row.kind === kind && row.lease_token === null);
      if (same?.length === 0) return;
      await removeWaiting(db, { kind, key });
      for (const { id } of same ?? []) known?.remove(id);
    },

    async ofKeys(keys) {
      if (keys.length === 0) return [];
      const jobs = await all();
      const rows = jobs && keys.flatMap((key) => known?.ofKey(key) ?? []);
      return (rows ?? (await ofKeys(db, keys))).map(jobOf);
    },

    async take(id, runAt, leaseUntil, leaseToken) {
      const { rows } = await takeWaiting(db, {
        id,
        runAt: toText(runAt),
        leaseUntil: toText(leaseUntil),
        leaseToken,
      });
      return keep(rows).map(jobOf)[0];
    },

    async claim(at, until, leaseToken, limit, { reviews = limit, endsLeases = true, worker } = {}) {
      const now = toText(at);
      // Ends expired leases first, so that a slow holder cannot extend its lease or complete its job while
      // another job of its key runs.
      const jobs = await all();
      const isAny = (is: (row: Row) => boolean) => jobs === undefined || [...jobs.values()].some(is);
      const expired = ({ lease_until }: Row) => lease_until !== null && lease_until <= now;
      if (endsLeases && isAny(expired)) {
        await (worker === undefined ? endLeasesUntil(db, { now }) : endOwnLeasesUntil(db, { now, worker }));
        known?.forget();
      } else if (!isAny((row) => row.lease_token === null && row.run_at <= now)) return [];
      const overdue = toText(new Date(at.getTime() - OVERDUE_MS));
      const leaseUntil = toText(until);
      const claim = { now, overdue, leaseUntil, leaseToken, limit, reviews };
      const { rows } = await (worker === undefined
        ? claimDue(db, claim)
        : claimDueOf(db, { ...claim, worker }));
      return keep(rows)
        .map(jobOf)
        .sort((a, b) => a.runAt.getTime() - b.runAt.getTime() || a.id - b.id);
    },

    async isUnderWay(key) {
      if (await all()) return known?.ofKey(key).some((row) => row.lease_token !== null) ?? false;
      const held = await db
        .selectFrom('jobs')
        .select('id')
        .where('key', '=', key)
        .where('lease_token', 'is not', null)
        .limit(1)
        .executeTakeFirst();
      return held !== undefined;
    },

    isHeld,

    async extend(id, leaseToken, leaseUntil) {
      const { rows } = await extendLease(db, { id, leaseToken, leaseUntil: toText(leaseUntil) });
      return keep(rows).length > 0;
    },

    async complete(id, leaseToken) {
      const { numAffectedRows } = await deleteHeld(db, { id, leaseToken });
      if (hasAny(numAffectedRows)) known?.remove(id);
      return hasAny(numAffectedRows);
    },

    async retry(id, leaseToken, runAt, { attempts, unavailableSince }) {
      if (!(await isHeld(id, leaseToken))) return false;
      const job = {
        id,
        leaseToken,
        runAt: toText(runAt),
        attempts,
        unavailableSince: toText(unavailableSince),
      };
      const jobs = await all();
      const held = jobs?.get(id);
      const isAlone = held && known?.ofKey(held.key).length === 1;
      const { numAffectedRows } = isAlone ? {} : await handOver(db, job);
      if (hasAny(numAffectedRows)) {
        await deleteHeld(db, { id, leaseToken });
        known?.forget();
      } else keep((await returnJob(db, job)).rows);
      return true;
    },

    async leaseTokens(worker) {
      const rows = await db
        .selectFrom('jobs')
        .select('lease_token')
        .distinct()
        .where('lease_token', 'is not', null)
        .$if(worker !== undefined, (query) => query.where(isWorkOf(worker ?? '')))
        .execute();
      return rows.flatMap((row) => row.lease_token ?? []);
    },

    async release(leaseToken, worker) {
      const rows = await endLeases(db)
        .where('lease_token', '=', leaseToken)
        .$if(worker !== undefined, (query) => query.where(isWorkOf(worker ?? '')))
        .returningAll()
        .execute();
      known?.forget();
      return rows.map(jobOf);
    },

    async nextDue(after, worker) {
      const from = toText(after);
      if (worker !== undefined) {
        const { rows } = await firstAfterOf(db, { after: from, worker });
        return rows[0] && toDate(rows[0].run_at);
      }
      const jobs = await all();
      if (!jobs) {
        const { rows } = await firstAfter(db, { after: from });
        return rows[0] && toDate(rows[0].run_at);
      }
      let first: string | undefined;
      for (const { run_at, lease_token } of jobs.values())
        if (lease_token === null && run_at > from && (first === undefined || run_at < first)) first = run_at;
      return first === undefined ? undefined : toDate(first);
    },

    async countDue(now) {
      const { rows } = await countHeldAndDue(db, { now: toText(now), most: MAX_COUNTED });
      const { waiting, held, recorded } = rows[0] ?? {};
      return (waiting ?? 0) + (held ?? 0) + (recorded ?? 0);
    },

    async ready(now) {
      const { rows } = await countReady(db, { now: toText(now), most: MAX_READY });
      const readyOf = (some: typeof rows): ReadyJobs => {
        const [since] = some.map((row) => row.since).sort();
        return {
          count: some.reduce((sum, { count }) => sum + count, 0),
          since: since ? toDate(since) : undefined,
        };
      };
      return {
        reviews: readyOf(rows.filter(({ count, worth }) => count > 0 && worth === WORTH.review)),
        others: readyOf(rows.filter(({ count, worth }) => count > 0 && worth !== WORTH.review)),
      };
    },
  };
}

function hasAny(affected: bigint | undefined): boolean {
  return affected !== undefined && affected > 0n;
}

function jobOf(row: Selectable<JobsTable>): JobRow {
  return reading('jobs', row.id, () => ({
    id: row.id,
    kind: row.kind,
    key: row.key,
    payload: row.payload,
    installationId: row.installation_id,
    runAt: toDate(row.run_at),
    attempts: row.attempts,
    unavailableSince: toDateOrNull(row.away_since),
    leaseToken: row.lease_token,
    leaseUntil: toDateOrNull(row.lease_until),
  }));
}
