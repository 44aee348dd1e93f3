import { beforeEach, describe, expect, it } from 'vitest';
import type { Tx } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, runState, session } from '../support/rows.ts';

/** What running sessions have printed so far. */
export function sessionLogsContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const write = <T>(work: (tx: Tx) => Promise<T>) => db.storage.transaction(work);
  const own = { runId: 'run1', sessionId: 'ses1' };
  const byApp = { kind: 'app' } as const;

  beforeEach(() =>
    write(async ({ runs }) => {
      await runs.insert(runState('run1'));
      await runs.insertSession(session('ses1', 'run1-inv0'));
    }),
  );

  const append = (text: string, { begunAt = at(1), isFirst = false } = {}) =>
    write((tx) => tx.sessionLogs.append({ ...own, begunAt, text, isFirst }));
  const read = (part: Parameters<Tx['sessionLogs']['read']>[1] = { most: 1_000 }) =>
    db.storage.read.sessionLogs.read(own, part);
  const since = (position: number, begunAt = at(1)) => read({ after: { begunAt, position } });

  describe('the lines of a running session', () => {
    it('are read in the order in which they came, with their place in bytes', async () => {
      expect(await read()).toBeUndefined();
      await append('grüße\n', { isFirst: true });
      await append('two\n');
      expect(await read()).toEqual({ text: 'grüße\ntwo\n', begunAt: at(1), from: 0, to: 12 });
    });

    it('are read after a place, or from about so many bytes before their end', async () => {
      await append('one\n', { isFirst: true });
      await append('two\n');
      await append('three\n');
      expect(await since(4)).toMatchObject({ text: 'two\nthree\n', from: 4, to: 14 });
      expect(await since(14)).toBeUndefined();
      expect(await read({ most: 7 })).toMatchObject({ text: 'two\nthree\n', from: 4, to: 14 });
    });

    it('are those of the newest attempt, also for who has read further in another', async () => {
      await append('before the process died\n', { isFirst: true });
      await append('again\n', { begunAt: at(5), isFirst: true });
      const again = { text: 'again\n', begunAt: at(5), from: 0, to: 6 };
      expect(await read()).toEqual(again);
      expect(await since(24)).toEqual(again);
    });

    it('are not read as those of another run', async () => {
      await append('one\n', { isFirst: true });
      expect(
        await db.storage.read.sessionLogs.read({ ...own, runId: 'run2' }, { most: 1_000 }),
      ).toBeUndefined();
    });

    it.each(['completed', 'failed', 'waiting'] as const)('go when it is recorded as %s', async (status) => {
      await append('one\n', { isFirst: true });
      await write((tx) => tx.runs.saveSession(session('ses1', 'run1-inv0', { status }), byApp));
      expect(await read()).toBeUndefined();
    });

    it('stay if the transaction that records its result fails', async () => {
      await append('one\n', { isFirst: true });
      const failed = write(async (tx) => {
        await tx.runs.saveSession(session('ses1', 'run1-inv0', { status: 'completed' }), byApp);
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      expect(await read()).toMatchObject({ text: 'one\n' });
    });

    it('are not added once it is over', async () => {
      await write((tx) => tx.runs.saveSession(session('ses1', 'run1-inv0', { status: 'cancelled' }), byApp));
      await append('late\n', { isFirst: true });
      expect(await read()).toBeUndefined();
    });
  });
}
