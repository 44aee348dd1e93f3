import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, runState } from '../support/rows.ts';

/** How concurrent transactions and reads behave. */
export function transactionsContract(open: OpenDatabase): void {
  const db = useDatabase(open);

  it('the storage answers a health check', async () => {
    await expect(db.storage.check()).resolves.toBeUndefined();
  });

  describe('a transaction that may wait', () => {
    /** Work under the lease of a job, beside so many others. */
    async function fenced<T>(others: number, work: () => Promise<T>): Promise<T> {
      const [job] = await db.storage.transaction((tx) =>
        tx.jobs.insert({
          kind: 'wake',
          key: 'a',
          payload: '0',
          runAt: at(0),
          lease: { token: 't', until: at(90) },
        }),
      );
      return db.storage.fenced({ jobId: job?.id ?? 0, token: 't', others: () => others }, work);
    }
    const note = (name: string, waitsFor?: 'others' | 'caller') =>
      db.storage.transaction(
        async (tx) => void (await tx.jobs.insert({ kind: 'wake', key: name, payload: '0', runAt: at(1) })),
        waitsFor && { waitsFor },
      );
    const noted = async () => (await db.storage.read.jobs.ofKeys(['one', 'two'])).map(({ key }) => key);

    it.each([
      ['others', 1],
      ['caller', 0],
    ] as const)('for %s happens just before the next one', async (waitsFor, others) => {
      await fenced(others, async () => {
        const first = note('one', waitsFor);
        await nextTurn();
        await nextTurn();
        expect(await noted()).toEqual([]);
        await note('two');
        expect(await noted()).toEqual(['one', 'two']);
        await first;
      });
    });

    it('for others does not wait if none is at work', async () => {
      await fenced(0, async () => {
        // One that waits does so for a timeout, if no other transaction comes.
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        onTestFinished(() => void vi.useRealTimers());
        await note('one', 'others');
        expect(await noted()).toEqual(['one']);
      });
    });

    it('happens even if no other one comes', async () => {
      await fenced(1, () => note('one', 'others'));
      expect(await noted()).toEqual(['one']);
    });
  });

  describe('transactions', () => {
    it('commit everything together', async () => {
      const answer = await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.runs.insert(runState('run2'));
        return 'both';
      });
      expect(answer).toBe('both');
      expect((await db.storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run2', 'run1']);
    });

    it('leave nothing behind after a throw', async () => {
      const failing = db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await tx.jobs.insert({ kind: 'wake', key: 'run1', payload: '{}', runAt: at(0) });
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await db.storage.read.runs.load('run1')).toBeUndefined();
      expect(await db.storage.read.jobs.countDue(at(9))).toBe(0);
    });

    it('work again after one has failed', async () => {
      await expect(db.storage.transaction(() => Promise.reject(new Error('no')))).rejects.toThrow();
      await db.storage.transaction((tx) => tx.runs.insert(runState('run1')));
      expect(await db.storage.read.runs.load('run1')).toBeDefined();
    });

    it('show nothing to readers before they commit', async () => {
      await db.storage.transaction(async (tx) => {
        await tx.runs.insert(runState('run1'));
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect(await db.storage.read.runs.load('run1')).toBeUndefined();
        expect(await tx.runs.load('run1')).toBeDefined();
      });
      expect(await db.storage.read.runs.load('run1')).toBeDefined();
    });

    it('of one process run one after another', async () => {
      const order: string[] = [];
      const take = (name: string) =>
        db.storage.transaction(async (tx) => {
          order.push(`${name} begins`);
          await tx.jobs.countDue(at(0));
          await new Promise((resolve) => setTimeout(resolve, 2));
          order.push(`${name} ends`);
        });
      await Promise.all([take('a'), take('b'), take('c')]);
      expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    });

    it('inside one another are refused instead of waiting forever', async () => {
      const nested = db.storage.transaction(() => db.storage.transaction(async () => 'never'));
      await expect(nested).rejects.toMatchObject({ code: 'storage.nested_transaction' });
    });

    it('can follow in work that a transaction started', async () => {
      const over = Promise.withResolvers<void>();
      let left: Promise<string> | undefined;
      await db.storage.transaction(async () => {
        left = over.promise.then(() => db.storage.transaction(async () => 'later'));
      });
      over.resolve();
      expect(await left).toBe('later');
    });

    it('cannot be used once they are over', async () => {
      const leaked = await db.storage.transaction(async (tx) => ({ tx }));
      await expect(leaked.tx.runs.insert(runState('run1'))).rejects.toThrow();
      expect(await db.storage.read.runs.load('run1')).toBeUndefined();
    });

    it('are the only way to write', async () => {
      await expect(db.storage.read.runs.insert(runState('run1'))).rejects.toThrow();
    });

    it('of a job are refused once another worker holds it, however deep in the calls', async () => {
      await db.storage.transaction((tx) =>
        tx.jobs.insert({ kind: 'wake', key: 'a', payload: '{}', runAt: at(0) }),
      );
      const take = (second: number, token: string) =>
        db.storage.transaction((tx) => tx.jobs.claim(at(second), at(second + 30), token, 1));
      const [job] = await take(0, 'mine');
      const insert = async (id: string) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await db.storage.transaction((tx) => tx.runs.insert(runState(id)));
      };
      const lease = { jobId: job?.id ?? 0, token: 'mine' };
      const overtake = AsyncLocalStorage.bind(() => take(30, 'theirs'));
      const late = db.storage.fenced(lease, async () => {
        await insert('run1');
        await overtake();
        await insert('run2');
      });
      await expect(late).rejects.toMatchObject({ code: 'queue.lease_lost' });
      expect((await db.storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run1']);
    });

    it('that are requested together fail alone, and undo only their own writes', async () => {
      const write = (id: string, fails = false) =>
        db.storage.transaction(async (tx) => {
          await tx.runs.insert(runState(id));
          if (fails) throw new Error(`${id} fails`);
        });
      const ended = await Promise.allSettled([
        write('run1'),
        write('run2', true),
        write('run3'),
        write('run4', true),
        write('run5'),
      ]);
      expect(ended.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      const ids = (await db.storage.read.runs.list({})).map(({ id }) => id);
      expect(ids.toSorted()).toEqual(['run1', 'run3', 'run5']);
    });

    it('that are requested together are all rejected if they cannot be committed, and later ones work', async () => {
      const orphan = runState('run2');
      Object.assign(orphan.invocations[0] ?? {}, { sessionId: 'ses9' });
      const ended = await Promise.allSettled(
        [runState('run1'), orphan].map((state) => db.storage.transaction((tx) => tx.runs.insert(state))),
      );
      const found = (await db.storage.read.runs.list({})).map(({ id }) => id);
      // A success was reported only for rows that are there.
      expect(found).toEqual(ended[0]?.status === 'fulfilled' ? ['run1'] : []);
      expect(ended[1]?.status).toBe('rejected');
      await db.storage.transaction((tx) => tx.runs.insert(runState('run3')));
      expect(await db.storage.read.runs.load('run3')).toBeDefined();
    });

    it('write what was left for their end before they commit, and report how they ended', async () => {
      const said: unknown[] = [];
      const run = (id: string, fails: boolean) =>
        db.storage.transaction(async (tx) => {
          tx.beforeCommit(async () => {
            await tx.runs.insert(runState(id));
            if (fails) throw new Error('too late');
          });
          tx.afterwards((committed) => said.push([id, committed]));
        });
      await run('run1', false);
      await expect(run('run2', true)).rejects.toThrow('too late');
      expect(said).toEqual([
        ['run1', true],
        ['run2', false],
      ]);
      expect((await db.storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run1']);
    });

    it('of a job can end it, unless another worker holds it', async () => {
      await db.storage.transaction((tx) =>
        tx.jobs.insert({ kind: 'wake', key: 'a', payload: '{}', runAt: at(0) }),
      );
      const [job] = await db.storage.transaction((tx) => tx.jobs.claim(at(0), at(30), 'mine', 1));
      const end = (id: string, token: string) =>
        db.storage.fenced({ jobId: job?.id ?? 0, token }, () =>
          db.storage.transaction(async (tx) => {
            await tx.runs.insert(runState(id));
            tx.endJob();
          }),
        );
      await expect(end('run1', 'theirs')).rejects.toMatchObject({ code: 'queue.lease_lost' });
      await end('run2', 'mine');
      expect(await db.storage.read.jobs.countDue(at(99))).toBe(0);
      await expect(end('run3', 'mine')).rejects.toMatchObject({ code: 'queue.lease_lost' });
      expect((await db.storage.read.runs.list({})).map(({ id }) => id)).toEqual(['run2']);
    });

    it('are refused after close', async () => {
      await db.storage.close();
      await expect(db.storage.transaction(async () => 1)).rejects.toMatchObject({
        code: 'storage.closed',
      });
      await expect(db.storage.check()).rejects.toMatchObject({ code: 'storage.unavailable' });
    });
  });
}
