import { describe, expect, it } from 'vitest';
import type { Effect } from '../../src/domain/effect/effect.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, comment, runState } from '../support/rows.ts';

const neverDamaged = (error: Error) => {
  throw error;
};

function gateCheck(installationId: number, title: string): Effect {
  return {
    kind: 'gate_check',
    installation_id: installationId,
    owner: 'acme',
    repo: 'rocket',
    repository_id: 70,
    pull_request: 3,
    base_ref: 'main',
    content: {
      name: 'countersign: main',
      head_sha: 'abc',
      external_id: 'x',
      state: { status: 'in_progress', started_at: at(0).toISOString() },
      title,
      summary: 'Waiting.',
      text: '',
      annotations: [],
      actions: [],
      details_url: null,
    },
  };
}

/** The rows of the outbox: desired effects and their progress. */
export function effectsContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  describe('effects', () => {
    const request = (
      body: string,
      over: { runId?: string; key?: string; id?: string; second?: number; retryNow?: boolean } = {},
    ) =>
      db.storage.transaction((tx) =>
        tx.effects.request({
          id: over.id ?? 'eff1',
          key: over.key ?? 'comment:70#3',
          effect: comment(body),
          runId: over.runId ?? null,
          at: at(over.second ?? 0),
          ...(over.retryNow && { retryNow: true }),
        }),
      );
    const get = async (key = 'comment:70#3') => {
      const row = await db.storage.read.effects.get(key);
      if (!row) throw new Error('the effect is not there');
      return row;
    };
    /** Completes the effect, as it is now or as it was in `row`. */
    const carryOut = async (row?: Awaited<ReturnType<typeof get>>) => {
      const done = row ?? (await get());
      return db.storage.transaction((tx) =>
        tx.effects.saveProgress({ ...done, appliedHash: done.desiredHash, status: 'done', githubId: 42 }),
      );
    };

    it('are pending when first requested', async () => {
      expect(await request('hello')).toBe(true);
      expect(await get()).toMatchObject({
        id: 'eff1',
        effect: comment('hello'),
        appliedHash: null,
        status: 'pending',
        githubId: null,
        begun: false,
        progress: {},
        attempts: 0,
        error: null,
        runId: null,
        createdAt: at(0),
      });
    });

    it('need nothing more when requested again before they are written, unless the content differs', async () => {
      await request('hello');
      expect(await request('hello')).toBe(false);
      expect((await get()).status).toBe('pending');
      expect(await request('bye')).toBe(true);
      expect((await get()).effect).toEqual(comment('bye'));
    });

    it('are written for the run that requested them last', async () => {
      await db.storage.transaction((tx) => tx.runs.insert(runState('run1')));
      await request('hello');
      expect(await request('hello', { runId: 'run1' })).toBe(true);
      expect((await get()).runId).toBe('run1');
    });

    it('that were believed to wait are done when their present content is requested', async () => {
      await request('hello');
      await carryOut();
      const done = await get();
      await db.storage.transaction((tx) => tx.effects.saveProgress({ ...done, status: 'pending' }));
      expect(await request('hello')).toBe(false);
      expect((await get()).status).toBe('done');
    });

    it('that are written need nothing when requested again', async () => {
      await request('hello');
      await carryOut();
      expect(await request('hello', { id: 'eff2', second: 5 })).toBe(false);
      expect(await get()).toMatchObject({ id: 'eff1', status: 'done', githubId: 42 });
    });

    it('become pending when the content changes, and keep their place on GitHub', async () => {
      await request('hello');
      await carryOut();
      expect(await request('bye', { second: 5 })).toBe(true);
      expect(await get()).toMatchObject({
        status: 'pending',
        githubId: 42,
        createdAt: at(0),
        updatedAt: at(5),
      });
    });

    it('need nothing when the content changes back to what was written', async () => {
      await request('hello');
      await carryOut();
      await request('bye');
      expect(await request('hello')).toBe(false);
      expect((await get()).status).toBe('done');
    });

    it('stay pending when the content changed while they were written', async () => {
      await request('hello');
      const underWay = await get();
      await request('bye');
      expect(await carryOut(underWay)).toBe(true);
      expect(await get()).toMatchObject({ status: 'pending', effect: comment('bye'), githubId: 42 });
      expect(await carryOut()).toBe(false);
      expect((await get()).status).toBe('done');
    });

    it('stay pending when the content changed back while the change was written', async () => {
      await request('hello');
      await carryOut();
      await request('bye');
      const underWay = await get();
      expect(await request('hello')).toBe(false);
      expect(await carryOut(underWay)).toBe(true);
      expect(await get()).toMatchObject({ status: 'pending', effect: comment('hello') });
    });

    it('that failed get another attempt with new content', async () => {
      await request('hello');
      const row = await get();
      const failed = { ...row, status: 'failed' as const, attempts: 5, error: 'Not allowed.', begun: true };
      await db.storage.transaction((tx) => tx.effects.saveProgress(failed));
      expect(await get()).toMatchObject({
        status: 'failed',
        attempts: 5,
        error: 'Not allowed.',
        begun: true,
      });
      expect(await request('hello')).toBe(true);
      expect(await get()).toMatchObject({ status: 'pending', attempts: 0, error: null, begun: true });
    });

    it('that failed and rest stay as they are for the same content, until their rest is over', async () => {
      await db.storage.transaction((tx) => tx.runs.insert(runState('run1')));
      await request('hello');
      const progress = { rests_until: at(60).toISOString() };
      const failed = { ...(await get()), status: 'failed' as const, error: 'Not allowed.', progress };
      await db.storage.transaction((tx) => tx.effects.saveProgress(failed));
      expect(await request('hello', { second: 59 })).toBe(false);
      expect(await request('hello', { second: 59, runId: 'run1' })).toBe(false);
      expect(await get()).toMatchObject({ status: 'failed', error: 'Not allowed.' });
      expect(await request('hello', { second: 60 })).toBe(true);
      await db.storage.transaction((tx) => tx.effects.saveProgress(failed));
      expect(await request('hello', { second: 1, retryNow: true })).toBe(true);
      await db.storage.transaction((tx) => tx.effects.saveProgress(failed));
      expect(await request('bye', { second: 1 })).toBe(true);
      expect(await get()).toMatchObject({ status: 'pending', error: null });
    });

    it('keep their attempts when the same content is requested while they wait', async () => {
      await request('hello');
      const waiting = { ...(await get()), attempts: 3, error: 'GitHub said 502.' };
      expect(await db.storage.transaction((tx) => tx.effects.saveProgress(waiting))).toBe(true);
      await request('hello');
      expect(await get()).toMatchObject({ attempts: 3, error: 'GitHub said 502.' });
      await request('bye');
      expect(await get()).toMatchObject({ attempts: 0, error: null });
    });

    it('remember their progress', async () => {
      await request('hello');
      const progress = { annotations: ['sha256:1'], body_hash: 'sha256:2', merge_sha: 'abc' };
      const row = { ...(await get()), progress };
      await db.storage.transaction((tx) => tx.effects.saveProgress(row));
      expect((await get()).progress).toEqual(progress);
    });

    it('are listed by run and by status', async () => {
      await db.storage.transaction((tx) => tx.runs.insert(runState('run1')));
      await request('one', { runId: 'run1' });
      await carryOut();
      await request('two', { id: 'eff2', key: 'comment:70#4', runId: 'run1', second: 1 });
      await request('three', { id: 'eff3', key: 'comment:70#5', second: 2 });
      const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
      expect(ids(await db.storage.read.effects.ofRun('run1'))).toEqual(['eff1', 'eff2']);
      expect(ids(await db.storage.read.effects.list({ status: 'pending', limit: 9 }))).toEqual([
        'eff3',
        'eff2',
      ]);
      expect(ids(await db.storage.read.effects.list({ limit: 1 }))).toEqual(['eff3']);
    });

    it('with content are those of the installation for which GitHub created some in the period, oldest first', async () => {
      const put = async (id: string, createdAt: number | null, effect = comment('hello')) =>
        db.storage.transaction(async (tx) => {
          await tx.effects.request({ id, key: `comment:${id}`, effect, runId: null, at: at(0) });
          const row = await tx.effects.get(`comment:${id}`);
          if (!row) throw new Error('the effect is not there');
          await tx.effects.saveProgress({
            ...row,
            appliedHash: row.desiredHash,
            status: 'done',
            contentAt: createdAt === null ? null : at(createdAt),
          });
        });
      await put('later', 200);
      // PostgreSQL does not read such JSON.
      await put('earlier', 150, comment('\0 \ud83d'));
      await put('long-ago', 50);
      await put('to-come', 400);
      await put('elsewhere', 200, { ...comment('\0'), installation_id: 8 });
      await put('edited', null);
      await db.storage.transaction((tx) => tx.runs.insert(runState('run1')));
      await request('hello', { id: 'of-run', key: 'comment:of-run', runId: 'run1' });
      const ofRun = { ...(await get('comment:of-run')), contentAt: at(300) };
      await db.storage.transaction((tx) => tx.effects.saveProgress(ofRun));
      // A later request of the same keeps it.
      await request('bye', { id: 'of-run', key: 'comment:of-run', runId: 'run1' });

      const period = { since: at(100), until: at(300) };
      const sent = await db.storage.read.effects.withContent(7, period, neverDamaged);
      expect(sent.map(({ row }) => row.id)).toEqual(['earlier', 'later', 'of-run']);
      expect(sent.map(({ row }) => row.contentAt)).toEqual([at(150), at(200), at(300)]);
      expect(sent.map(({ run }) => run?.repositoryId)).toEqual([undefined, undefined, 70]);
    });

    it('that close gate checks are found by their installation, whatever their texts contain', async () => {
      const closing = async (id: string, installation: number, title: string) =>
        db.storage.transaction(async (tx) => {
          const key = `gate_check:70:${id}:main`;
          await tx.effects.request({
            id,
            key,
            effect: gateCheck(installation, title),
            runId: null,
            at: at(0),
          });
          const row = await tx.effects.get(key);
          if (!row) throw new Error('the effect is not there');
          await tx.effects.saveProgress({ ...row, progress: { concluded: true } });
          return key;
        });
      const own = await closing('a', 7, 'Waiting');
      // PostgreSQL reads no JSON with such a text.
      const odd = await closing('b', 7, 'Waiting \0');
      await closing('c', 8, '\ud83d');
      expect(await db.storage.read.effects.gatesToClose(7)).toEqual([own, odd]);
    });

    it('that do not exist cannot progress', async () => {
      await request('hello');
      const other = { ...(await get()), key: 'comment:70#9' };
      const saving = db.storage.transaction((tx) => tx.effects.saveProgress(other));
      await expect(saving).rejects.toMatchObject({ code: 'storage.no_such_row' });
    });
  });
}
