import { afterEach, beforeEach } from 'vitest';
import { z } from 'zod';
import { createAiProvider } from '../../src/model/ai/provider.ts';
import { createModel } from '../../src/model/ask.ts';
import { type Budgets, DEFAULT_BUDGETS } from '../../src/model/budget.ts';
import { createLedger } from '../../src/model/ledger.ts';
import type { Model, Purpose, Question } from '../../src/model/model.ts';
import type { ModelName } from '../../src/model/name.ts';
import type { Price } from '../../src/model/price.ts';
import { useDatabase } from '../contract/database.ts';
import { runState, session } from '../contract/rows.ts';
import { sqliteTestDatabase } from '../contract/temp.ts';
import { type StubModel, startStubModel } from '../support/model/stub.ts';

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
  limits: { maxOutputTokens: 500, timeoutMs: 5_000 },
  purpose,
  signal: new AbortController().signal,
  ...over,
});

export interface ModelOptions {
  name?: ModelName;
  price?: Price;
  budgets?: Partial<Budgets>;
}

/** For each test: a database with one run and session in it, a stub model, and what connects both. */
export function useModel() {
  const db = useDatabase(sqliteTestDatabase);
  let stub: StubModel;
  const waits: number[] = [];
  beforeEach(async () => {
    waits.length = 0;
    stub = await startStubModel();
    await db.storage.transaction(async (tx) => {
      await tx.runs.insert(runState('run1'));
      await tx.runs.insertSession(session('ses1', 'run1-inv0'));
    });
  });
  afterEach(() => stub.stop());

  return {
    db,
    /** How long was waited between calls, in milliseconds; no time passes in fact. */
    waits,
    get stub() {
      return stub;
    },
    async model({
      name = { provider: 'openai-compatible', model: 'stub' },
      price,
      budgets,
    }: ModelOptions = {}): Promise<Model> {
      return createModel({
        provider: await createAiProvider({ name, apiKey: KEY, baseUrl: `${stub.url}/v1` }),
        ledger: createLedger({
          storage: db.storage,
          clock: db.clock,
          model: name,
          price,
          budgets: { ...DEFAULT_BUDGETS, ...budgets },
        }),
        wait: async (ms) => void waits.push(ms),
        random: () => 0.5,
      });
    },
    calls: () => db.storage.read.modelCalls.ofRun('run1'),
  };
}
