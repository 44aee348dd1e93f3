/** What is held, each for itself; a day is one of UTC. */
export const BUDGET_SCOPES = ['run', 'pull_request', 'day'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** The most that may be spent; what is not set is not limited. */
export interface Budget {
  tokens?: number;
  /** In millionths of a dollar. */
  cost?: number;
}
export type Budgets = Readonly<Record<BudgetScope, Budget>>;

/** What was spent, or is about to be. A cost that is not known counts as none: tokens hold where prices are missing. */
export interface Amount {
  tokens: number;
  cost: number;
}

/** Enough for some hundred usual reviews a day, and little enough to notice a loop before the bill does. */
export const DEFAULT_BUDGETS: Budgets = {
  run: { tokens: 1_000_000 },
  pull_request: { tokens: 4_000_000 },
  day: { tokens: 20_000_000 },
};

/** The budget that a call would break, with the figures to say so. */
export interface Exceeded {
  scope: BudgetScope;
  unit: 'tokens' | 'cost';
  limit: number;
  spent: number;
  /** The most that the call could take. */
  needed: number;
}

/** The first budget that has no room for the call; a scope without `spent` does not apply to it. */
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

/** `500000`, `$2.50` or `500000, $2.50`. An amount of 0 allows nothing. */
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
