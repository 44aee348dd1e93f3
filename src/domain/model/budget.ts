/** Each budget applies to one of these, independently of the others; a day is one of UTC. */
export const BUDGET_SCOPES = ['run', 'pull_request', 'day'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** The upper limits. A limit that is not set does not apply. */
export interface Budget {
  tokens?: number;
  /** In millionths of a dollar. */
  cost?: number;
}
export type Budgets = Readonly<Record<BudgetScope, Budget>>;

/**
 * Tokens and cost that were spent, or may be. An unknown cost counts as 0: the token limit applies where
 * prices are missing.
 */
export interface Amount {
  tokens: number;
  cost: number;
}

/** Enough for a few hundred usual reviews a day, and low enough to notice a loop before the bill does. */
export const DEFAULT_BUDGETS: Budgets = {
  run: { tokens: 1_000_000 },
  pull_request: { tokens: 4_000_000 },
  day: { tokens: 20_000_000 },
};

/** The budget that a call would exceed, with the figures for a message. */
export interface Exceeded {
  scope: BudgetScope;
  unit: 'tokens' | 'cost';
  limit: number;
  spent: number;
  /** The most that the call could take. */
  needed: number;
}

/** The first budget that the call would exceed. A scope that `spent` does not have does not apply. */
export function exceeded(
  budgets: Budgets,
  spent: Partial<Record<BudgetScope, Amount>>,
  needed: Amount,
): Exceeded | undefined {
  for (const scope of BUDGET_SCOPES) {
    const already = spent[scope];
    if (!already) continue;
    for (const unit of ['tokens', 'cost'] as const) {
      const limit = budgets[scope][unit];
      if (limit !== undefined && already[unit] + needed[unit] > limit) {
        return { scope, unit, limit, spent: already[unit], needed: needed[unit] };
      }
    }
  }
  return undefined;
}

export function startOfDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
}

/** Parses `500000`, `$2.50` or `500000, $2.50`. A limit of 0 allows nothing. */
export function parseBudget(text: string): Budget | undefined {
  const budget: Budget = {};
  for (const part of text.split(',').map((piece) => piece.trim())) {
    const dollars = /^\$(\d{1,7}(?:\.\d{1,6})?)$/.exec(part)?.[1];
    const tokens = /^(\d{1,12})(?: tokens)?$/.exec(part)?.[1];
    const unit = dollars === undefined ? 'tokens' : 'cost';
    if ((dollars ?? tokens) === undefined || budget[unit] !== undefined) return undefined;
    budget[unit] = dollars === undefined ? Number(tokens) : Math.round(Number(dollars) * 1_000_000);
  }
  return budget;
}
