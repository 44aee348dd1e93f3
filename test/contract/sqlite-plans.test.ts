import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { type CompiledQuery, Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/adapters/sql/schema.ts';
import { tablesOn } from '../../src/adapters/sql/tables.ts';
import { sqliteDialect } from '../../src/adapters/sqlite/dialect.ts';
import { PRUNED_KINDS, type PrunedKind } from '../../src/ports/retention.ts';
import type { Tx } from '../../src/ports/storage.ts';
import { Visible } from '../../src/ports/visible.ts';
import { writeMigratedDatabase } from '../support/migrated-database.ts';
import { at, comment, delivery, runState, session } from '../support/rows.ts';
import { temporaryFolders } from '../support/temp.ts';
import { repositoryState } from './repository-states.contract.ts';
import { storedArtifact, storedSkill } from './skills.contract.ts';

const folder = temporaryFolders();
const byApp = { kind: 'app' } as const;
const clock = { now: () => at(0) };

/** Where an id of a kind is no id of a row. */
const ID_OF: Readonly<Partial<Record<PrunedKind, string>>> = {
  pull_requests: '70#3',
  fired_once: '[70,"abc","nightly","[]"]',
};

describe('no query reads a whole table row by row', () => {
  let db: BetterSqlite3.Database;
  let tables: Tx;
  let queries: CompiledQuery[];

  beforeEach(async () => {
    const path = join(folder(), 'test.db');
    await writeMigratedDatabase(path);
    db = new BetterSqlite3(path);
    queries = [];
    const kysely = new Kysely<Database>({
      dialect: sqliteDialect(db, (error) => error),
      log: ({ query }) => {
        queries.push(query);
      },
    });
    tables = tablesOn(kysely, clock);
    await tables.runs.insert(runState('run1'));
    await tables.runs.insertSession(session('ses1', 'run1-inv0'));
    await tables.deliveries.record([delivery('g1')]);
    queries = [];
  });
  afterEach(() => {
    db.close();
  });

  const cases: [string, (tx: Tx) => Promise<unknown>][] = [
    ['deliveries.record', (tx) => tx.deliveries.record([delivery('g1')])],
    ['deliveries.takeToQueue', (tx) => tx.deliveries.claimUnqueued(5)],
    ['deliveries.oldestToQueue', (tx) => tx.deliveries.oldestToQueue()],
    ['deliveries.packTogether', (tx) => tx.deliveries.packTogether(0, at(9))],
    ['deliveries.archive', (tx) => tx.deliveries.archive(at(9), at(9))],
    ['deliveries.get', (tx) => tx.deliveries.get(1)],
    ['deliveries.byGuid', (tx) => tx.deliveries.byGuid('g1')],
    ['deliveries.known', (tx) => tx.deliveries.known(['g1', 'g2'])],
    ['deliveries.setStatus', (tx) => tx.deliveries.setStatus(1, 'done', at(1))],
    ['deliveries.list by status', (tx) => tx.deliveries.list({ status: 'failed', limit: 5 })],
    ['deliveries.countByStatus', (tx) => tx.deliveries.countByStatus()],
    [
      'overview.pullRequests',
      (tx) =>
        tx.overview.pullRequests(
          { visible: Visible.everything(), state: 'merged' },
          { after: { repositoryId: 2, number: 1 }, limit: 5 },
        ),
    ],
    [
      'overview.pullRequests of a repository',
      (tx) =>
        tx.overview.pullRequests(
          { visible: Visible.everything(), repository: 'A/b', state: 'open' },
          { after: undefined, limit: 5 },
        ),
    ],
    ['apiTokens.ofOwner', (tx) => tx.apiTokens.ofOwner(1, at(1), 5)],
    ['apiTokens.countUsable', (tx) => tx.apiTokens.countUsable(1, at(1))],
    ['apiTokens.removeOver', (tx) => tx.apiTokens.removeOver(1, at(1))],
    ['runs.load', (tx) => tx.runs.load('run1')],
    [
      'sessionLogs.append',
      (tx) =>
        tx.sessionLogs.append({
          runId: 'run1',
          sessionId: 'ses1',
          begunAt: at(1),
          text: 'a\n',
          isFirst: true,
        }),
    ],
    ['sessionLogs.read', (tx) => tx.sessionLogs.read({ runId: 'run1', sessionId: 'ses1' }, { most: 9 })],
    ['runs.save', (tx) => tx.runs.save(runState('run1'), byApp)],
    ['runs.list', (tx) => tx.runs.list({ limit: 5 })],
    ['runs.list by name', (tx) => tx.runs.list({ repository: 'a/b', pullRequest: 3 })],
    ['runs.list by id', (tx) => tx.runs.list({ repositoryId: 1, pullRequest: 3, active: true })],
    ['runs.list by head', (tx) => tx.runs.list({ headSha: 'abc', active: true })],
    ['runs.list by chain', (tx) => tx.runs.list({ chain: 'nightly' })],
    ['runs.list by status', (tx) => tx.runs.list({ status: 'failed' })],
    ['runs.list of the active', (tx) => tx.runs.list({ active: true })],
    ['runs.current', (tx) => tx.runs.current({ repositoryId: 70, pullRequest: 3 })],
    ['runs.current of a head', (tx) => tx.runs.current({ repositoryId: 70, headSha: 'abc' })],
    ['runs.getSession', (tx) => tx.runs.getSession('ses1')],
    ['runs.saveSession', (tx) => tx.runs.saveSession(session('ses1', 'run1-inv0'), byApp)],
    ['runs.historyOf', (tx) => tx.runs.historyOf('run1')],
    ['runs.sessionsOf', (tx) => tx.runs.sessionsOf('run1')],
    ['runs.sessionsOf', (tx) => tx.runs.sessionsOf('run1', { newest: 3, invocationId: 'run1-inv0' })],
    ['runs.packEnded', (tx) => tx.runs.packEnded(at(9), 5)],
    ['runs.archivable', (tx) => tx.runs.archivable({ after: undefined, before: at(9), limit: 5 })],
    ['runs.archive', (tx) => tx.runs.archive(['run1'], at(9))],
    ['runs.countByStatus', (tx) => tx.runs.countByStatus()],
    ['runs.renameRepository', (tx) => tx.runs.renameRepository(70, 'acme/comet')],
    ['approvals.ofInvocation', (tx) => tx.approvals.ofInvocation('run1-inv0')],
    ['approvals.ofRun', (tx) => tx.approvals.ofRun('run1')],
    [
      'approvals.answered',
      (tx) => tx.approvals.answered({ repositoryId: 70, pullRequest: 3, headSha: 'abc', baseRef: 'main' }),
    ],
    ['effects.mergesSent', (tx) => tx.effects.mergesSent(70, 3)],
    [
      'effects.withContent',
      (tx) => tx.effects.withContent(7, { since: at(0), until: at(9) }, () => undefined),
    ],
    ['effects.gatesToClose', (tx) => tx.effects.gatesToClose(7)],
    [
      'effects.request',
      (tx) => tx.effects.request({ id: 'e', key: 'k', effect: comment('x'), runId: null, at: at(0) }),
    ],
    ['effects.get', (tx) => tx.effects.get('k')],
    ['effects.getWithRun', (tx) => tx.effects.getWithRun('k')],
    ['effects.ofRun', (tx) => tx.effects.ofRun('run1', 3)],
    ['effects.list', (tx) => tx.effects.list({ limit: 5 })],
    ['effects.list by status', (tx) => tx.effects.list({ status: 'pending', limit: 5 })],
    ['effects.countByStatus', (tx) => tx.effects.countByStatus()],
    ['audit.lastConfiguration', (tx) => tx.audit.lastConfiguration(70, 'main')],
    ...PRUNED_KINDS.flatMap((kind): [string, (tx: Tx) => Promise<unknown>][] => [
      [`pruning.page of ${kind}`, (tx) => tx.pruning.page(kind, { after: null, before: at(9), limit: 5 })],
      [`pruning.remove of ${kind}`, (tx) => tx.pruning.remove(kind, [ID_OF[kind] ?? 'run1'], at(9))],
    ]),
    ['pruning.unknownPullRequests', (tx) => tx.pruning.unknownPullRequests(['run1'], at(9))],
    ['artifacts.ofRun', (tx) => tx.artifacts.ofRun('run1')],
    [
      'artifacts.ofRun',
      (tx) => tx.artifacts.ofRun('run1', { newest: 3, invocationId: 'run1-inv0', kind: 'log' }),
    ],
    ['artifacts.search', (tx) => tx.artifacts.search({ visible: Visible.only([70, 71]) })],
    [
      'artifacts.search for everything at once',
      (tx) =>
        tx.artifacts.search({
          visible: Visible.only([70]),
          repository: 'acme/rocket',
          kind: 'review_verdict',
          failed: true,
          verdict: 'REJECT',
          since: at(0),
          until: at(9),
          text: 'x',
          after: { createdAt: at(9), id: 'run1' },
        }),
    ],
    [
      'insight.ofRepositories',
      (tx) => tx.insight.ofRepositories({ visible: Visible.everything(), ids: [70, 71], since: at(0) }),
    ],
    ['insight.waitingIn', (tx) => tx.insight.waitingIn({ visible: Visible.everything(), ids: [70, 71] })],
    ['repositoryStates.put', (tx) => tx.repositoryStates.put(repositoryState(), at(0))],
    ['repositoryStates.remove of an installation', (tx) => tx.repositoryStates.remove({ installationId: 7 })],
    ['repositoryStates.remove of a repository', (tx) => tx.repositoryStates.remove({ repositoryId: 70 })],
    [
      'repositoryStates.list of an owner',
      (tx) =>
        tx.repositoryStates.list(
          { visible: Visible.everything(), owner: 'Acme' },
          { after: { repository: 'acme/a', repositoryId: 1 }, limit: 5 },
        ),
    ],
    [
      'repositoryStates.list of one',
      (tx) =>
        tx.repositoryStates.list({ visible: Visible.only([70]), repository: 'acme/Rocket' }, { limit: 5 }),
    ],
    ['artifacts.get', (tx) => tx.artifacts.get('art1')],
    ['artifacts.page', (tx) => tx.artifacts.page({ after: '', limit: 5 })],
    ['artifacts.page of old runs', (tx) => tx.artifacts.page({ after: 'a', limit: 5, runOverBefore: at(0) })],
    ['artifacts.remove', (tx) => tx.artifacts.remove(['art1', 'art2'])],
    ['pullRequests.get', (tx) => tx.pullRequests.get(70, 3)],
    ['appliedCommands.of', (tx) => tx.appliedCommands.of(70, 3)],
    [
      'acceptedFindings.ofHead',
      (tx) => tx.acceptedFindings.ofHead({ repositoryId: 70, pullRequest: 3, headSha: 'a' }),
    ],
    ['cursors.get', (tx) => tx.cursors.get('a')],
    ['missedDeliveries.get', (tx) => tx.missedDeliveries.get('g')],
    ['missedDeliveries.due', (tx) => tx.missedDeliveries.due(at(0), 5)],
    ['modelCalls.spent of a run', (tx) => tx.modelCalls.spent({ runId: 'run1' })],
    ['modelCalls.spent of a pull request', (tx) => tx.modelCalls.spent({ repositoryId: 70, pullRequest: 3 })],
    ['modelCalls.spent of a day', (tx) => tx.modelCalls.spent({ since: at(0) })],
    ['modelCalls.ofRun', (tx) => tx.modelCalls.ofRun('run1')],
    ['skills.keep', (tx) => tx.skills.keep(storedSkill('skl_1', { artifacts: [storedArtifact()] }))],
    ['skills.get', (tx) => tx.skills.get('skl_1')],
    ['skills.outlines', (tx) => tx.skills.outlines(['skl_1'])],
    ['skillCalls.get', (tx) => tx.skillCalls.get('ask_1')],
    ['skillCalls.ofComment', (tx) => tx.skillCalls.ofComment(900)],
    ['skillTraces.ofRun', (tx) => tx.skillTraces.ofRun('run1')],
    ['skillTraces.page', (tx) => tx.skillTraces.page({ after: 0, limit: 5 })],
    [
      'skillTraces.page of a skill',
      (tx) => tx.skillTraces.page({ after: 0, limit: 5, skill: 'naming', since: at(0) }),
    ],
    ['skillTraces.page of old runs', (tx) => tx.skillTraces.page({ after: 0, limit: 5, overBefore: at(0) })],
    ['skillTraces.remove', (tx) => tx.skillTraces.remove([1, 2])],
    ['jobs.ofKeys', (tx) => tx.jobs.ofKeys(['a', 'b'])],
    ['jobs.removeWaiting', (tx) => tx.jobs.removeWaiting('wake', 'a')],
    ['jobs.take', (tx) => tx.jobs.take(1, at(0), at(30), 't')],
    ['jobs.bringForward', (tx) => tx.jobs.bringForward('wake', 'a', at(0))],
    ['jobs.claim', (tx) => tx.jobs.claim(at(0), at(30), 't', 16)],
    ['jobs.extend', (tx) => tx.jobs.extend(1, 't', at(30))],
    ['jobs.complete', (tx) => tx.jobs.complete(1, 't')],
    ['jobs.retry', (tx) => tx.jobs.retry(1, 't', at(30), { attempts: 1, unavailableSince: at(1) })],
    ['jobs.leaseTokens', (tx) => tx.jobs.leaseTokens()],
    ['jobs.release', (tx) => tx.jobs.release('t')],
    ['jobs.nextDue', (tx) => tx.jobs.nextDue(at(0))],
    ['jobs.countDue', (tx) => tx.jobs.countDue(at(0))],
    ['jobs.ready', (tx) => tx.jobs.ready(at(0))],
  ];

  it.each(cases)('%s', async (_name, call) => {
    await call(tables);
    expect(queries).not.toEqual([]);
    const scans = queries.flatMap(({ sql, parameters }) => {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
      return (
        plan
          .map(({ detail }) => detail)
          // `json_each` goes through a parameter, which is no table.
          .filter((line) => /^SCAN (?!CONSTANT ROW|some$|found$|json_each |.*USING)/.test(line))
      );
    });
    expect(scans).toEqual([]);
  });

  it('the open pull requests of a head are found by the head, not among all of the repository', async () => {
    await tables.pullRequests.openWithHead(1, 'abc');
    const [found] = queries;
    const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${found?.sql}`);
    expect(plan.all(...(found?.parameters ?? [])).map(({ detail }) => detail)).toEqual([
      'SEARCH pull_requests USING INDEX pull_requests_by_head (repository_id=? AND head_sha=?)',
      'USE TEMP B-TREE FOR ORDER BY',
    ]);
  });

  it('the unfinished runs of a repository have an index of their own', async () => {
    await tables.runs.list({ repositoryId: 70, active: true });
    await tables.runs.list({ repositoryId: 70, chain: 'nightly', active: true, limit: 5 });
    const plans = queries.flatMap(({ sql, parameters }) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]).map(
        ({ detail }) => detail,
      ),
    );
    const byIndex = 'SEARCH chain_runs USING INDEX chain_runs_unfinished (repository_id=?)';
    expect(plans).toEqual([byIndex, byIndex]);
  });

  it('the newest runs of a repository come in the order of an index, and those of a pull request by its number', async () => {
    await tables.runs.list({ repository: 'a/b', limit: 5 });
    await tables.runs.list({ repository: 'a/b', pullRequest: 3, limit: 5 });
    const plans = queries.map(({ sql, parameters }) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[]).map(
        ({ detail }) => detail,
      ),
    );
    expect(plans).toEqual([
      ['SEARCH chain_runs USING INDEX chain_runs_of_repository (repository=?)'],
      [
        'SEARCH chain_runs USING INDEX chain_runs_by_repository_name (repository=? AND pull_request=?)',
        'USE TEMP B-TREE FOR ORDER BY',
      ],
    ]);
  });
});
