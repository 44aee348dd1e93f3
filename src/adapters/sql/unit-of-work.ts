/**
 * What one transaction keeps in memory: the rows that it has read, which nobody else can change meanwhile, and
 * the rows that it has yet to write. A row that is read or changed several times in a transaction thus costs
 * one statement for each.
 */
export class UnitOfWork {
  #work: (() => Promise<void>)[] = [];

  /** Calls `work` once, before the transaction commits. */
  beforeCommit(work: () => Promise<void>): void {
    this.#work.push(work);
  }

  /** Runs what was registered, and what that registers. */
  async complete(): Promise<void> {
    for (let work = this.#work.shift(); work; work = this.#work.shift()) await work();
  }
}
