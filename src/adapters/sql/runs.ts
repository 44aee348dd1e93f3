import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { shortHash } from '../../core/canonical.ts';
import type { Clock } from '../../core/clock.ts';
import { type GateVerdict, gateVerdictSchema } from '../../domain/outcome/gate-verdict.ts';
import { newestVerdicts } from '../../domain/policy/gate/verdict.ts';
import { seriesOf } from '../../domain/run/child.ts';
import { hasGates, isRunOver, RUN_STATUSES, type RunState } from '../../domain/run/run.ts';
import { MAX_SEARCHED, type RunFilter, type Runs } from '../../ports/storage.ts';
import {
  type ArchivedRows,
  type Archives,
  archivableRuns,
  archiveRun,
  byTime,
  newestOf,
} from './archives.ts';
import { fromJson, mustExist, reading, toDate, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { restoreDelivery } from './delivery-archives.ts';
import { like, unindexed, uniqueCaseless } from './dialect.ts';
import { insertOnceCompiled } from './insert.ts';
import { KnownRows, type RunOutline } from './known-rows.ts';
import { packEndedRuns, packRun } from './pack-runs.ts';
import {
  type ChainRunRow,
  type InvocationRow,
  invocationOf,
  invocationRow,
  runOf,
  runRow,
  type StoredRun,
  sessionOf,
  sessionRow,
} from './run-rows.ts';
import { UNFINISHED } from './run-statuses.ts';
import type { ArtifactsTable, ChainRunsTable, Database, InvocationsTable, SessionsTable } from './schema.ts';
import { statusCounts } from './status-counts.ts';
import { type Change, recordTransitions, transitionsOf } from './transitions.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** Enough that two states of a run never share one by chance. */
const STAMP_LETTERS = 16;

const deliveryById = compiledOnce((db, { id }: { id: number }) =>
  db.selectFrom('deliveries').select('id').where('id', '=', id),
);

const runById = compiledOnce((db, { id }: { id: string }) =>
  db.selectFrom('chain_runs').selectAll().where('id', '=', id),
);

const stepsOfRun = compiledOnce((db, { runId }: { runId: string }) =>
  stepsIn(db).where('run_id', '=', runId).orderBy('step_index'),
);

/** All steps of the run that an invocation belongs to. */
const stepsBeside = compiledOnce((db, { id }: { id: string }) =>
  stepsIn(db)
    .where('run_id', '=', (eb) => eb.selectFrom('invocations').select('run_id').where('id', '=', id))
    .orderBy('step_index'),
);

const sessionById = compiledOnce((db, { id }: { id: string }) =>
  db.selectFrom('sessions').selectAll().where('id', '=', id),
);

const outlinesIn = (db: Kysely<Database>, repositoryId: number) =>
  db
    .selectFrom('chain_runs')
    .select(['id', 'pull_request', 'chain', 'status'])
    .where('repository_id', '=', repositoryId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc');

const outlinesOfHead = compiledOnce(
  (db, { repositoryId, headSha }: { repositoryId: number; headSha: string }) =>
    outlinesIn(db, repositoryId).where('head_sha', '=', headSha),
);

const outlinesOfPullRequest = compiledOnce(
  (db, { repositoryId, pullRequest }: { repositoryId: number; pullRequest: number }) =>
    outlinesIn(db, repositoryId).where('pull_request', '=', pullRequest),
);

const insertRun = insertOnceCompiled(
  (db, rows: readonly Insertable<ChainRunsTable>[]) => db.insertInto('chain_runs').values(rows),
  { keeps: true },
);

const insertSteps = insertOnceCompiled(
  (db, rows: readonly Insertable<InvocationsTable>[]) => db.insertInto('invocations').values(rows),
  { keeps: true },
);

const insertSessions = insertOnceCompiled(
  (db, rows: readonly Insertable<SessionsTable>[]) => db.insertInto('sessions').values(rows),
  { keeps: true },
);

/** Everything else of a run stays as it was inserted, apart from a rename of its repository. */
const updateRun = compiledOnce(
  (db, run: Pick<ChainRunRow, 'id' | 'status' | 'reason_json' | 'paused' | 'updated_at' | 'finished_at'>) =>
    db
      .updateTable('chain_runs')
      .set({
        status: run.status,
        reason_json: run.reason_json,
        paused: run.paused,
        updated_at: run.updated_at,
        finished_at: run.finished_at,
        packed: 0,
      })
      .where('id', '=', run.id),
  { keeps: true },
);

const upsertSteps = insertOnceCompiled(
  (db, rows: readonly Insertable<InvocationsTable>[]) =>
    db
      .insertInto('invocations')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(({ ref }) => ({
          status: ref('excluded.status'),
          reason_json: ref('excluded.reason_json'),
          attempts: ref('excluded.attempts'),
          session_id: ref('excluded.session_id'),
          wait_until: ref('excluded.wait_until'),
          deadline_at: ref('excluded.deadline_at'),
          outcome_json: ref('excluded.outcome_json'),
          outcome_artifact_id: ref('excluded.outcome_artifact_id'),
          started_at: ref('excluded.started_at'),
          finished_at: ref('excluded.finished_at'),
          one_file_json: ref('excluded.one_file_json'),
        })),
      ),
  { keeps: true },
);

/** A contract never changes after the session's start, and a choice is saved by itself. */
const updateSession = compiledOnce(
  (db, session: ReturnType<typeof sessionRow>) =>
    db
      .updateTable('sessions')
      .set({
        status: session.status,
        reason_json: session.reason_json,
        artifact_verification_json: session.artifact_verification_json,
        started_at: session.started_at,
        finished_at: session.finished_at,
      })
      .where('id', '=', session.id),
  { keeps: true },
);

type SessionRow = Selectable<SessionsTable>;

/**
 * Runs with their invocations and sessions. Every change of a status adds a row to `transitions`. Of the rows,
 * only those are written that differ.
 */
export function runsTable(
  db: Kysely<Database>,
  clock: Clock,
  archives: Archives,
  unit?: UnitOfWork,
  known?: KnownRows,
): Runs {
  /** Nothing outside a transaction. */
  const { runs, steps, sessions, outlines, approvals } = known ?? new KnownRows();
  const transitions = recordTransitions(db, unit);
  async function outlinesOf(of: { repositoryId: number; pullRequest: number }): Promise<RunOutline[]> {
    const key = `${of.repositoryId}#${of.pullRequest}`;
    return outlines.get(key) ?? keep(outlines, key, (await outlinesOfPullRequest(db, of)).rows);
  }

  /** The runs that a filter finds, if this transaction has read all of them. */
  function listKnown({
    repositoryId,
    pullRequest,
    status,
    active,
    ...others
  }: RunFilter): StoredRun[] | undefined {
    if (Object.values(others).some((value) => value !== undefined)) return undefined;
    const ids = outlines
      .get(`${repositoryId}#${pullRequest}`)
      ?.filter((run) => status === undefined || run.status === status)
      .filter((run) => active === undefined || active === !isRunOver(run.status))
      .map(({ id }) => id);
    const rows = ids?.map((id) => runs.get(id));
    return rows?.every((row) => row !== undefined) ? rows : undefined;
  }

  function keep<Row extends object>(into: LRUCache<string, Row>, id: string, row: Row): Row {
    if (known) into.set(id, row);
    return row;
  }

  async function runRowOf(id: string): Promise<StoredRun | undefined> {
    const known = runs.get(id);
    if (known) return known;
    const [row] = (await runById(db, { id })).rows;
    return row && keep(runs, id, row);
  }

  async function stepRowsOf({ id, archive_id }: StoredRun): Promise<InvocationRow[]> {
    const known = steps.get(id);
    if (known) return known;
    const archived = await archives.get(archive_id);
    const { rows } = await stepsOfRun(db, { runId: id });
    return keep(steps, id, archived && rows.length === 0 ? archivedSteps(archived) : rows);
  }

  async function sessionRowOf(id: string): Promise<SessionRow | undefined> {
    const known = sessions.get(id);
    if (known) return known;
    const [row] = (await sessionById(db, { id })).rows;
    return row && keep(sessions, id, row);
  }

  /** Also of a run that is archived. */
  async function anySession(id: string): Promise<{ session?: SessionRow; archived?: ArchivedRows }> {
    const session = await sessionRowOf(id);
    if (session) return { session };
    const { found, restored } = await archives.withKeys([id]);
    if (restored) return { session: await sessionRowOf(id) };
    const [archived] = found;
    const row = archived?.sessions.find((one) => one.id === id);
    return archived && row ? { session: row, archived } : {};
  }

  function knownBeside(invocationId: string): InvocationRow[] | undefined {
    return [...steps.values()].find((rows) => rows.some(({ id }) => id === invocationId));
  }

  /** The steps of a run show columns of their current sessions. `undefined` if they are not known. */
  function columnsOfSession(sessionId: string | null): ColumnsOfSession | undefined {
    if (sessionId === null) return NO_SESSION;
    const row = sessions.get(sessionId);
    return row && ofSession(row);
  }

  function sessionChanged({ id, invocation_id, ...row }: SessionRow): void {
    const rows = knownBeside(invocation_id);
    const [first] = rows ?? [];
    if (!rows || !first) return;
    const changed = rows.map((step) =>
      step.id === invocation_id && step.session_id === id ? { ...step, ...ofSession(row) } : step,
    );
    steps.set(first.run_id, changed);
  }

  async function load(id: string): Promise<RunState | undefined> {
    const run = await runRowOf(id);
    return run && stateOf(run, await stepRowsOf(run));
  }

  async function stateOf(row: StoredRun, stepRows: readonly InvocationRow[]): Promise<RunState> {
    const run = runOf(row);
    const state = { run, invocations: stepRows.map(invocationOf) };
    if (!hasGates(run)) return state;
    const archived = await archives.get(row.archive_id);
    return { ...state, verdicts: await verdictsOf(db, run.id, archived?.artifacts) };
  }

  return {
    async insert({ run, invocations }, begun) {
      if (run.deliveryId !== null && !known?.deliveries.has(run.deliveryId))
        await keepDelivery(db, run.deliveryId, unit);
      const newSessions = (begun?.sessions ?? []).map(sessionRow);
      await insertRun(db, [runRow(run)]);
      await insertSteps(db, invocations.map(invocationRow));
      await insertSessions(db, newSessions);
      keep(runs, run.id, { ...runRow(run), archive_id: null });
      keep(approvals, run.id, []);
      for (const row of newSessions) keep(sessions, row.id, { ...row, choice_json: null });
      const { id, repositoryId, pullRequest, chain, status } = run;
      outlines
        .get(`${repositoryId}#${pullRequest}`)
        ?.unshift({ id, pull_request: pullRequest, chain, status });
      const rows = invocations
        .map(invocationRow)
        .map((row) => ({ ...row, ...(columnsOfSession(row.session_id) ?? NO_SESSION) }));
      if (invocations.every(({ sessionId }) => columnsOfSession(sessionId) !== undefined)) {
        keep(
          steps,
          run.id,
          rows.toSorted((a, b) => a.step_index - b.step_index),
        );
      }
      if (!begun) return;
      const changes: Change[] = [{ kind: 'run', from: begun.from.run.status, to: run }];
      for (const [index, step] of invocations.entries())
        changes.push({ kind: 'invocation', from: begun.from.invocations[index]?.status, to: step });
      await transitions.record(changes, begun.by, clock.now());
    },

    load,

    async loadAll(ids) {
      if (ids.length === 0) return new Map();
      const rows = await db.selectFrom('chain_runs').selectAll().where('id', 'in', ids).execute();
      const archived = await archives.many(rows.flatMap(({ archive_id }) => archive_id ?? []));
      const stored = await stepsIn(db).where('run_id', 'in', ids).orderBy('step_index').execute();
      const verdicts = await gateVerdictRows(db, ids);
      return new Map(
        rows.map((row) => {
          const run = runOf(row);
          const archive = row.archive_id === null ? undefined : archived.get(row.archive_id);
          const stepRows = archive
            ? archivedSteps(archive)
            : stored.filter(({ run_id }) => run_id === row.id);
          const state = { run, invocations: stepRows.map(invocationOf) };
          const own = verdicts.filter(({ run_id }) => run_id === row.id);
          return [
            row.id,
            hasGates(run) ? { ...state, verdicts: verdictsIn([...own, ...gateVerdictsIn(archive)]) } : state,
          ];
        }),
      );
    },

    async get(id) {
      const run = await runRowOf(id);
      return run && runOf(run);
    },

    async save({ run, invocations }, by) {
      const before = await runRowOf(run.id);
      mustExist(before !== undefined, 'chain_runs', run.id);
      const stepsBefore = new Map((before ? await stepRowsOf(before) : []).map((row) => [row.id, row]));
      const after = runRow(run);
      await updateRun(db, after);
      const { status, reason_json, paused, updated_at, finished_at } = after;
      if (before)
        keep(runs, run.id, {
          ...before,
          status,
          reason_json,
          paused,
          updated_at,
          finished_at,
          archive_id: null,
        });
      for (const outline of outlines.get(`${run.repositoryId}#${run.pullRequest}`) ?? [])
        if (outline.id === run.id) outline.status = status;
      const changes: Change[] = [{ kind: 'run', from: before?.status, to: run }];
      const rows: InvocationRow[] = [];
      let isKnown = true;
      const changed: Insertable<InvocationsTable>[] = [];
      for (const step of invocations) {
        const known = stepsBefore.get(step.id);
        mustExist(known !== undefined, 'invocations', step.id);
        if (!known) continue;
        const row = invocationRow(step);
        if (differs(row, known)) changed.push(row);
        changes.push({ kind: 'invocation', from: known.status, to: step });
        const columns =
          row.session_id === known.session_id ? ofSession(known) : columnsOfSession(row.session_id);
        isKnown &&= columns !== undefined;
        rows.push({ ...row, ...(columns ?? NO_SESSION) });
      }
      await upsertSteps(db, changed);
      if (isKnown && rows.length === stepsBefore.size) keep(steps, run.id, rows);
      else steps.delete(run.id);
      await transitions.record(changes, by, clock.now());
    },

    async list(filter) {
      const rows = [filter.repositoryIds, filter.before, filter.statuses, filter.text].every(
        (one) => one === undefined,
      )
        ? (listKnown(filter) ?? (await listBy(filter)(db, filter)).rows)
        : await matching(db, filter).execute();
      return rows.map((row) => runOf(keep(runs, row.id, row)));
    },

    async searchedTo({ text: _, ...filter }) {
      const last = await matching(db, filter)
        .clearSelect()
        .select(['created_at', 'id'])
        .limit(1)
        .offset(MAX_SEARCHED - 1)
        .executeTakeFirst();
      return last && { createdAt: toDate(last.created_at), id: last.id };
    },

    async current(of) {
      const all = 'headSha' in of ? (await outlinesOfHead(db, of)).rows : await outlinesOf(of);
      const seen = new Set<string>();
      const wanted = all.filter(({ id, pull_request, chain, status }) => {
        const key = `${pull_request}:${seriesOf({ id, chain })}`;
        const isNewest = !seen.has(key);
        seen.add(key);
        return isNewest || !isRunOver(status);
      });
      if (wanted.length === 0) return [];
      const unread = wanted.map(({ id }) => id).filter((id) => !runs.has(id));
      const rows =
        unread.length === 0
          ? []
          : await db.selectFrom('chain_runs').selectAll().where('id', 'in', unread).execute();
      const read = new Map(rows.map((row) => [row.id, keep(runs, row.id, row)]));
      return wanted.flatMap(({ id }) => runs.get(id) ?? read.get(id) ?? []).map(runOf);
    },

    async insertSession(session) {
      await insertSessions(db, [sessionRow(session)]);
      keep(sessions, session.id, { ...sessionRow(session), choice_json: null });
    },

    async getSession(id) {
      const { session, archived } = await anySession(id);
      if (!session) return undefined;
      const invocationId = session.invocation_id;
      const rows = archived
        ? archivedSteps(archived)
        : (knownBeside(invocationId) ?? (await stepsBeside(db, { id: invocationId })).rows);
      const index = rows.findIndex((row) => row.id === invocationId);
      const runId = rows[index]?.run_id;
      const run = runId === undefined ? undefined : await runRowOf(runId);
      if (!run) return undefined;
      keep(steps, run.id, rows);
      const state = await stateOf(run, rows);
      const invocation = state.invocations[index];
      return invocation && { session: sessionOf(session), invocation, state };
    },

    async saveSession(session, by) {
      const { session: before } = await anySession(session.id);
      mustExist(before !== undefined, 'sessions', session.id);
      if (!before) return;
      const row = sessionRow(session);
      await updateSession(db, row);
      const { artifact_contract_json, choice_json } = before;
      sessionChanged(keep(sessions, session.id, { ...row, artifact_contract_json, choice_json }));
      const change: Change = { kind: 'session', from: before.status, to: session };
      await transitions.record([change], by, clock.now());
    },

    async chooseSkill(sessionId, choice) {
      const { numUpdatedRows } = await db
        .updateTable('sessions')
        .set({ choice_json: JSON.stringify(choice) })
        .where('id', '=', sessionId)
        .where('choice_json', 'is', null)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'sessions', sessionId);
    },

    async sessionsOf(runId, part) {
      const rows = await db
        .selectFrom('sessions')
        .innerJoin('invocations', 'invocations.id', 'sessions.invocation_id')
        .selectAll('sessions')
        .where('invocations.run_id', '=', runId)
        .$if(part?.invocationId !== undefined, (query) =>
          query.where('sessions.invocation_id', '=', part?.invocationId ?? ''),
        )
        .orderBy('sessions.started_at', 'desc')
        .orderBy('sessions.id', 'desc')
        .$if(part !== undefined, (query) => query.limit(part?.newest ?? 0))
        .execute();
      if (rows.length > 0) return rows.reverse().map(sessionOf);
      const archived = ((await archives.ofRun(runId))?.sessions ?? []).filter(
        ({ invocation_id }) => part?.invocationId === undefined || invocation_id === part.invocationId,
      );
      return newestOf(
        byTime(archived, ({ started_at }) => started_at),
        part?.newest,
      ).map(sessionOf);
    },

    async historyOf(runId, newest) {
      await transitions.flush();
      const archived = await archives.ofRun(runId);
      return transitionsOf(db, runId, archived?.transitions, newest);
    },

    async stamp(runId) {
      const { rows } = await sql<Record<string, unknown>>`
        SELECT status AS a, reason_json AS b, CAST(paused AS TEXT) AS c, CAST(archive_id AS TEXT) AS d FROM chain_runs WHERE id = ${runId}
        UNION ALL SELECT status, reason_json, session_id, outcome_artifact_id FROM invocations WHERE run_id = ${runId}
        UNION ALL SELECT status, decision_json, countersigned_by_json, answers_json FROM approvals WHERE run_id = ${runId}
        UNION ALL SELECT 'effects', max(updated_at), CAST(count(*) AS TEXT), NULL FROM effects WHERE run_id = ${runId}
        UNION ALL SELECT 'artifacts', max(created_at), CAST(count(*) AS TEXT), NULL FROM artifacts WHERE run_id = ${runId}`.execute(
        db,
      );
      // Without the run, only its counts are there.
      return rows.length > 2 ? shortHash(JSON.stringify(rows), STAMP_LETTERS) : undefined;
    },

    packEnded: (before, limit) => packEndedRuns(db, toText(before), limit),

    async archivable({ after, before, limit }) {
      const rows = await archivableRuns(db, {
        after: [after?.finishedAt ?? '', after?.id ?? ''],
        before: toText(before),
        limit,
      });
      const last = rows.at(-1);
      return {
        ids: rows.flatMap(({ id, archivable }) => (archivable === 1 ? [id] : [])),
        next: last && rows.length === limit ? { finishedAt: last.finished_at, id: last.id } : undefined,
      };
    },

    async archive(ids, before) {
      unit?.movesArchives();
      for (const id of ids) {
        if (await archiveRun(db, id, toText(before))) await packRun(db, id);
      }
    },

    countByStatus: () => statusCounts(db, 'run', RUN_STATUSES),

    async wasFired({ repositoryId, headSha, chain, subject }) {
      const row = await db
        .selectFrom('fired_once')
        .select('chain')
        .where('repository_id', '=', repositoryId)
        .where('head_sha', '=', headSha)
        .where('chain', '=', chain)
        .where('subject', '=', subject)
        .executeTakeFirst();
      return row !== undefined;
    },

    async renameRepository(repositoryId, repository) {
      await sql`
        INSERT INTO former_names (repository, repository_id, renamed_at)
          SELECT DISTINCT repository, repository_id, ${toText(clock.now())} FROM pull_requests
            WHERE repository_id = ${repositoryId} AND repository <> ${repository}
          ON CONFLICT (${uniqueCaseless('repository')}) DO UPDATE SET repository_id = excluded.repository_id, renamed_at = excluded.renamed_at`.execute(
        db,
      );
      for (const table of ['chain_runs', 'pull_requests', 'repository_states'] as const) {
        await db
          .updateTable(table)
          .set({ repository })
          .where('repository_id', '=', repositoryId)
          .where('repository', '!=', repository)
          .execute();
      }
    },
  };
}

