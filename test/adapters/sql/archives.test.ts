import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { playRound } from '../../../bench/pull-request/round.ts';
import { ARCHIVE_DICTIONARY } from '../../../src/adapters/sql/archive-dictionary.ts';
import { packRows, unpackRows } from '../../../src/adapters/sql/archives.ts';
import type { Run } from '../../../src/domain/run/run.ts';
import type { PrunedKind } from '../../../src/ports/retention.ts';
import type { ReadTx } from '../../../src/ports/storage.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';
import { type Harness, REPO, startHarness } from '../../support/harness.ts';

const EMPTY = { invocations: [], sessions: [], artifacts: [], approvals: [], effects: [], transitions: [] };
const TABLES = Object.keys(EMPTY);

describe('the archive of a run that is over', () => {
  let harness: Harness;
  let database: BetterSqlite3.Database;
  let runId: string;

  beforeEach(async () => {
    harness = await startHarness();
    database = new BetterSqlite3(harness.config.databaseUrl.slice('sqlite:'.length));
    await playRound(harness, 'feature');
    await harness.settle();
    runId = (await harness.app.storage.read.runs.list({}))[0]?.id ?? '';
  });
  afterEach(async () => {
    database.close();
    await harness.stop();
  });

  const inAnHour = () => new Date(harness.clock.now().getTime() + 3_600_000);
  const archive = () => harness.app.storage.transaction((tx) => tx.runs.archive([runId], inAnHour()));
  const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  const stored = () =>
    Object.fromEntries(
      TABLES.map((table) => {
        // Transitions get new numbers.
        const rows = database
          .prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY id`)
          .all();
        return [table, table === 'transitions' ? rows.map((row) => ({ ...row, id: 0 })) : rows];
      }),
    );

  /** Everything that the tables can be asked about the run. */
  async function answers(read: ReadTx): Promise<Record<string, unknown>> {
    const run = await read.runs.get(runId);
    if (!run) throw new Error('the run is gone');
    const { repositoryId, headSha, baseRef } = run;
    const pullRequest = run.pullRequest ?? 0;
    const sessions = await read.runs.sessionsOf(runId);
    const effects = await read.effects.ofRun(runId);
    const artifacts = await read.artifacts.ofRun(runId);
    const each = <T, R>(items: readonly T[], ask: (item: T) => Promise<R>) => Promise.all(items.map(ask));
    return {
      run,
      state: await read.runs.load(runId),
      listed: await read.runs.list({ pullRequest, repositoryId }),
      current: await read.runs.current({ repositoryId, headSha }),
      sessions,
      bySession: await each(sessions, ({ id }) => read.runs.getSession(id)),
      history: await read.runs.historyOf(runId),
      approvals: await read.approvals.ofRun(runId),
      answered: await read.approvals.answered({ repositoryId, headSha, baseRef }),
      answeredThere: await read.approvals.answered({ repositoryId, pullRequest, headSha, baseRef }),
      effects,
      byKey: await each(effects, ({ key }) => read.effects.get(key)),
      byKeyWithRun: await each(effects, ({ key }) => read.effects.getWithRun(key)),
      merges: await read.effects.mergesSent(repositoryId, pullRequest),
      artifacts,
      byArtifact: await each(artifacts, ({ id }) => read.artifacts.get(id)),
      page: await read.artifacts.page({ after: '', limit: 100 }),
      oldPage: await read.artifacts.page({ after: '', limit: 100, runOverBefore: inAnHour() }),
      newPage: await read.artifacts.page({ after: '', limit: 100, runOverBefore: new Date(0) }),
      modelCalls: await read.modelCalls.ofRun(runId),
      counts: [await read.runs.countByStatus(), await read.effects.countByStatus()],
    };
  }

  it('gives the same answers as its rows', { tags: 'slow' }, async () => {
    const { read } = harness.app.storage;
    const before = await answers(read);
    await archive();
    expect(TABLES.map(count)).toEqual(TABLES.map(() => 0));
    expect(await answers(read)).toEqual(before);
  });

  it('gives the newest of its sessions, effects and artifacts, of one step and kind, as its rows do', {
    tags: 'slow',
  }, async () => {
    const { runs, effects, artifacts } = harness.app.storage.read;
    const [all, written, left] = [
      await runs.sessionsOf(runId),
      await effects.ofRun(runId),
      await artifacts.ofRun(runId),
    ];
    const { invocationId = '', kind = '' } = left.at(-1) ?? {};
    const ofStep = left.filter((one) => one.invocationId === invocationId);
    for (const place of ['rows', 'archive']) {
      expect([place, await runs.sessionsOf(runId, { newest: 2 })]).toEqual([place, all.slice(-2)]);
      expect([place, await runs.sessionsOf(runId, { newest: 9, invocationId })]).toEqual([
        place,
        all.filter((one) => one.invocationId === invocationId),
      ]);
      expect([place, await effects.ofRun(runId, 1)]).toEqual([place, written.slice(-1)]);
      expect([place, await artifacts.ofRun(runId, { newest: 1, invocationId })]).toEqual([
        place,
        ofStep.slice(-1),
      ]);
      expect([place, await artifacts.ofRun(runId, { newest: 9, invocationId, kind })]).toEqual([
        place,
        ofStep.filter((one) => one.kind === kind),
      ]);
      await archive();
    }
    expect(written.length).toBeGreaterThan(1);
  });

  it('is followed by itself when artifacts are read page by page', { tags: 'slow' }, async () => {
    await archive();
    const { artifacts } = harness.app.storage.read;
    const page = await artifacts.page({ after: '', limit: 1 });
    expect(page.length).toBeGreaterThan(1);
    expect(await artifacts.page({ after: page.at(-1)?.id ?? '', limit: 1 })).toEqual([]);
  });

  const touches: [string, (tx: ReadTx) => Promise<unknown>][] = [
    ['loads the run', (tx) => tx.runs.load(runId)],
    ['reads its history', (tx) => tx.runs.historyOf(runId)],
    ['reads its questions', (tx) => tx.approvals.ofRun(runId)],
    ['reads its effects', (tx) => tx.effects.ofRun(runId)],
    ['reads an effect', (tx) => tx.effects.get(`check_run:${runId}`)],
    ['reads its artifacts', (tx) => tx.artifacts.ofRun(runId)],
  ];
  eachFirstQuick(touches)('is rows again, as they were, in a transaction that %s', async (_, touch) => {
    const plain = stored();
    const before = await answers(harness.app.storage.read);
    await archive();
    const found = await harness.app.storage.transaction(async (tx) => [await touch(tx), await answers(tx)]);
    expect(found[0]).toBeTruthy();
    expect(found[1]).toEqual(before);
    expect(stored()).toEqual(plain);
    expect([count('run_archives'), count('archived_keys')]).toEqual([0, 0]);
    expect(database.pragma('foreign_key_check')).toEqual([]);
    expect(await answers(harness.app.storage.read)).toEqual(before);
  });

  it('is read as a whole, at whichever moment of a read it is made, or is rows again', {
    tags: 'slow',
  }, async () => {
    const { storage } = harness.app;
    const { repositoryId, headSha, baseRef } = (await storage.read.runs.get(runId)) as Run;
    const [session] = await storage.read.runs.sessionsOf(runId);
    const [effect] = await storage.read.effects.ofRun(runId);
    const reads: Record<string, (read: ReadTx) => Promise<unknown>> = {
      run: ({ runs }) => runs.load(runId),
      session: ({ runs }) => runs.getSession(session?.id ?? ''),
      history: ({ runs }) => runs.historyOf(runId),
      answered: ({ approvals }) => approvals.answered({ repositoryId, headSha, baseRef }),
      effects: ({ effects }) => effects.ofRun(runId),
      effect: ({ effects }) => effects.get(effect?.key ?? ''),
      merges: ({ effects }) => effects.mergesSent(repositoryId, 1),
      artifacts: ({ artifacts }) => artifacts.ofRun(runId),
    };
    const divided: string[] = [];
    for (const [name, read] of Object.entries(reads)) {
      const whole = await read(storage.read);
      for (let later = 0; later < 80; later++) {
        const reached = Promise.withResolvers<void>();
        const commit = Promise.withResolvers<void>();
        const moved = storage.transaction(async (tx) => {
          await (later % 2 === 0 ? tx.runs.archive([runId], inAnHour()) : tx.runs.load(runId));
          reached.resolve();
          await commit.promise;
        });
        await reached.promise;
        commit.resolve();
        // The commit comes some steps after this, and the read begins earlier and earlier before it, or behind it.
        for (let step = 0; step < later / 2; step++) await undefined;
        if (!isDeepStrictEqual(await read(storage.read), whole)) divided.push(name);
        await moved;
      }
    }
    expect(divided).toEqual([]);
  });

  it('stays one in a transaction that only asks whether and how its pull request was merged', {
    tags: 'slow',
  }, async () => {
    const { storage } = harness.app;
    const { merges, answered, run } = await answers(storage.read);
    await archive();
    const { repositoryId, headSha, baseRef } = run as Run;
    const found = await storage.transaction(async ({ effects, approvals }) => ({
      merges: await effects.mergesSent(repositoryId, 1),
      answered: await approvals.answered({ repositoryId, headSha, baseRef }),
    }));
    expect(found).toEqual({ merges, answered });
    expect(found.merges.length + found.answered.length).toBe(2);
    expect(count('run_archives')).toBe(1);
  });

  it('keeps an effect from being requested twice', { tags: 'slow' }, async () => {
    const { storage } = harness.app;
    const [known] = await storage.read.effects.ofRun(runId);
    if (!known) throw new Error('the run has no effect');
    await archive();
    const { key, effect } = known;
    const again = { id: 'eff_new', key, effect, runId, at: harness.clock.now() };
    expect(await storage.transaction((tx) => tx.effects.request(again))).toBe(false);
    expect(await storage.read.effects.get(key)).toEqual(known);
  });

  it('saves the progress of an effect that was read before', { tags: 'slow' }, async () => {
    const { storage } = harness.app;
    const [known] = await storage.read.effects.ofRun(runId);
    if (!known) throw new Error('the run has no effect');
    await archive();
    await storage.transaction((tx) => tx.effects.saveProgress({ ...known, attempts: 7 }));
    expect((await storage.read.effects.get(known.key))?.attempts).toBe(7);
  });

  it('is made by the hourly job, and again when a transaction has touched the run', {
    tags: 'slow',
  }, async () => {
    await harness.sleep(7_200_000);
    await harness.settle();
    expect([count('run_archives'), count('effects')]).toEqual([1, 0]);
    await harness.app.storage.transaction((tx) => tx.runs.load(runId));
    expect(count('run_archives')).toBe(0);
    await harness.sleep(7_200_000);
    await harness.settle();
    expect([count('run_archives'), count('effects')]).toEqual([1, 0]);
  });

  it('is not made of a run whose pull request is open, or that has just ended', {
    tags: 'slow',
  }, async () => {
    database.exec(`UPDATE pull_requests SET state = 'open'`);
    await archive();
    database.exec(`UPDATE pull_requests SET state = 'merged'`);
    await harness.app.storage.transaction((tx) => tx.runs.archive([runId], new Date(0)));
    expect(count('run_archives')).toBe(0);
  });

  it('leaves the answers to a question where they are, unless the pull request was merged', {
    tags: 'slow',
  }, async () => {
    database.exec(`UPDATE pull_requests SET state = 'closed'`);
    const before = await answers(harness.app.storage.read);
    await archive();
    expect([count('run_archives'), count('approvals'), count('effects')]).toEqual([1, 1, 0]);
    expect(await answers(harness.app.storage.read)).toEqual(before);
  });

  it('leaves sessions where they are that calls to models refer to', { tags: 'slow' }, async () => {
    database.exec(
      `INSERT INTO model_calls (run_id, session_id, model, tokens, started_at)
        SELECT '${runId}', id, 'a/b', 1, started_at FROM sessions`,
    );
    const before = await answers(harness.app.storage.read);
    await archive();
    expect([count('run_archives'), count('sessions'), count('transitions')]).toEqual([1, 3, 0]);
    expect(await answers(harness.app.storage.read)).toEqual(before);
  });

  it('is deleted with its run, and its effects are counted no more', { tags: 'slow' }, async () => {
    await archive();
    const { storage } = harness.app;
    const remove = (kind: PrunedKind, ids: string[]) =>
      storage.transaction((tx) => tx.pruning.remove(kind, ids, inAnHour()));
    expect(await remove('runs', [runId])).toBe(1);
    expect([count('run_archives'), count('archived_keys'), count('transitions')]).toEqual([0, 0, 0]);
    // Those of the pull request and of its head.
    expect(await storage.read.effects.countByStatus()).toMatchObject({ done: 2 });
    expect(count('effects')).toBe(2);
  });

  it('gives its artifacts to retention', { tags: 'slow' }, async () => {
    await archive();
    const { storage } = harness.app;
    const page = await storage.read.pruning.page('archives', { after: null, before: inAnHour(), limit: 9 });
    expect(page).toEqual({ ids: [runId], next: null });
    const artifacts = await storage.read.artifacts.ofRun(runId);
    const ids = artifacts.map(({ id }) => id);
    await storage.transaction(async (tx) => {
      await tx.pruning.remove('archives', page.ids, inAnHour());
      await tx.pruning.remove('artifacts', ids, inAnHour());
    });
    expect(await storage.read.artifacts.ofRun(runId)).toEqual([]);
    await archive();
    const none = await storage.read.pruning.page('archives', { after: null, before: inAnHour(), limit: 9 });
    expect([none, count('run_archives')]).toEqual([{ ids: [], next: null }, 1]);
  });

  it('names itself if it is damaged, and stops neither other runs nor retention', {
    tags: 'slow',
  }, async () => {
    await archive();
    database.exec('UPDATE run_archives SET content = substr(content, 1, 300)');
    await expect(harness.app.storage.read.runs.load(runId)).rejects.toThrow(
      'The row 1 of the table run_archives',
    );
    await playRound(harness, 'another');
    expect(harness.github.pullRequest(REPO, 2).merged).toBe(true);
    const { storage } = harness.app;
    expect(await storage.transaction((tx) => tx.pruning.remove('runs', [runId], inAnHour()))).toBe(1);
    expect(await storage.read.runs.get(runId)).toBeUndefined();
  });
});

describe('the content of an archive', () => {
  it('that an earlier version wrote is read', () => {
    expect(
      unpackRows(
        Buffer.from(
          'ASi1L/1kOwBFAwD0AnJ1bl8xa2pwd2Vybmo0N215ZHZzdmYxd3Z0azdmCntydTE3Njc2MTQ0MH0iXX19EYCww9r1N6GEwgX5DsfakPOq4FGZqTD3/rJxbe7651zDPycagOBMn4N91G5fqd3sqrKvV7uaAo0KaPo=',
          'base64',
        ),
      ),
    ).toEqual({
      ...EMPTY,
      transitions: [
        {
          id: 0,
          subject_kind: 'run',
          subject_id: 'run_1kjpwernj47mydvsvf1wvtk7f',
          from_status: 'running',
          to_status: 'completed',
          reason_code: 'run.completed',
          at: '2026-01-05T12:00:00.000Z',
          actor_json: '{"kind":"app"}',
        },
      ],
    });
    expect(createHash('sha256').update(ARCHIVE_DICTIONARY).digest('hex')).toBe(
      '3eb3e5f9f0aca992c1774149fa694413ea21106cbb72c612567d476e42a016d9',
    );
  });

  it('of a later version is refused', () => {
    const content = packRows(EMPTY);
    content[0] = 2;
    expect(() => unpackRows(content)).toThrow('a later version');
  });
});
