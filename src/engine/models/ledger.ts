import type { Clock } from '../../core/clock.ts';
import {
  type Amount,
  type BudgetScope,
  type Budgets,
  type Exceeded,
  exceeded,
  startOfDay,
} from '../../domain/model/budget.ts';
import type { ModelName } from '../../domain/model/name.ts';
import { formatModelName } from '../../domain/model/name.ts';
import { costOf, type Price, type Tokens } from '../../domain/model/price.ts';
import type { Purpose } from '../../ports/model.ts';
import type { ModelCallEnd } from '../../ports/model-calls.ts';
import type { Storage, Tx } from '../../ports/storage.ts';

/**
 * Records the possible and the actual usage of calls in the database. The highest possible usage is reserved
 * before the call and corrected after it, in sequential transactions. So neither concurrent calls nor a
 * restart can overspend.
 */
export interface Ledger {
  reserve(
    purpose: Purpose,
    most: Tokens,
  ): Promise<{ ok: true; id: number } | { ok: false; exceeded: Exceeded }>;
  /**
   * @param tokens `null` if unknown; the reservation then stays counted
   * @returns the cost, if it is known
   */
  settle(id: number, tokens: Tokens | null, error: string | null): Promise<number | null>;
}

export interface LedgerDeps {
  storage: Storage;
  clock: Clock;
  model: ModelName;
  price: Price | undefined;
  budgets: Budgets;
}

export function createLedger({ storage, clock, model, price, budgets }: LedgerDeps): Ledger {
  return {
    reserve(purpose, most) {
      const cost = costOf(most, price);
      const needed: Amount = { tokens: most.input + most.output, cost: cost ?? 0 };
      return storage.transaction(async (tx) => {
        const now = clock.now();
        const broken = exceeded(budgets, await spentSoFar(tx, purpose, now), needed);
        if (broken) return { ok: false, exceeded: broken };
        const id = await tx.modelCalls.begin({
          ...purpose,
          model: formatModelName(model),
          tokens: needed.tokens,
          cost,
          startedAt: now,
        });
        return { ok: true, id };
      });
    },

    async settle(id, tokens, error) {
      const cost = tokens && costOf(tokens, price);
      const end: ModelCallEnd = { tokens, cost, completedAt: clock.now(), error };
      await storage.transaction((tx) => tx.modelCalls.end(id, end));
      return cost;
    },
  };
}

async function spentSoFar(
  { modelCalls }: Tx,
  { runId, repositoryId, pullRequest }: Purpose,
  now: Date,
): Promise<Partial<Record<BudgetScope, Amount>>> {
  const spent: Partial<Record<BudgetScope, Amount>> = {
    day: await modelCalls.spent({ since: startOfDay(now) }),
  };
  if (runId !== null) spent.run = await modelCalls.spent({ runId });
  if (repositoryId !== null && pullRequest !== null) {
    spent.pull_request = await modelCalls.spent({ repositoryId, pullRequest });
  }
  return spent;
}