/** A run refers to the delivery that it began with. It began long ago if its event had to wait. */
async function keepDelivery(db: Kysely<Database>, id: number, unit: UnitOfWork | undefined): Promise<void> {
  const { rows } = await deliveryById(db, { id });
  if (rows.length > 0) return;
  unit?.movesArchives();
  await restoreDelivery(db, id);
}

type ColumnsOfSession = Pick<InvocationRow, 'artifact_verification_json' | 'choice_json'>;

const NO_SESSION: ColumnsOfSession = { artifact_verification_json: null, choice_json: null };

function ofSession({ artifact_verification_json, choice_json }: ColumnsOfSession): ColumnsOfSession {
  return { artifact_verification_json, choice_json };
}

function differs<Row extends object>(row: Row, other: Row): boolean {
  return Object.entries(row).some(([column, value]) => other[column as keyof Row] !== value);
}

/** As the tables would return them. */
function archivedSteps({ invocations, sessions }: ArchivedRows): InvocationRow[] {
  return invocations
    .map((row) => {
      const { artifact_verification_json = null, choice_json = null } =
        sessions.find(({ id }) => id === row.session_id) ?? {};
      return { ...row, artifact_verification_json, choice_json };
    })
    .toSorted((a, b) => a.step_index - b.step_index);
}

