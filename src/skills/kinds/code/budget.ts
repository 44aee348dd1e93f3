import type { Refused } from '../../../messages/skills/code.ts';
import type { Budget, CodeLimits } from './limits.ts';
import type { HostFunction } from './protocol.ts';

/** What a template has used up of its functions. Kept in the app: what the process says of itself counts for nothing. */
export class Ledger {
  readonly #budgets: CodeLimits['budgets'];
  readonly #spent = new Map<HostFunction, { calls: number; bytes: number; ms: number }>();

  constructor(budgets: CodeLimits['budgets']) {
    this.#budgets = budgets;
  }

  /**
   * Counts one call with that many bytes of arguments.
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
   * @returns why it is kept back: an answer too many is not given, although it was paid for.
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
