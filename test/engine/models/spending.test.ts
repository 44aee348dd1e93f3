import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openStorage } from '../../../src/composition/storage.ts';
import { type Budgets, DEFAULT_BUDGETS } from '../../../src/domain/model/budget.ts';
import type { Tokens } from '../../../src/domain/model/price.ts';
import { createModel } from '../../../src/engine/models/ask.ts';
import { createLedger } from '../../../src/engine/models/ledger.ts';
import { describeFailure } from '../../../src/messages/skills/model.ts';
import { ManualClock } from '../../support/clock.ts';
import { FINE, purpose, question, usePaidModel } from '../../support/model/questions.ts';
import { runState } from '../../support/rows.ts';
import { temporaryFolders } from '../../support/temp.ts';

const t = usePaidModel();
const price = { input: 2, output: 10 };
const SEED = Number(process.env.COUNTERSIGN_SEED ?? 20_261_122);

describe('the cost of a call', () => {
  it('is in its row, with whom the call was for', async () => {
    t.stub.answers({ text: FINE, tokens: { input: 1_000, output: 20 } });
    const answer = await (await t.model({ price })).ask(question());
    expect(answer.spent).toEqual({ calls: 1, tokens: { input: 1_000, output: 20 }, cost: 2_200 });
    expect(await t.calls()).toMatchObject([
      {
        ...purpose,
        model: 'openai-compatible/stub',
        tokens: 1_020,
        tokensIn: 1_000,
        tokensOut: 20,
        cost: 2_200,
        error: null,
        completedAt: expect.any(Date),
      },
    ]);
  });

  it('is unknown in dollars without a price, and still counts in tokens', async () => {
    t.stub.answers({ text: FINE });
    const answer = await (await t.model()).ask(question());
    expect(answer.spent).toEqual({ calls: 1, tokens: { input: 120, output: 30 }, cost: null });
    expect(await t.calls()).toMatchObject([{ tokens: 150, cost: null }]);
  });

  it.each([
    ['says nothing', null],
    ['counts no prompt', { input: 0, output: 0 }],
  ])('stays the most that it could be when the provider %s', async (_what, tokens) => {
    t.stub.answers({ text: FINE, tokens });
    const answer = await (await t.model({ price })).ask(question());
    expect(answer).toMatchObject({ kind: 'answered', spent: { tokens: null, cost: null } });
    const [call] = await t.calls();
    expect(call?.tokens).toBeGreaterThan(500);
    expect(call?.cost).toBeGreaterThan(5_000);
  });

  it('is zero for a request that the provider rejected, and the row says why', async () => {
    t.stub.answers({ status: 401 });
    await (await t.model({ price })).ask(question());
    expect(await t.calls()).toMatchObject([
      { tokens: 0, cost: 0, error: expect.stringMatching(/does not accept the key/) },
    ]);
  });

  it('is summed over the calls of one question, including the one that was sent back', async () => {
    t.stub.answers({ text: 'hm' }, { text: FINE });
    const answer = await (await t.model({ price })).ask(question());
    expect(answer.spent).toMatchObject({ calls: 2, tokens: { input: 240, output: 60 } });
    expect(await t.calls()).toHaveLength(2);
  });
});

it('a call whose caller gives up ends with the caller’s reason, and stays counted', async () => {
  t.stub.answers({ silent: true });
  const controller = new AbortController();
  const asking = (await t.model()).ask(question({ signal: controller.signal }));
  const ended = expect(asking).rejects.toThrow('the run was cancelled');
  await expect.poll(() => t.stub.asked).toHaveLength(1);
  controller.abort(new Error('the run was cancelled'));
  await ended;
  const [call] = await t.calls();
  expect(call).toMatchObject({ tokensIn: null, error: expect.stringContaining('no whole answer') });
  expect(call?.tokens).toBeGreaterThan(500);
});

