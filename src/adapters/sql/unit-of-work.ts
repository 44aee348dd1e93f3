/**
 * What one transaction keeps in memory: rows that it has read, because no other process can change them before
 * it ends, and rows that it has yet to write. Reading or changing the same row again then costs no statement.
 */
export class UnitOfWork {
  readonly #work: (() => Promise<void>)[] = [];
  readonly #writes: (() => Promise<void>)[] = [];
  readonly #ended: ((committed: boolean) => void)[] = [];
  /** Whether the transaction is the last of its job. */
  endsJob = false;
  /** Call before rows move into an archive, or out of one. */
  readonly movesArchives: () => void;

  constructor(movesArchives: () => void = () => undefined) {
    this.movesArchives = movesArchives;
  }

  /** Calls `work` once, before the transaction commits. */
  beforeCommit(work: () => Promise<void>): void {
    this.#work.push(work);
  }

  /** Calls `write` when all other work of the transaction is done: it writes the rows that a table has kept back. */
  writesLast(write: () => Promise<void>): void {
    this.#writes.push(write);
  }

  /** Calls `work` as soon as the transaction has committed or was rolled back. */
  afterwards(work: (committed: boolean) => void): void {
    this.#ended.push(work);
  }

  ended(committed: boolean): void {
    for (const work of this.#ended.splice(0)) work(committed);
  }

  /** Runs what was registered, and what that registers. */
  async complete(): Promise<void> {
    for (let work = this.#work.shift(); work; work = this.#work.shift()) await work();
    for (const write of this.#writes) await write();
  }
}