function stepsIn(db: Kysely<Database>) {
  return db
    .selectFrom('invocations')
    .leftJoin('sessions', 'sessions.id', 'invocations.session_id')
    .selectAll('invocations')
    .select(['sessions.artifact_verification_json', 'sessions.choice_json']);
}

/** One statement for each set of conditions. */
const lists = new Map<string, ReturnType<typeof listOf>>();

function listBy({ active, ...values }: RunFilter): ReturnType<typeof listOf> {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : name));
  const shape = [active, ...given.toSorted()].join();
  const found = lists.get(shape) ?? listOf(given as (keyof typeof values)[], active);
  lists.set(shape, found);
  return found;
}

function listOf(given: readonly Exclude<keyof RunFilter, 'active'>[], active: boolean | undefined) {
  return compiledOnce((db, filter: RunFilter) => {
    const values = Object.fromEntries(given.map((name) => [name, filter[name]]));
    return matching(db, active === undefined ? values : { ...values, active });
  });
}

function matching(db: Kysely<Database>, filter: RunFilter) {
  // The few runs of a pull request are sorted: an index in the order of time would go through all of the repository.
  const time = filter.pullRequest === undefined ? sql.ref('created_at') : unindexed('created_at');
  let query = db.selectFrom('chain_runs').selectAll().orderBy(time, 'desc').orderBy('id', 'desc');
  if (filter.installationId !== undefined) query = query.where('installation_id', '=', filter.installationId);
  if (filter.repository !== undefined) query = query.where('repository', '=', filter.repository);
  if (filter.repositoryId !== undefined) query = query.where('repository_id', '=', filter.repositoryId);
  if (filter.repositoryIds !== undefined) query = query.where('repository_id', 'in', filter.repositoryIds);
  if (filter.pullRequest !== undefined) query = query.where('pull_request', '=', filter.pullRequest);
  if (filter.headSha !== undefined) query = query.where('head_sha', '=', filter.headSha);
  if (filter.chain !== undefined) query = query.where('chain', '=', filter.chain);
  if (filter.deliveryId !== undefined) query = query.where('delivery_id', '=', filter.deliveryId);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.active === true) query = query.where(sql<boolean>`status IN (${UNFINISHED})`);
  if (filter.active === false) query = query.where(sql<boolean>`status NOT IN (${UNFINISHED})`);
  if (filter.before !== undefined) {
    const { createdAt, id } = filter.before;
    const at = toText(createdAt);
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple('created_at', 'id'), '<', tuple(at, id)));
  }
  if (filter.statuses !== undefined) query = query.where('status', 'in', filter.statuses);
  if (filter.text !== undefined) {
    const pattern = `%${filter.text.replaceAll(/[\\%_]/g, '\\$&')}%`;
    const number = /^#?(\d{1,9})$/.exec(filter.text)?.[1];
    const searched = query.clearSelect().select('id').limit(MAX_SEARCHED);
    query = query
      .where('id', 'in', searched)
      .where((eb) =>
        eb.or([
          ...(['chain', 'repository', 'base_ref', 'head_sha'] as const).map((column) =>
            like(sql.ref(column), pattern),
          ),
          ...(number === undefined ? [] : [eb('pull_request', '=', Number(number))]),
        ]),
      );
  }
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  return query;
}

