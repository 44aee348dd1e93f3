/**
 * What one transaction keeps in memory: rows that it has read, because no other process can change them before
 * it ends, and rows that it has yet to write. Reading or changing the same row again then costs no statement.
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