describe('a spent budget', () => {
  it.each<[string, Partial<Budgets>, RegExp]>([
    [
      'the run',
      { run: { tokens: 2_000 } },
      /2,000 tokens are allowed for this run, 1,900 tokens are counted/,
    ],
    ['the pull request', { pull_request: { tokens: 2_000 } }, /are allowed for this pull request/],
    ['the day', { day: { cost: 4_000 } }, /\$0\.0040 are allowed for today \(UTC\), \$0\.0038 are counted/],
  ])('of %s refuses the next call before it is made', async (_what, budgets, words) => {
    const reserve = (tokens: Tokens) =>
      createLedger({
        storage: t.db.storage,
        clock: t.db.clock,
        model: { provider: 'openai', model: 'm' },
        price: { input: 2, output: 2 },
        budgets: DEFAULT_BUDGETS,
      }).reserve(purpose, tokens);
    await reserve({ input: 1_900, output: 0 });
    const answer = await (await t.model({ budgets, price: { input: 2, output: 2 } })).ask(question());
    if (answer.kind !== 'failed') throw new Error('it was asked');
    expect(answer).toMatchObject({ failure: { kind: 'no_budget' }, retryable: false, spent: { calls: 0 } });
    expect(describeFailure(answer.failure)).toMatch(words);
    expect(t.stub.asked).toEqual([]);
  });

  it('of a day does not affect the next day', async () => {
    t.stub.answers({ text: FINE, tokens: { input: 1_900, output: 0 } });
    const model = await t.model({ budgets: { day: { tokens: 3_000 } } });
    expect((await model.ask(question())).kind).toBe('answered');
    expect((await model.ask(question())).kind).toBe('failed');
    t.db.clock.advance(12 * 3_600_000);
    expect((await model.ask(question())).kind).toBe('answered');
  });

  it('of a run does not affect other runs', async () => {
    await t.db.storage.transaction((tx) => tx.runs.insert(runState('run2')));
    t.stub.answers({ text: FINE, tokens: { input: 1_900, output: 0 } });
    const model = await t.model({ budgets: { run: { tokens: 3_000 } } });
    expect((await model.ask(question())).kind).toBe('answered');
    expect((await model.ask(question())).kind).toBe('failed');
    const other = { ...purpose, runId: 'run2', sessionId: null };
    expect((await model.ask(question({ purpose: other }))).kind).toBe('answered');
  });

  it('also ends the retry after a bad answer', async () => {
    t.stub.answers({ text: 'hm', tokens: { input: 2_500, output: 0 } }, { text: FINE });
    const answer = await (await t.model({ budgets: { run: { tokens: 3_500 } } })).ask(question());
    expect(answer).toMatchObject({ kind: 'failed', failure: { kind: 'no_budget' }, spent: { calls: 1 } });
  });
});

describe('a restart', () => {
  const folder = temporaryFolders();

  it('refills no budget, and a call that it interrupted stays counted', async () => {
    const url = `sqlite:${folder()}/restart.db`;
    const clock = new ManualClock('2026-01-05T12:00:00Z');
    const ledgerOn = async () => {
      const storage = await openStorage(url, { clock });
      const ledger = createLedger({
        storage,
        clock,
        model: { provider: 'openai', model: 'm' },
        price: undefined,
        budgets: { run: {}, pull_request: {}, day: { tokens: 100 } },
      });
      return { storage, ledger };
    };
    const adHoc = { ...purpose, runId: null, sessionId: null };
    const before = await ledgerOn();
    expect(await before.ledger.reserve(adHoc, { input: 60, output: 30 })).toMatchObject({ ok: true });
    await before.storage.close();
    const after = await ledgerOn();
    expect(await after.ledger.reserve(adHoc, { input: 5, output: 6 })).toMatchObject({
      ok: false,
      exceeded: { scope: 'day', spent: 90, limit: 100, needed: 11 },
    });
    await after.storage.close();
  });
});

it(`concurrent calls never overspend together (seed ${SEED})`, async () => {
  const adHoc = { ...purpose, runId: null, sessionId: null, pullRequest: null };
  let day = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1_200, max: 20_000 }),
      fc.array(fc.record({ part: fc.double({ min: 0, max: 1, noNaN: true }), fails: fc.boolean() }), {
        minLength: 2,
        maxLength: 12,
      }),
      async (limit, plans) => {
        // Each example has its own day, and so a full budget.
        t.db.clock.moveTo(new Date(Date.UTC(2030, 0, ++day)));
        const waiting = [...plans];
        const reserved: number[] = [];
        const model = createModel({
          provider: {
            name: { provider: 'openai', model: 'm' },
            async call({ maxOutputTokens }) {
              const plan = waiting.shift() ?? { part: 1, fails: true };
              const before = await t.db.storage.read.modelCalls.spent({ since: t.db.clock.now() });
              reserved.push(before.tokens);
              await new Promise((resolve) => setImmediate(resolve));
              if (plan.fails) return { kind: 'failed', failure: { kind: 'timed_out' }, tokens: null };
              const output = Math.floor(maxOutputTokens * plan.part);
              return { kind: 'text', text: FINE, tokens: { input: 100, output } };
            },
          },
          ledger: createLedger({
            storage: t.db.storage,
            clock: t.db.clock,
            model: { provider: 'openai', model: 'm' },
            price: undefined,
            budgets: { run: {}, pull_request: {}, day: { tokens: limit } },
          }),
        });
        const answers = await Promise.all(plans.map(() => model.ask(question({ purpose: adHoc }))));
        const { tokens } = await t.db.storage.read.modelCalls.spent({ since: t.db.clock.now() });
        expect(Math.max(0, tokens, ...reserved)).toBeLessThanOrEqual(limit);
        // Every refusal was because of the budget.
        for (const answer of answers) {
          if (answer.kind === 'failed') expect(['no_budget', 'timed_out']).toContain(answer.failure.kind);
        }
      },
    ),
    { seed: SEED, numRuns: process.env.COUNTERSIGN_LONG === '1' ? 2_000 : 25 },
  );
});
