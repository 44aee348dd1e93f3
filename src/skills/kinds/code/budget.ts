import type { Refused } from '../../../messages/skills/code.ts';
import type { Budget, CodeLimits } from './limits.ts';
import type { HostFunction } from './protocol.ts';

/**
 * What a program has used of its functions' budgets. Counted in the app, because the process cannot be
 * trusted.
 */
export class Ledger {
  readonly #budgets: CodeLimits['budgets'];
  readonly #spent = new Map<HostFunction, { calls: number; bytes: number; ms: number }>();

  constructor(budgets: CodeLimits['budgets']) {
    this.#budgets = budgets;
  }

  /**
   * Counts one call, with the size of its arguments.
   * @returns why it is refused, or how long its answer may take
   */
  begin(name: HostFunction, bytes: number): { refused: Refused } | { withinMs: number } {
    const spent = this.#of(name);
    const budget = this.#budgets[name];
    spent.calls += 1;
    spent.bytes += bytes;
    if (spent.calls > budget.calls) return { refused: { kind: 'calls_spent', limit: budget.calls } };
    if (spent.bytes > budget.bytes) return { refused: bytesSpent(budget) };
    const withinMs = budget.ms - spent.ms;
    return withinMs > 0 ? { withinMs } : { refused: this.outOfTime(name) };
  }

  /**
   * Counts an answer.
   * @returns why the answer is withheld: one beyond the budget is not delivered, although it was paid for
   */
  end(name: HostFunction, bytes: number, ms: number): Refused | undefined {
    const spent = this.#of(name);
    spent.bytes += bytes;
    spent.ms += ms;
    const budget = this.#budgets[name];
    return spent.bytes > budget.bytes ? bytesSpent(budget) : undefined;
  }

  outOfTime(name: HostFunction): Refused {
    return { kind: 'time_spent', ms: this.#budgets[name].ms };
  }

  #of(name: HostFunction): { calls: number; bytes: number; ms: number } {
    const spent = this.#spent.get(name) ?? { calls: 0, bytes: 0, ms: 0 };
    this.#spent.set(name, spent);
    return spent;
  }
}

const bytesSpent = ({ bytes }: Budget): Refused => ({ kind: 'bytes_spent', limit: bytes });
