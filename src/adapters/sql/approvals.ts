import { type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { explanationSchema } from '../../domain/explanation/explanation.ts';
import {
  type Approval,
  answeringPeopleSchema,
  askedAuthorshipSchema,
  spokenAnswerSchema,
} from '../../domain/policy/approval.ts';
import { saidOnGitHubSchema } from '../../domain/policy/discussion.ts';
import { noticesSchema } from '../../domain/policy/notices.ts';
import { questionWatchSchema } from '../../domain/policy/question-watch.ts';
import type { Approvals } from '../../ports/storage.ts';
import { type Archives, byTime } from './archives.ts';
import {
  fromJson,
  fromJsonOrNull,
  mustExist,
  reading,
  toDate,
  toDateOrNull,
  toJsonOrNull,
  toText,
} from './columns.ts';
import { compiledOnce, listOnceCompiled } from './compiled.ts';
import { insertOnceCompiled } from './insert.ts';
import type { KnownRows } from './known-rows.ts';
import { parsedOnce } from './parsed-once.ts';
import type { ApprovalsTable, Database } from './schema.ts';

const newestOfInvocation = compiledOnce((db, { invocationId }: { invocationId: string }) =>
  db
    .selectFrom('approvals')
    .selectAll()
    .where('invocation_id', '=', invocationId)
    .orderBy('asked_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
);

const allOfRun = compiledOnce((db, { runId }: { runId: string }) =>
  db
    .selectFrom('chain_runs')
    .leftJoin('approvals', 'approvals.run_id', 'chain_runs.id')
    .selectAll('approvals')
    .select('chain_runs.archive_id')
    .where('chain_runs.id', '=', runId)
    .orderBy('asked_at')
    .orderBy('approvals.id'),
);

/** Oldest first, so that the last of each run counts. */
const newestOfRuns = listOnceCompiled((db, runIds: readonly string[]) =>
  db.selectFrom('approvals').selectAll().where('run_id', 'in', runIds).orderBy('asked_at').orderBy('id'),
);

type SavedColumns = Omit<ReturnType<typeof approvalRow>, 'run_id' | 'invocation_id'>;

const insertApprovals = insertOnceCompiled(
  (db, rows: readonly Selectable<ApprovalsTable>[]) => db.insertInto('approvals').values(rows),
  { keeps: true },
);

const updateApproval = compiledOnce(
  (db, row: SavedColumns) =>
    db
      .updateTable('approvals')
      .set({
        status: row.status,
        looked_at: row.looked_at,
        decision_json: row.decision_json,
        countersigned_by_json: row.countersigned_by_json,
        rejected_by_json: row.rejected_by_json,
        authorship_json: row.authorship_json,
        reviews_json: row.reviews_json,
        watch_json: row.watch_json,
        asked_at: row.asked_at,
        head_sha: row.head_sha,
        base_ref: row.base_ref,
      })
      .where('id', '=', row.id),
  { keeps: true },
);

const archivedRunsOfHead = (db: Kysely<Database>, repositoryId: number, headSha: string) =>
  db
    .selectFrom('chain_runs')
    .select(['chain', 'archive_id'])
    .where('head_sha', '=', headSha)
    .where('repository_id', '=', repositoryId)
    .where('archive_id', 'is not', null);

/** Literals, because SQLite uses a partial index only for a condition that it can read. */
const openWatched = (db: Kysely<Database>) =>
  db
    .selectFrom('approvals')
    .where('approvals.status', '=', sql.lit('open'))
    .where('approvals.watch_json', 'is not', null);

const logins = z.array(z.string());
const answers = z.array(spokenAnswerSchema);
const decisionIn = parsedOnce(explanationSchema);

export function approvalsTable(db: Kysely<Database>, archives: Archives, known?: KnownRows): Approvals {
  function put(runId: string, change: (rows: Selectable<ApprovalsTable>[]) => Selectable<ApprovalsTable>[]) {
    const rows = known?.approvals.get(runId);
    if (rows) known?.approvals.set(runId, change(rows));
  }

  /** An approval has the head of its run. */
  async function archivedOfHead(of: { repositoryId: number; pullRequest?: number; headSha: string }) {
    const runs = await archivedRunsOfHead(db, of.repositoryId, of.headSha)
      .$if(of.pullRequest !== undefined, (query) => query.where('pull_request', '=', of.pullRequest ?? null))
      .execute();
    const found: (Selectable<ApprovalsTable> & { chain: string })[] = [];
    for (const { chain, archive_id } of runs) {
      const archived = archive_id === null ? undefined : await archives.peek(archive_id);
      found.push(...(archived?.approvals ?? []).map((row) => ({ ...row, chain })));
    }
    return found;
  }

  async function rowsOfRun(runId: string): Promise<Selectable<ApprovalsTable>[]> {
    const { rows } = await allOfRun(db, { runId });
    const archiveId = rows[0]?.archive_id ?? null;
    const archived = await archives.get(archiveId);
    if (archiveId !== null && !archived) return rowsOfRun(runId);
    const stored = rows.flatMap(({ archive_id, ...row }) =>
      row.id === null ? [] : [row as Selectable<ApprovalsTable>],
    );
    return [...stored, ...byTime(archived?.approvals ?? [], ({ asked_at }) => asked_at)];
  }

  return {
    async insert(approval) {
      const row = { ...approvalRow(approval), ...answersOf(approval), notices_json: null };
      await insertApprovals(db, [row]);
      put(approval.runId, (rows) => [...rows, row].toSorted(byAsked));
    },

    async save(approval) {
      const { run_id, invocation_id, ...row } = approvalRow(approval);
      const { numAffectedRows = 0n } = await updateApproval(db, row);
      mustExist(numAffectedRows > 0n, 'approvals', approval.id);
      put(approval.runId, (rows) =>
        rows.map((other) => (other.id === row.id ? { ...other, ...row } : other)).toSorted(byAsked),
      );
    },

    async saveAnswers({ id, answers }) {
      const { numUpdatedRows } = await db
        .updateTable('approvals')
        .set(answersOf({ answers }))
        .where('id', '=', id)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'approvals', id);
    },

    async saveNotices(id, notices) {
      const { numUpdatedRows } = await db
        .updateTable('approvals')
        .set({ notices_json: JSON.stringify(notices) })
        .where('id', '=', id)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'approvals', id);
    },

    async ofInvocation(invocationId) {
      const { rows } = await newestOfInvocation(db, { invocationId });
      return rows[0] && approvalOf(rows[0]);
    },

    async ofRun(runId) {
      const rows = known?.approvals.get(runId) ?? (await rowsOfRun(runId));
      known?.approvals.set(runId, rows);
      return rows.map(approvalOf);
    },

    async newestOf(runIds) {
      const rows = await newestOfRuns(db, runIds);
      return new Map(rows.map((row) => [row.run_id, approvalOf(row)]));
    },

    async watched(installationId) {
      const rows = await openWatched(db)
        .innerJoin('chain_runs', 'chain_runs.id', 'approvals.run_id')
        .select(['approvals.id', 'approvals.asked_at'])
        .where('chain_runs.installation_id', '=', installationId)
        .execute();
      return rows.map(({ id, asked_at }) => ({ id, askedAt: toDate(asked_at) }));
    },

    async stillWatched(ids) {
      const rows = await openWatched(db)
        .innerJoin('invocations', 'invocations.id', 'approvals.invocation_id')
        .select(['approvals.id', 'approvals.watch_json', 'invocations.session_id'])
        .where('approvals.id', 'in', ids)
        .where('invocations.status', '=', 'waiting_approval')
        .execute();
      return rows.flatMap(({ id, watch_json, session_id: sessionId }) => {
        const watch = reading('approvals', id, () => fromJsonOrNull(questionWatchSchema, watch_json));
        return watch && sessionId !== null ? [{ id, watch, sessionId }] : [];
      });
    },

    async answered({ repositoryId, pullRequest, headSha, baseRef }) {
      const archived = await archivedOfHead({ repositoryId, pullRequest, headSha });
      const query = db
        .selectFrom('approvals')
        .innerJoin('chain_runs', 'chain_runs.id', 'approvals.run_id')
        .selectAll('approvals')
        .select('chain_runs.chain')
        .where('approvals.head_sha', '=', headSha)
        .where('approvals.base_ref', '=', baseRef)
        .where('approvals.status', 'in', ['countersigned', 'rejected'])
        .where('chain_runs.repository_id', '=', repositoryId)
        .orderBy('approvals.asked_at', 'desc')
        .orderBy('approvals.id', 'desc');
      const rows = await (pullRequest === undefined
        ? query
        : query.where('chain_runs.pull_request', '=', pullRequest)
      ).execute();
      const ofArchives = archived.filter(
        ({ base_ref, status }) =>
          base_ref === baseRef && (status === 'countersigned' || status === 'rejected'),
      );
      return byTime([...rows, ...ofArchives], ({ asked_at }) => asked_at)
        .toReversed()
        .map(({ chain, ...row }) => ({ approval: approvalOf(row), chain }));
    },
  };
}

