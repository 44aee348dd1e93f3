import { describe, expect, it } from 'vitest';
import { verify } from '../../src/domain/artifact/verification.ts';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import type { Actor } from '../../src/domain/run/actor.ts';
import type { Run, RunState } from '../../src/domain/run/run.ts';
import { Visible } from '../../src/ports/visible.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import {
  approval,
  at,
  comment,
  completed,
  delivery,
  merged,
  run,
  runState,
  session,
} from '../support/rows.ts';

const byApp: Actor = { kind: 'app' };

/** Runs with their invocations, sessions, approvals and artifacts, and pull requests. */
export function runsContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  describe('runs', () => {
    const save = (state: RunState, by: Actor = byApp) =>
      db.storage.transaction((tx) => tx.runs.save(state, by));

    it('are read as they were inserted', async () => {
      const state = runState('run1');
      await db.storage.transaction((tx) => tx.runs.insert(state));
      expect(await db.storage.read.runs.load('run1')).toEqual(state);
      expect(await db.storage.read.runs.load('run2')).toBeUndefined();
    });

    it('that represent a pull request or a head are those not over and the newest of each chain', async () => {
      await db.storage.transaction(async (tx) => {
        const rows: Partial<Run>[] = [
          { id: 'old', status: 'completed' },
          { id: 'waits', status: 'waiting_ci' },
          { id: 'newest', status: 'failed' },
          { id: 'alone', status: 'cancelled', chain: 'ship', headSha: 'f'.repeat(40) },
          { id: 'elsewhere', pullRequest: 4 },
          { id: 'outside', repositoryId: 71 },
        ];
        for (const [second, row] of rows.entries()) {
          await tx.runs.insert(runState(row.id ?? '', { ...row, createdAt: at(second) }));
        }
      });
      const ids = async (of: Parameters<typeof db.storage.read.runs.current>[0]) =>
        (await db.storage.read.runs.current(of)).map(({ id }) => id);
      expect(await ids({ repositoryId: 70, pullRequest: 3 })).toEqual(['alone', 'newest', 'waits']);
      expect(await ids({ repositoryId: 70, headSha: 'a'.repeat(40) })).toEqual([
        'elsewhere',
        'newest',
        'waits',
      ]);
      expect(await ids({ repositoryId: 72, pullRequest: 3 })).toEqual([]);
    });

    it('are read as they were saved, invocations by step', async () => {
      await db.storage.transaction(async (tx) => {
        const [delivered] = await tx.deliveries.record([delivery('g1')]);
        const inserted = runState('run1', { pullRequest: null, deliveryId: delivered?.id ?? null });
        await tx.runs.insert({ ...inserted, invocations: inserted.invocations.toReversed() });
      });
      const state = await db.storage.read.runs.load('run1');
      if (!state) throw new Error('the run is not there');
      const [review, merge] = state.invocations;
      if (!review || !merge) throw new Error('the invocations are not there');
      expect([review.stepIndex, merge.stepIndex]).toEqual([0, 1]);
      Object.assign(state.run, { status: 'waiting_until', paused: true, updatedAt: at(3) });
      Object.assign(review, {
        status: 'completed',
        reason: completed,
        attempts: 1,
        sessionId: 'ses1',
        outcome: merged,
        outcomeArtifactId: 'art1',
        startedAt: at(1),
        finishedAt: at(2),
      });
      Object.assign(merge, { status: 'waiting_until', waitUntil: at(60), deadlineAt: at(90) });
      await db.storage.transaction(async (tx) => {
        await tx.runs.save(state, byApp);
        await tx.runs.insertSession(session('ses1', review.id));
        await tx.artifacts.insert({
          id: 'art1',
          runId: 'run1',
          invocationId: review.id,
          sessionId: 'ses1',
          createdAt: at(2),
          kind: 'action_result',
          name: 'outcome',
          content: '{}',
          filePath: null,
        });
      });
      expect(await db.storage.read.runs.load('run1')).toEqual(state);
    });

    it('know what their steps’ sessions left behind, verified against the contract of each', async () => {
      const state = runState('run1');
      const entry = { kind: 'file', id: 'log', path: 'a.log', required: true, source: 'step' } as const;
      const contract = { expected: [entry] };
      const verification = verify(contract, [], [], at(3));
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(state);
        const begun = session('ses1', 'run1-inv0', { contract });
        await tx.runs.insertSession(begun);
        Object.assign(state.invocations[0] ?? {}, { sessionId: 'ses1' });
        await tx.runs.save(state, byApp);
        await tx.runs.saveSession({ ...begun, contract: null, verification }, byApp);
      });
      expect((await db.storage.read.runs.load('run1'))?.invocations.map((step) => step.verification)).toEqual(
        [verification, null],
      );
      expect(await db.storage.read.runs.sessionsOf('run1')).toMatchObject([{ contract, verification }]);
    });

    it('that ended are packed once, read as before, and are packed again after they continued', async () => {
      const long = (text: string) => text.repeat(50);
      const state = runState('run1', { status: 'completed', reason: completed, finishedAt: at(9) });
      const [review] = state.invocations;
      if (!review) throw new Error('a run has steps');
      Object.assign(review, { sessionId: 'ses1', outcome: { ...merged, summary: long('Merged. ') } });
      const effect = (key: string) => ({
        id: key,
        key,
        effect: comment(long(key)),
        runId: 'run1',
        at: at(8),
      });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(state);
        await tx.runs.insert(runState('open', { headSha: 'e'.repeat(40) }));
        await tx.runs.insertSession(session('ses1', review.id, { reason: completed }));
        await tx.approvals.insert(
          approval('apr1', 'run1', { status: 'void', decision: criterion('met', long('yes ')) }),
        );
        await tx.artifacts.insert({
          id: 'art1',
          runId: 'run1',
          invocationId: review.id,
          sessionId: 'ses1',
          createdAt: at(2),
          kind: 'action_result',
          name: 'outcome',
          content: JSON.stringify({ summary: long('Merged. ') }),
          filePath: null,
        });
        for (const key of ['done', 'pending']) await tx.effects.request(effect(key));
      });
      const done = await db.storage.read.effects.get('done');
      if (!done) throw new Error('the effect is not there');
      const carriedOut = { ...done, status: 'done' as const, appliedHash: done.desiredHash };
      await db.storage.transaction((tx) => tx.effects.saveProgress(carriedOut));

      const { read } = db.storage;
      const everything = async () => [
        await read.runs.load('run1'),
        await read.runs.sessionsOf('run1'),
        await read.approvals.ofRun('run1'),
        await read.artifacts.ofRun('run1'),
        await read.effects.ofRun('run1'),
        await read.operations.effects({ status: 'done', limit: 10 }),
        await read.operations.effects({ status: 'pending', limit: 10 }),
      ];
      const pack = (second: number) => db.storage.transaction((tx) => tx.runs.packEnded(at(second), 5));
      const before = await everything();
      expect(await pack(9)).toBe(0);
      expect([await pack(10), await pack(10)]).toEqual([1, 0]);
      expect(await everything()).toEqual(before);

      // What is packed is compared with what is desired as before.
      expect(await db.storage.transaction((tx) => tx.effects.request(effect('done')))).toBe(false);
      await db.storage.transaction(async (tx) => tx.runs.save(state, byApp));
      expect(await everything()).toEqual(before);
      expect([await pack(10), await pack(10)]).toEqual([1, 0]);
      expect(await everything()).toEqual(before);
    });

    it('cannot refer to a session that does not exist', async () => {
      const state = runState('run1');
      Object.assign(state.invocations[0] ?? {}, { sessionId: 'ses9' });
      await expect(db.storage.transaction((tx) => tx.runs.insert(state))).rejects.toThrow();
      expect(await db.storage.read.runs.load('run1')).toBeUndefined();
    });

    it('show the rules of their open questions, whatever the texts of their chains contain', async () => {
      // PostgreSQL reads no JSON with the first two, and the others only look like them.
      for (const [index, text] of ['a\0b', 'a\ud83db', 'a\\u0000b', '😀'].entries()) {
        const id = `run${index}`;
        const { definition } = run(id);
        const steps = definition.steps.map((step) => ({
          ...step,
          with: { title: text },
          approval: { question: `Is ${index} right?` },
        }));
        const settings = { countersign: { count: index }, note: text } as unknown as Run['settings'];
        await db.storage.transaction(async (tx) => {
          await tx.runs.insert(
            runState(id, { status: 'waiting_approval', definition: { ...definition, steps }, settings }),
          );
          await tx.approvals.insert(approval(`apr${index}`, id));
        });
      }
      const found = await db.storage.read.overview.active(
        { visible: Visible.everything() },
        { after: undefined, limit: 10, asking: true },
      );
      expect(found.map(({ question }) => question?.rules.count)).toEqual([0, 1, 2, 3]);
      expect(found.map(({ question }) => question?.approval?.question)).toEqual(
        [0, 1, 2, 3].map((index) => `Is ${index} right?`),
      );
    });

    it('keep answers when a poll saves its result, and the result when somebody answers', async () => {
      const answers = [
        { person: { id: 7, login: 'mira' }, says: 'approve' as const, at: at(6).toISOString() },
        { person: { id: 8, login: 'ole' }, says: 'reject' as const, at: at(7).toISOString() },
      ];
      const looked = approval('apr1', 'run1', { lookedAt: at(7), countersignedBy: ['mira'] });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.approvals.insert(approval('apr1', 'run1'));
        await tx.approvals.saveAnswers({ id: 'apr1', answers });
        await tx.approvals.save(looked);
      });
      expect(await db.storage.read.approvals.ofRun('run1')).toEqual([{ ...looked, answers }]);
      await db.storage.transaction((tx) => tx.approvals.saveAnswers({ id: 'apr1', answers: [] }));
      expect(await db.storage.read.approvals.ofRun('run1')).toEqual([looked]);
    });

    it('keep whom they notified when a poll saves its result', async () => {
      const notices = { sent: ['mention'], people: ['mira'], webhooks: [], problems: [] };
      const looked = approval('apr1', 'run1', { lookedAt: at(7) });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.approvals.insert(approval('apr1', 'run1'));
        await tx.approvals.saveNotices('apr1', notices);
        await tx.approvals.save(looked);
      });
      expect(await db.storage.read.approvals.ofRun('run1')).toEqual([{ ...looked, notices }]);
      const unknown = db.storage.transaction((tx) => tx.approvals.saveNotices('apr2', notices));
      await expect(unknown).rejects.toMatchObject({ code: 'storage.no_such_row' });
    });

    it('that do not exist cannot be saved or answered', async () => {
      await expect(save(runState('run1'))).rejects.toMatchObject({ code: 'storage.no_such_row' });
    });

    it('add a line of history with its actor for each changed status, and none for others', async () => {
      const state = runState('run1');
      const [review] = state.invocations;
      if (!review) throw new Error('the run has no steps');
      await db.storage.transaction((tx) => tx.runs.insert(state));
      db.clock.moveTo(at(10));
      Object.assign(review, { status: 'running' });
      await save(state, { kind: 'event', event: 'pr.opened', delivery: 12 });
      db.clock.moveTo(at(20));
      Object.assign(review, { status: 'completed', reason: completed });
      Object.assign(state.run, { status: 'waiting_ci' });
      await save(state, { kind: 'session', id: 'ses1' });
      await save(state, { kind: 'time' });
      const step = { kind: 'invocation', id: 'run1-inv0' };
      const bySession = { by: { kind: 'session', id: 'ses1' }, at: at(20) };
      expect(await db.storage.read.runs.historyOf('run1')).toEqual([
        {
          subject: step,
          from: 'pending',
          to: 'running',
          reason: null,
          by: { kind: 'event', event: 'pr.opened', delivery: 12 },
          at: at(10),
        },
        {
          subject: { kind: 'run', id: 'run1' },
          from: 'running',
          to: 'waiting_ci',
          reason: null,
          ...bySession,
        },
        { subject: step, from: 'running', to: 'completed', reason: 'step.completed', ...bySession },
      ]);
    });

    it.each<Actor>([
      { kind: 'person', login: 'mira' },
      { kind: 'event', event: 'ci.changed', delivery: null },
      { kind: 'session', id: 'ses1' },
      { kind: 'time' },
      { kind: 'operator' },
      { kind: 'app' },
    ])('keep the actor in their history: %j', async (actor) => {
      const state = runState('run1');
      await db.storage.transaction((tx) => tx.runs.insert(state));
      await save({ ...state, run: { ...state.run, status: 'waiting_until' } }, actor);
      const history = await db.storage.read.runs.historyOf('run1');
      expect(history.map(({ by }) => by)).toEqual([actor]);
    });

    it('have a history with their sessions in it, in order, and nothing of other runs', async () => {
      await db.storage.transaction(async (tx) => {
        for (const id of ['run1', 'run2']) {
          const state = runState(id);
          await tx.runs.insert(state);
          const begun = session(`ses-${id}`, `${id}-inv1`);
          await tx.runs.insertSession(begun);
          await tx.runs.saveSession({ ...begun, status: 'waiting' }, { kind: 'time' });
          Object.assign(state.run, { status: 'waiting_ci' });
          await tx.runs.save(state, { kind: 'time' });
          await tx.runs.saveSession({ ...begun, status: 'completed', reason: completed }, { kind: 'time' });
        }
      });
      const history = await db.storage.read.runs.historyOf('run1');
      expect(history.map(({ subject, to }) => `${subject.id} ${to}`)).toEqual([
        'ses-run1 waiting',
        'run1 waiting_ci',
        'ses-run1 completed',
      ]);
      expect(await db.storage.read.runs.historyOf('run3')).toEqual([]);
    });

    it.each([
      [{}, ['r4', 'r3', 'r2', 'r1']],
      [{ limit: 2 }, ['r4', 'r3']],
      [{ repository: 'acme/rocket' }, ['r4', 'r2', 'r1']],
      [{ repositoryId: 71 }, ['r3']],
      [{ repositoryId: 70, pullRequest: 3 }, ['r2', 'r1']],
      [{ repository: 'acme/rocket', pullRequest: 4 }, ['r4']],
      [{ headSha: 'f'.repeat(40) }, ['r2']],
      [{ chain: 'nightly' }, ['r4']],
      [{ status: 'completed' as const }, ['r1']],
      [{ active: true }, ['r4', 'r3', 'r2']],
      [{ active: false }, ['r1']],
      [{ active: true, repositoryId: 70, pullRequest: 3 }, ['r2']],
    ])('are found by %j, newest first', async (filter, ids) => {
      await db.storage.transaction(async (tx) => {
        const insert = (id: string, over: Parameters<typeof run>[1]) =>
          tx.runs.insert({ run: run(id, over), invocations: [] });
        await insert('r1', { status: 'completed', createdAt: at(1), finishedAt: at(9) });
        await insert('r2', { headSha: 'f'.repeat(40), createdAt: at(2) });
        await insert('r3', { repositoryId: 71, repository: 'acme/moon', createdAt: at(3) });
        await insert('r4', {
          pullRequest: 4,
          chain: 'nightly',
          status: 'waiting_approval',
          createdAt: at(4),
        });
      });
      expect((await db.storage.read.runs.list(filter)).map(({ id }) => id)).toEqual(ids);
    });

    it('follow a rename of only their own repository', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.runs.insert(runState('run2', { repositoryId: 71, repository: 'acme/moon' }));
        await tx.pullRequests.upsert(pullRequest());
        await tx.runs.renameRepository(70, 'acme/comet');
      });
      const names = await db.storage.read.runs.list({});
      expect(names.map(({ repository }) => repository)).toEqual(['acme/moon', 'acme/comet']);
      expect((await db.storage.read.pullRequests.get(70, 3))?.repository).toBe('acme/comet');
    });
  });

  describe('sessions', () => {
    it('are found with their invocation and run', async () => {
      const state = runState('run1');
      const first = session('ses1', 'run1-inv0');
      const second = session('ses2', 'run1-inv0', { attempt: 2, startedAt: at(2) });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(state);
        await tx.runs.insert(runState('run2'));
        await tx.runs.insertSession(second);
        await tx.runs.insertSession(first);
        await tx.runs.insertSession(session('ses3', 'run2-inv0'));
      });
      expect(await db.storage.read.runs.getSession('ses1')).toEqual({
        session: first,
        invocation: state.invocations[0],
        state,
      });
      expect(await db.storage.read.runs.getSession('ses9')).toBeUndefined();
      expect(await db.storage.read.runs.sessionsOf('run1')).toEqual([first, second]);
    });

    it('are saved with a line of history', async () => {
      const over = session('ses1', 'run1-inv0', {
        status: 'completed',
        reason: completed,
        finishedAt: at(8),
      });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.runs.insertSession(session('ses1', 'run1-inv0'));
        await tx.runs.saveSession(over, byApp);
        await tx.runs.saveSession(over, byApp);
      });
      expect(await db.storage.read.runs.sessionsOf('run1')).toEqual([over]);
      expect(await db.storage.read.runs.historyOf('run1')).toEqual([
        {
          subject: { kind: 'session', id: 'ses1' },
          from: 'running',
          to: 'completed',
          reason: 'step.completed',
          by: byApp,
          at: at(0),
        },
      ]);
    });
  });

  describe('accepted findings', () => {
    const accepted = {
      repositoryId: 70,
      pullRequest: 3,
      headSha: 'a'.repeat(40),
      finding: 'f1',
      rule: 'sql/drop-column',
      severity: 'high',
      by: { id: 10, login: 'mia' },
      because: 'intended',
      at: at(0),
    } as const;

    it('are those of one head, and the last person who accepted one counts', async () => {
      const other = { ...accepted, by: { id: 11, login: 'max' }, because: 'still intended', at: at(1) };
      const second = { ...accepted, finding: 'f2', severity: 'low' } as const;
      await db.storage.transaction(async (tx) => {
        await tx.acceptedFindings.put(second);
        await tx.acceptedFindings.put(accepted);
        await tx.acceptedFindings.put(other);
        await tx.acceptedFindings.put({ ...accepted, headSha: 'f'.repeat(40) });
        await tx.acceptedFindings.put({ ...accepted, pullRequest: 4 });
      });
      const { ofHead } = db.storage.read.acceptedFindings;
      expect(await ofHead({ repositoryId: 70, pullRequest: 3, headSha: 'a'.repeat(40) })).toEqual([
        other,
        second,
      ]);
      expect(await ofHead({ repositoryId: 71, pullRequest: 3, headSha: 'a'.repeat(40) })).toEqual([]);
    });

    it('are removed one by one, for all heads of their pull request', async () => {
      const of = { repositoryId: 70, pullRequest: 3 };
      const earlier = { ...accepted, headSha: 'f'.repeat(40) };
      const others = [
        { ...accepted, finding: 'f2' },
        { ...accepted, pullRequest: 4 },
        { ...accepted, repositoryId: 71 },
      ];
      await db.storage.transaction(async (tx) => {
        for (const one of [accepted, earlier, ...others]) await tx.acceptedFindings.put(one);
        await tx.acceptedFindings.remove(of, 'f1');
      });
      const { ofHead } = db.storage.read.acceptedFindings;
      expect((await Promise.all([accepted, earlier, ...others.slice(1)].map(ofHead))).flat()).toEqual(others);
    });

    it('are counted by rule and person, beside how often reviews found the rule', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.acceptedFindings.put(accepted);
        await tx.acceptedFindings.put({ ...accepted, pullRequest: 4, at: at(5) });
        await tx.acceptedFindings.put({ ...accepted, repositoryId: 71, by: { id: 11, login: 'max' } });
        await tx.acceptedFindings.countFound(
          { repositoryId: 70, pullRequest: 3 },
          new Map([['sql/drop-column', 2]]),
          at(1),
        );
        await tx.acceptedFindings.countFound(
          { repositoryId: 70, pullRequest: 4 },
          new Map([
            ['sql/drop-column', 3],
            ['a/b', 1],
          ]),
          at(2),
        );
        await tx.acceptedFindings.countFound(
          { repositoryId: 71, pullRequest: 3 },
          new Map([['sql/drop-column', 1]]),
          at(0),
        );
      });
      const { acceptedFindings } = db.storage.read;
      expect(await acceptedFindings.byRule(undefined)).toEqual([
        { rule: 'sql/drop-column', login: 'mia', count: 2, first: at(0) },
        { rule: 'sql/drop-column', login: 'max', count: 1, first: at(0) },
      ]);
      expect(await acceptedFindings.byRule(71)).toHaveLength(1);
      expect(await acceptedFindings.found(70)).toEqual([
        { rule: 'a/b', found: 1, first: at(2) },
        { rule: 'sql/drop-column', found: 5, first: at(1) },
      ]);
      expect(await acceptedFindings.found(undefined)).toMatchObject([{}, { found: 6, first: at(0) }]);
    });

    const { by, severity } = accepted;
    const rule = 'sql/drop-column';
    const sighted = new Map([[rule, 1]]);

    it('are the history of their rule, beside the pull requests on which reviews found it', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.acceptedFindings.put(accepted);
        await tx.acceptedFindings.put({ ...accepted, pullRequest: 4, at: at(5) });
        await tx.acceptedFindings.put({ ...accepted, finding: 'f2', rule: 'a/b' });
        await tx.acceptedFindings.put({ ...accepted, repositoryId: 71 });
        for (const pullRequest of [3, 3, 4, 5, null])
          await tx.acceptedFindings.countFound({ repositoryId: 70, pullRequest }, sighted, at(1));
        await tx.acceptedFindings.countFound(
          { repositoryId: 71, pullRequest: 3 },
          new Map([[rule, 9]]),
          at(1),
        );
      });
      const { history } = db.storage.read.acceptedFindings;
      const ofRocket = {
        repositoryId: 70,
        rule,
        foundOn: 3,
        accepted: [
          { pullRequest: 4, severity, by, at: at(5) },
          { pullRequest: 3, severity, by, at: at(0) },
        ],
      };
      expect(await history({ repositoryId: 70, rules: [rule, 'a/b'] })).toEqual([ofRocket]);
      expect(await history({ repositoryId: 70, rules: ['a/b'] })).toEqual([]);
      expect(await history({ repositoryId: 70, rules: [] })).toEqual([]);
      expect(await history({})).toEqual([
        ofRocket,
        { repositoryId: 71, rule, foundOn: 1, accepted: [{ pullRequest: 3, severity, by, at: at(0) }] },
      ]);
    });

    it('are forgotten by rule: only what is accepted later counts', async () => {
      await db.storage.transaction(async (tx) => {
        for (const pullRequest of [3, 4])
          await tx.acceptedFindings.countFound({ repositoryId: 70, pullRequest }, sighted, at(0));
        await tx.acceptedFindings.put(accepted);
        await tx.acceptedFindings.forget({ repositoryId: 70, rule }, null, at(1));
        await tx.acceptedFindings.forget({ repositoryId: 70, rule }, 'mia', at(2));
        await tx.acceptedFindings.forget({ repositoryId: 71, rule }, 'mia', at(9));
        await tx.acceptedFindings.put({ ...accepted, pullRequest: 4, at: at(3) });
      });
      const { history, ofHead } = db.storage.read.acceptedFindings;
      expect(await history({})).toEqual([
        { repositoryId: 70, rule, foundOn: 2, accepted: [{ pullRequest: 4, severity, by, at: at(3) }] },
      ]);
      expect(await ofHead(accepted)).toEqual([accepted]);
    });
  });

  describe('replies in conversations', () => {
    const reply = {
      commentId: 12,
      thread: 11,
      repositoryId: 70,
      pullRequest: 3,
      askedBy: 'mia',
      at: at(1),
    } as const;

    it('are added once each, and counted by pull request since a time', async () => {
      await db.storage.transaction(async ({ threadReplies }) => {
        expect(await threadReplies.add(reply)).toBe(true);
        expect(await threadReplies.add({ ...reply, at: at(9) })).toBe(false);
        expect(await threadReplies.add({ ...reply, commentId: 14, thread: 13, at: at(2) })).toBe(true);
        expect(await threadReplies.add({ ...reply, commentId: 15, pullRequest: 4 })).toBe(true);
      });
      const { threadsSince } = db.storage.read.threadReplies;
      expect((await threadsSince(reply, at(0))).toSorted()).toEqual([11, 13]);
      expect(await threadsSince(reply, at(1))).toEqual([13]);
    });
  });

  describe('applied commands', () => {
    it('are the newest of each scope of a pull request', async () => {
      const given = { second: '2026-01-05T12:00:00.000Z', source: 'comment', number: 7, line: 0 } as const;
      const pause = { scope: 'hold', verb: 'pause', actor: 'mia', given } as const;
      const resume = { ...pause, verb: 'resume', actor: 'max', given: { ...given, number: 8 } } as const;
      const cancel = { ...pause, scope: 'stop', verb: 'cancel' } as const;
      await db.storage.transaction(async (tx) => {
        await tx.appliedCommands.put(70, 3, cancel);
        await tx.appliedCommands.put(70, 3, pause);
        await tx.appliedCommands.put(70, 3, resume);
        await tx.appliedCommands.put(70, 4, pause);
      });
      expect(await db.storage.read.appliedCommands.of(70, 3)).toEqual([resume, cancel]);
      expect(await db.storage.read.appliedCommands.of(71, 3)).toEqual([]);
    });
  });

  describe('approvals', () => {
    it('are read as saved, the newest of the invocation first', async () => {
      const later = approval('apr2', 'run1', { askedAt: at(9) });
      const voided = approval('apr1', 'run1', {
        status: 'void',
        lookedAt: at(7),
        decision: criterion('unmet', 'Nobody has countersigned.', [
          criterion('pending', 'Waiting for mira.'),
        ]),
        countersignedBy: ['mira', 'ole'],
      });
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.approvals.insert(approval('apr1', 'run1'));
        await tx.approvals.insert(later);
        await tx.approvals.save(voided);
      });
      expect(await db.storage.read.approvals.ofInvocation('run1-inv1')).toEqual(later);
      expect(await db.storage.read.approvals.ofInvocation('run1-inv0')).toBeUndefined();
      expect(await db.storage.read.approvals.ofRun('run1')).toEqual([voided, later]);
    });

    it('that were answered about a head and base come with their chain, the newest first', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.runs.insert(runState('run2', { chain: 'ship' }));
        await tx.runs.insert(runState('run3', { pullRequest: 4 }));
        const rejected = { status: 'rejected', askedAt: at(1) } as const;
        await tx.approvals.insert(approval('apr1', 'run1', rejected));
        await tx.approvals.insert(approval('apr2', 'run2', { status: 'countersigned', askedAt: at(2) }));
        await tx.approvals.insert(approval('apr3', 'run1'));
        await tx.approvals.insert(approval('apr4', 'run1', { ...rejected, headSha: 'f'.repeat(40) }));
        await tx.approvals.insert(approval('apr5', 'run1', { ...rejected, baseRef: 'next' }));
        await tx.approvals.insert(approval('apr6', 'run3', rejected));
      });
      const about = { repositoryId: 70, pullRequest: 3, headSha: 'a'.repeat(40), baseRef: 'main' };
      const answered = await db.storage.read.approvals.answered(about);
      expect(answered.map(({ approval: { id, status }, chain }) => [id, status, chain])).toEqual([
        ['apr2', 'countersigned', 'ship'],
        ['apr1', 'rejected', 'pr-review'],
      ]);
    });

    it('that do not exist cannot be saved', async () => {
      const saving = db.storage.transaction((tx) => tx.approvals.save(approval('apr1', 'run1')));
      await expect(saving).rejects.toMatchObject({ code: 'storage.no_such_row' });
      const answering = db.storage.transaction((tx) => tx.approvals.saveAnswers({ id: 'apr1', answers: [] }));
      await expect(answering).rejects.toMatchObject({ code: 'storage.no_such_row' });
    });
  });

  describe('artifacts', () => {
    it('are read as inserted, by run and by id', async () => {
      const row = {
        id: 'art1',
        runId: 'run1',
        invocationId: 'run1-inv0',
        sessionId: 'ses1',
        createdAt: at(2),
        kind: 'log',
        name: 'analyzer.log',
        content: null,
        filePath: 'run1/analyzer.log',
      };
      const structured = { ...row, id: 'art2', createdAt: at(3), content: '{"a":1}', filePath: null };
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.runs.insertSession(session('ses1', 'run1-inv0'));
        await tx.artifacts.insert(structured);
        await tx.artifacts.insert(row);
      });
      expect(await db.storage.read.artifacts.ofRun('run1')).toEqual([row, structured]);
      expect(await db.storage.read.artifacts.get('art2')).toEqual(structured);
      expect(await db.storage.read.artifacts.get('art9')).toBeUndefined();
    });

    it('are paged by id, all or those of runs that ended before a time, and removed', async () => {
      const over: Partial<Run> = { status: 'completed', reason: completed };
      await db.storage.transaction(async (tx) => {
        for (const [id, run] of [
          ['old', { ...over, finishedAt: at(10) }],
          ['late', { ...over, finishedAt: at(20) }],
          ['active', { updatedAt: at(1) }],
        ] as const) {
          await tx.runs.insert(runState(id, run));
          await tx.runs.insertSession(session(`ses-${id}`, `${id}-inv0`));
          for (const nth of [1, 2]) {
            await tx.artifacts.insert({
              id: `art-${nth}-${id}`,
              runId: id,
              invocationId: `${id}-inv0`,
              sessionId: `ses-${id}`,
              createdAt: at(2),
              kind: 'log',
              name: 'a.log',
              content: null,
              filePath: `${id}/a.log`,
            });
          }
        }
      });
      const ids = async (page: { after: string; limit: number; runOverBefore?: Date }) =>
        (await db.storage.read.artifacts.page(page)).map(({ id }) => id);
      expect(await ids({ after: '', limit: 2 })).toEqual(['art-1-active', 'art-1-late']);
      expect(await ids({ after: 'art-1-late', limit: 2 })).toEqual(['art-1-old', 'art-2-active']);
      expect(await ids({ after: '', limit: 9, runOverBefore: at(20) })).toEqual(['art-1-old', 'art-2-old']);
      expect(await ids({ after: 'art-1-old', limit: 9, runOverBefore: at(21) })).toEqual([
        'art-2-late',
        'art-2-old',
      ]);
      await db.storage.transaction((tx) => tx.artifacts.remove(['art-1-old', 'art-2-old', 'art-9']));
      expect(await ids({ after: '', limit: 9, runOverBefore: at(20) })).toEqual([]);
      expect(await db.storage.read.artifacts.ofRun('late')).toHaveLength(2);
    });
  });

  describe('pull requests', () => {
    it('are inserted, then replaced', async () => {
      expect(await db.storage.read.pullRequests.get(70, 3)).toBeUndefined();
      for (const row of [pullRequest(), { ...pullRequest(), pausedBy: 'mira', updatedAt: at(4) }]) {
        await db.storage.transaction((tx) => tx.pullRequests.upsert(row));
        expect(await db.storage.read.pullRequests.get(70, 3)).toEqual(row);
      }
    });
  });
}

function pullRequest() {
  return {
    repositoryId: 70,
    number: 3,
    repository: 'acme/rocket',
    installationId: 7,
    pausedBy: null,
    headSha: 'a1',
    previousHeadSha: null,
    headSeenAt: at(0),
    updatedAt: at(0),
  };
}
