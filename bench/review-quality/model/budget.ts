import { type Amount, exceeded } from '../../../src/domain/model/budget.ts';
import { costOf, type Price, type Tokens } from '../../../src/domain/model/price.ts';
import type { Ledger } from '../../../src/engine/models/ledger.ts';

/** Allows every call, for answers that cost nothing. */
export const FREE: Ledger = { reserve: async () => ({ ok: true, id: 1 }), settle: async () => null };

export interface BudgetLedger extends Ledger {
  /** In millionths of a dollar, with what is reserved. */
  spent(): number;
  /** Whether a call was refused for want of budget. */
  isUsedUp(): boolean;
}

/**
 * Allows calls as long as the most that they could cost fits into the budget, as the app's own ledger does, but in memory:
 * the rows of that ledger belong to runs.
 * @param limit in millionths of a dollar
 */
export function budgetLedger(limit: number, price: Price): BudgetLedger {
  const counted: number[] = [];
  let usedUp = false;
  const spent = () => counted.reduce((total, cost) => total + cost, 0);
  const cost = (tokens: Tokens) => costOf(tokens, price) ?? 0;
  return {
    spent,
    isUsedUp: () => usedUp,
    async reserve(_, most) {
      const amount = (millionths: number): Amount => ({ tokens: 0, cost: millionths });
      const budgets = { run: { cost: limit }, pull_request: {}, day: {} };
      const broken = exceeded(budgets, { run: amount(spent()) }, amount(cost(most)));
      if (broken) {
        usedUp = true;
        return { ok: false, exceeded: broken };
      }
      return { ok: true, id: counted.push(cost(most)) - 1 };
    },
    async settle(id, tokens) {
      if (!tokens) return null;
      const actual = cost(tokens);
      counted[id] = actual;
      return actual;
    },
  };
}
