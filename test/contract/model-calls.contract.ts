import { beforeEach, describe, expect, it } from 'vitest';
import type { NewModelCall } from '../../src/ports/model-calls.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at, runState, session } from '../support/rows.ts';

/** The cost of calls to language models, and for whom. */
export function modelCallsContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const call = (over: Partial<NewModelCall> = {}): NewModelCall => ({
    runId: 'run1',
    sessionId: 'ses1',
    repositoryId: 70,
    pullRequest: 3,
    skill: 'tone-review',
    artifact: 'review.md',
    model: 'openai/gpt-5',
    tokens: 1_000,
    cost: 500,
    startedAt: at(0),
    ...over,
  });
  const begin = (over: Partial<NewModelCall> = {}) =>
    db.storage.transaction((tx) => tx.modelCalls.begin(call(over)));

  beforeEach(() =>
    db.storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await tx.runs.insert(runState('run2'));
      await tx.runs.insertSession(session('ses1', 'run1-inv0'));
    }),
  );

  describe('calls to models', () => {
    it('count their reservation until they end, then their cost', async () => {
      const id = await begin();
      const { modelCalls } = db.storage.read;
      expect(await modelCalls.spent({ runId: 'run1' })).toEqual({ tokens: 1_000, cost: 500 });
      await db.storage.transaction((tx) =>
        tx.modelCalls.end(id, {
          tokens: { input: 40, output: 2 },
          cost: 7,
          completedAt: at(3),
          error: null,
        }),
      );
      expect(await modelCalls.spent({ runId: 'run1' })).toEqual({ tokens: 42, cost: 7 });
      expect(await modelCalls.ofRun('run1')).toEqual([
        { id, ...call({ tokens: 42, cost: 7 }), tokensIn: 40, tokensOut: 2, completedAt: at(3), error: null },
      ]);
    });

    it('keep counting their reservation when the cost is unknown', async () => {
      const id = await begin();
      const end = { tokens: null, cost: null, completedAt: at(3), error: 'No answer.' };
      await db.storage.transaction((tx) => tx.modelCalls.end(id, end));
      expect(await db.storage.read.modelCalls.spent({ runId: 'run1' })).toEqual({ tokens: 1_000, cost: 500 });
    });

    it('are summed by run, by pull request and by time', async () => {
      await begin();
      await begin({ runId: 'run2', sessionId: null, tokens: 20, cost: null });
      await begin({ runId: null, sessionId: null, pullRequest: 4, tokens: 3, startedAt: at(60) });
      const { modelCalls } = db.storage.read;
      const tokensOf = async (of: Parameters<typeof modelCalls.spent>[0]) =>
        (await modelCalls.spent(of)).tokens;
      expect(await tokensOf({ runId: 'run2' })).toBe(20);
      expect(await tokensOf({ repositoryId: 70, pullRequest: 3 })).toBe(1_020);
      expect(await tokensOf({ since: at(0) })).toBe(1_023);
      expect(await tokensOf({ since: at(1) })).toBe(3);
      expect(await modelCalls.spent({ runId: 'none' })).toEqual({ tokens: 0, cost: 0 });
    });

    it('are summed by day in UTC, newest first, with those of unknown cost', async () => {
      const day = 86_400;
      const ofDay = { model: 'openai/gpt-5', failed: 0, unpriced: 0 };
      await begin({ startedAt: at(-2 * day) });
      await begin({ startedAt: at(-day), cost: null });
      await begin({ startedAt: at(-day) });
      await begin({ startedAt: at(0) });
      const name = (seconds: number) => at(seconds).toISOString().slice(0, 10);
      expect(await db.storage.read.operations.modelDays(at(60), 2)).toEqual([
        { ...ofDay, day: name(0), calls: 1, tokens: 1_000, cost: 500 },
        { ...ofDay, day: name(-day), calls: 2, tokens: 2_000, cost: 500, unpriced: 1 },
      ]);
    });

    it('that do not exist cannot end', async () => {
      const end = { tokens: null, cost: null, completedAt: at(3), error: null };
      await expect(db.storage.transaction((tx) => tx.modelCalls.end(7, end))).rejects.toThrow(/no row 7/);
    });
  });
}
