import type { Kysely } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { hasGates, isRunOver, RUN_STATUSES, type RunState, type RunStatus } from '../../domain/run/run.ts';
import type { RunFilter, Runs } from '../../ports/storage.ts';
import { mustExist } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import { invocationOf, invocationRow, runOf, runRow, sessionOf, sessionRow } from './run-rows.ts';
import type { Database } from './schema.ts';
import { statusCounts } from './status-counts.ts';
import { type Change, recordTransitions, transitionsOf } from './transitions.ts';
import { verdictsOf } from './verdicts.ts';

const ACTIVE: readonly RunStatus[] = RUN_STATUSES.filter((status) => !isRunOver(status));

const runById = compiledOnce((db, { id }: { id: string }) =>
  db.selectFrom('chain_runs').selectAll().where('id', '=', id),
);

const statusOfRun = compiledOnce((db, { id }: { id: string }) =>
  db.selectFrom('chain_runs').select('status').where('id', '=', id),
);

const statusOfSteps = compiledOnce((db, { runId }: { runId: string }) =>
  db.selectFrom('invocations').select(['id', 'status']).where('run_id', '=', runId),
);

const invocationsOfRun = compiledOnce((db, { runId }: { runId: string }) =>
  invocationsIn(db).where('run_id', '=', runId).orderBy('step_index'),
);

const invocationById = compiledOnce((db, { id }: { id: string }) =>
  invocationsIn(db).where('invocations.id', '=', id),
);

const sessionById = compiledOnce((db, { id }: { id: string }) =>
  db.selectFrom('sessions').selectAll().where('id', '=', id),
);

/** Runs with their invocations and sessions. Every change of a status adds a row to `transitions`. */
export function runsTable(db: Kysely<Database>, clock: Clock): Runs {
  async function statusChanges({ run, invocations }: RunState): Promise<Change[]> {
    const [before] = (await statusOfRun(db, { id: run.id })).rows;
    mustExist(before !== undefined, 'chain_runs', run.id);
    const { rows: steps } = await statusOfSteps(db, { runId: run.id });
    const stepBefore = new Map(steps.map((step) => [step.id, step.status]));
    return [
      { kind: 'run', from: before?.status, to: run },
      ...invocations.map((to): Change => ({ kind: 'invocation', from: stepBefore.get(to.id), to })),
    ];
  }

  return {
    async insert({ run, invocations }) {
      await db.insertInto('chain_runs').values(runRow(run)).execute();
      if (invocations.length === 0) return;
      await db.insertInto('invocations').values(invocations.map(invocationRow)).execute();
    },

    async load(id) {
      const [run] = (await runById(db, { id })).rows;
      if (!run) return undefined;
      const { rows: invocations } = await invocationsOfRun(db, { runId: id });
      const state = { run: runOf(run), invocations: invocations.map(invocationOf) };
      return hasGates(state.run) ? { ...state, verdicts: await verdictsOf(db, id) } : state;
    },

    async save(state, by) {
      const changes = await statusChanges(state);
      await db.updateTable('chain_runs').set(runRow(state.run)).where('id', '=', state.run.id).execute();
      for (const invocation of state.invocations) {
        const { numUpdatedRows } = await db
          .updateTable('invocations')
          .set(invocationRow(invocation))
          .where('id', '=', invocation.id)
          .executeTakeFirst();
        mustExist(numUpdatedRows > 0n, 'invocations', invocation.id);
      }
      await recordTransitions(db, changes, by, clock.now());
    },

    async list(filter) {
      const rows = await matching(db, filter).execute();
      return rows.map(runOf);
    },

    async current(of) {
      const outlines = db
        .selectFrom('chain_runs')
        .select(['id', 'pull_request', 'chain', 'status'])
        .where('repository_id', '=', of.repositoryId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      const all = await ('headSha' in of
        ? outlines.where('head_sha', '=', of.headSha)
        : outlines.where('pull_request', '=', of.pullRequest)
      ).execute();
      const seen = new Set<string>();
      const wanted = all.filter(({ pull_request, chain, status }) => {
        const key = `${pull_request}:${chain}`;
        const isNewest = !seen.has(key);
        seen.add(key);
        return isNewest || !isRunOver(status);
      });
      if (wanted.length === 0) return [];
      const rows = await db
        .selectFrom('chain_runs')
        .selectAll()
        .where(
          'id',
          'in',
          wanted.map(({ id }) => id),
        )
        .execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return wanted.flatMap(({ id }) => byId.get(id) ?? []).map(runOf);
    },

    async insertSession(session) {
      await db.insertInto('sessions').values(sessionRow(session)).execute();
    },

    async getSession(id) {
      const [session] = (await sessionById(db, { id })).rows;
      if (!session) return undefined;
      const [invocation] = (await invocationById(db, { id: session.invocation_id })).rows;
      if (!invocation) return undefined;
      return {
        session: sessionOf(session),
        invocation: invocationOf(invocation),
        runId: invocation.run_id,
      };
    },

    async saveSession(session, by) {
      const before = await db
        .selectFrom('sessions')
        .select('status')
        .where('id', '=', session.id)
        .executeTakeFirst();
      mustExist(before !== undefined, 'sessions', session.id);
      // A contract never changes after the session's start.
      const { artifact_contract_json, ...row } = sessionRow(session);
      await db.updateTable('sessions').set(row).where('id', '=', session.id).execute();
      const change: Change = { kind: 'session', from: before?.status, to: session };
      await recordTransitions(db, [change], by, clock.now());
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

    async sessionsOf(runId) {
      const rows = await db
        .selectFrom('sessions')
        .innerJoin('invocations', 'invocations.id', 'sessions.invocation_id')
        .selectAll('sessions')
        .where('invocations.run_id', '=', runId)
        .orderBy('sessions.started_at')
        .orderBy('sessions.id')
        .execute();
      return rows.map(sessionOf);
    },

    historyOf: (runId) => transitionsOf(db, runId),

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
      for (const table of ['chain_runs', 'pull_requests'] as const) {
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

function invocationsIn(db: Kysely<Database>) {
  return db
    .selectFrom('invocations')
    .leftJoin('sessions', 'sessions.id', 'invocations.session_id')
    .selectAll('invocations')
    .select(['sessions.artifact_verification_json', 'sessions.choice_json']);
}

function matching(db: Kysely<Database>, filter: RunFilter) {
  let query = db.selectFrom('chain_runs').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
  if (filter.installationId !== undefined) query = query.where('installation_id', '=', filter.installationId);
  if (filter.repository !== undefined) query = query.where('repository', '=', filter.repository);
  if (filter.repositoryId !== undefined) query = query.where('repository_id', '=', filter.repositoryId);
  if (filter.pullRequest !== undefined) query = query.where('pull_request', '=', filter.pullRequest);
  if (filter.headSha !== undefined) query = query.where('head_sha', '=', filter.headSha);
  if (filter.chain !== undefined) query = query.where('chain', '=', filter.chain);
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.active === true) query = query.where('status', 'in', ACTIVE);
  if (filter.active === false) query = query.where('status', 'not in', ACTIVE);
  if (filter.limit !== undefined) query = query.limit(filter.limit);
  return query;
}