/** As the table returns them. */
function byAsked(a: Selectable<ApprovalsTable>, b: Selectable<ApprovalsTable>): number {
  const isBefore = a.asked_at < b.asked_at || (a.asked_at === b.asked_at && a.id < b.id);
  return isBefore ? -1 : 1;
}

function answersOf({ answers }: Pick<Approval, 'answers'>): Pick<ApprovalsTable, 'answers_json'> {
  return { answers_json: JSON.stringify(answers) };
}

function approvalRow(approval: Approval): Omit<Selectable<ApprovalsTable>, 'answers_json' | 'notices_json'> {
  return {
    id: approval.id,
    run_id: approval.runId,
    invocation_id: approval.invocationId,
    head_sha: approval.headSha,
    base_ref: approval.baseRef,
    status: approval.status,
    asked_at: toText(approval.askedAt),
    looked_at: toText(approval.lookedAt),
    decision_json: toJsonOrNull(approval.decision),
    countersigned_by_json: JSON.stringify(approval.countersignedBy),
    rejected_by_json: JSON.stringify(approval.rejectedBy),
    authorship_json: toJsonOrNull(approval.authorship),
    reviews_json: toJsonOrNull(approval.reviews ?? null),
    watch_json: toJsonOrNull(approval.watch),
  };
}

function approvalOf(row: Selectable<ApprovalsTable>): Approval {
  return reading('approvals', row.id, () => ({
    id: row.id,
    runId: row.run_id,
    invocationId: row.invocation_id,
    headSha: row.head_sha,
    baseRef: row.base_ref,
    status: row.status,
    askedAt: toDate(row.asked_at),
    lookedAt: toDateOrNull(row.looked_at),
    decision: row.decision_json === null ? null : decisionIn(row.decision_json),
    countersignedBy: fromJson(logins, row.countersigned_by_json),
    rejectedBy: fromJson(answeringPeopleSchema, row.rejected_by_json),
    answers: fromJson(answers, row.answers_json),
    authorship: fromJsonOrNull(askedAuthorshipSchema, row.authorship_json),
    watch: fromJsonOrNull(questionWatchSchema, row.watch_json),
    // An archive of an older version lacks this column, and the next.
    ...(row.reviews_json ? { reviews: fromJson(saidOnGitHubSchema, row.reviews_json) } : {}),
    ...(row.notices_json ? { notices: fromJson(noticesSchema, row.notices_json) } : {}),
  }));
}
