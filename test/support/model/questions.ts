import { afterEach, beforeEach } from 'vitest';
import { z } from 'zod';
import { createAiProvider } from '../../../src/adapters/ai/provider.ts';
import { type Budgets, DEFAULT_BUDGETS } from '../../../src/domain/model/budget.ts';
import type { ModelName } from '../../../src/domain/model/name.ts';
import type { Price } from '../../../src/domain/model/price.ts';
import { createModel } from '../../../src/engine/models/ask.ts';
import { createLedger, type Ledger } from '../../../src/engine/models/ledger.ts';
import type { Model, Purpose, Question } from '../../../src/ports/model.ts';
import { useDatabase } from '../database.ts';
import { runState, session } from '../rows.ts';
import { sqliteTestDatabase } from '../temp.ts';
import { type StubModel, startStubModel } from './stub.ts';

export const KEY = 'stub-key-9fQ2mXv7LbTz41';

/** The shape that the tests ask for. */
export const verdictSchema = z.strictObject({
  verdict: z.enum(['fine', 'not_fine']),
  because: z.string().max(200),
});
export type Verdict = z.infer<typeof verdictSchema>;
export const FINE = JSON.stringify({ verdict: 'fine', because: 'Nothing stands out.' });

export const purpose: Purpose = {
  runId: 'run1',
  sessionId: 'ses1',
  repositoryId: 70,
  pullRequest: 3,
  skill: 'tone-review',
  artifact: 'review.md',
};

export const question = (over: Partial<Question<Verdict>> = {}): Question<Verdict> => ({
  prompt: 'Is this text friendly? Hello!',
  schema: verdictSchema,
  limits: { maxOutputTokens: 500, timeoutMs: 60_000 },
  purpose,
  signal: new AbortController().signal,
  ...over,
});

export const COMPATIBLE: ModelName = { provider: 'openai-compatible', model: 'stub' };

/** Allows any call, for tests that do not concern cost: opening a database is most of the time of a short one. */
const FREE: Ledger = {
  reserve: async () => ({ ok: true, id: 1 }),
  settle: async () => null,
};

/** For each test: a stub model, and a client for it. */
export function useStubModel() {
  let stub: StubModel;
  const waits: number[] = [];
  beforeEach(async () => {
    waits.length = 0;
    stub = await startStubModel();
  });
  afterEach(() => stub.stop());

  return {
    /** How long the client waited between calls, in milliseconds, without any real waiting. */
    waits,
    get stub() {
      return stub;
    },
    model: async (name = COMPATIBLE, ledger = FREE): Promise<Model> =>
      createModel({
        provider: await createAiProvider({ name, apiKey: KEY, baseUrl: `${stub.url}/v1` }),
        ledger,
        wait: async (ms) => void waits.push(ms),
        random: () => 0.5,
      }),
  };
}

export interface PaidOptions {
  price?: Price;
  budgets?: Partial<Budgets>;
}

/** The same with a database that has one run and session, and with counted costs. */
export function usePaidModel() {
  const db = useDatabase(sqliteTestDatabase);
  const free = useStubModel();
  beforeEach(() =>
    db.storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await tx.runs.insertSession(session('ses1', 'run1-inv0'));
    }),
  );

  return {
    db,
    get stub() {
      return free.stub;
    },
    model({ price, budgets }: PaidOptions = {}): Promise<Model> {
      const ledger = createLedger({
        storage: db.storage,
        clock: db.clock,
        model: COMPATIBLE,
        price,
        budgets: { ...DEFAULT_BUDGETS, ...budgets },
      });
      return free.model(COMPATIBLE, ledger);
    },
    calls: () => db.storage.read.modelCalls.ofRun('run1'),
  };
}