/**
 * The newest verdict of each gate of a run. Verdicts are artifacts like other outcomes. Rejected: a separate
 * table, which would store them twice, and the copies could differ.
 */
async function verdictsOf(
  db: Kysely<Database>,
  runId: string,
  archived: ArchivedRows['artifacts'] | undefined,
): Promise<GateVerdict[]> {
  return verdictsIn([
    ...(await gateVerdictRows(db, [runId])),
    ...gateVerdictsIn({ artifacts: archived ?? [] }),
  ]);
}

type VerdictRow = Pick<Selectable<ArtifactsTable>, 'id' | 'run_id' | 'content'>;

function gateVerdictRows(db: Kysely<Database>, runIds: readonly string[]): Promise<VerdictRow[]> {
  return db
    .selectFrom('artifacts')
    .select(['id', 'run_id', 'content'])
    .where('run_id', 'in', runIds)
    .where('kind', '=', 'gate_verdict')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

function gateVerdictsIn(archive: Pick<ArchivedRows, 'artifacts'> | undefined): VerdictRow[] {
  const ofKind = (archive?.artifacts ?? []).filter(({ kind }) => kind === 'gate_verdict');
  return byTime(ofKind, ({ created_at }) => created_at);
}

function verdictsIn(rows: readonly VerdictRow[]): GateVerdict[] {
  return newestVerdicts(
    rows.map(({ id, content }) =>
      reading('artifacts', id, () => fromJson(gateVerdictSchema, content ?? 'null')),
    ),
  );
}
