import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Lease, Tx } from '../../ports/storage.ts';
import { KnownRows } from './known-rows.ts';
import type { Database } from './schema.ts';
import { tablesOn } from './tables.ts';
import { UnitOfWork } from './unit-of-work.ts';

/** The most transactions that share a commit: none should wait long for those after it. */
const MAX_GROUP = 8;

/**
 * How many transactions commit alone after a commit of several failed. A database checks some references only then and does
 * not say whose is wrong, so that those beside it would fail with it each time that they are tried.
 */
const ALONE_AFTER_FAILURE = 100;

/**
 * How long a transaction that may wait does so for the next one, in milliseconds. Jobs of the same effect wait
 * as long.
 */
const PATIENCE_MS = 250;

const SAVE = sql`savepoint one`;
const RELEASE = sql`release one`;
const UNDO = sql`rollback to one`;

/** The writes of a transaction, before they are committed. */
interface Attempt {
  result: unknown;
  unit: UnitOfWork;
}

/** A transaction that was requested. */
interface Waiting {
  /** Begins the group that starts with it, which waits for a locked database as long as this one may. */
  begin(group: () => Promise<void>): Promise<void>;
  run(transaction: Kysely<Database>): Promise<Attempt>;
  settle(outcome: { result: unknown } | { error: unknown }): void;
}

/** The one connection of a process that writes to its database. */
export interface WritingConnection {
  /**
   * Runs a group of our transactions in one of the database, commits it, and rejects if that fails.
   * @param group is given what differs once anybody else has written
   */
  inTransaction(
    group: (transaction: Kysely<Database>, version: unknown) => Promise<void>,
    /** When it must stop waiting for the database, by the clock of `deadline`. */
    exhaustedAt: number,
  ): Promise<void>;
  /** Whether the database still has the transaction after a statement of it failed, so that a part can be undone. */
  isInTransaction(): boolean;
  /** When a transaction that is requested now must stop waiting to begin. */
  deadline(): number;
}

/**
 * The transactions of a process, one after the other. What is requested together shares a commit, as one transaction of the
 * database with a savepoint for each: so they wait for its disk once.
 */
export class TransactionLine {
  /** What transactions know of the database. */
  readonly known = new KnownRows();
  readonly #connection: WritingConnection;
  readonly #clock: Clock;
  /**
   * The transaction that the current code is part of. `open` becomes false at its end, for code that it
   * started and did not await.
   */
  readonly #current = new AsyncLocalStorage<{ open: boolean; exhaustedAt: number }>();
  /** The lease of the current code's job. The runtime passes it on, so that no handler can forget it. */
  readonly #lease = new AsyncLocalStorage<Lease>();
  /** The transactions that were requested and have not begun. */
  readonly #line: Waiting[] = [];
  #commitAll: Promise<void> | undefined;
  /** How many of the next transactions commit alone. */
  #alone = 0;
  /** The transactions that wait for the next one, to share its commit. */
  readonly #patient: Waiting[] = [];
  #patienceTimer: NodeJS.Timeout | undefined;
  /** Enters the context in which the storage was opened. */
  readonly #outside = AsyncLocalStorage.snapshot();
  /** Whether the open transaction moves rows into archives or out of them, and how many have done so. */
  #isMoving = false;
  #moves = 0;

  constructor(connection: WritingConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** How many transactions have moved rows into archives or out of them. */
  get moves(): number {
    return this.#moves;
  }

  /** To be called when the writes of a group can be read, before any other code runs. */
  committed(): void {
    if (this.#isMoving) this.#moves += 1;
    this.#isMoving = false;
  }

  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#lease.run(lease, work);
  }

  /** @throws CountersignError `storage.nested_transaction` */
  transaction<T>(
    work: (tx: Tx) => Promise<T>,
    { waitsFor }: { waitsFor?: 'others' | 'caller' } = {},
  ): Promise<T> {
    if (this.#current.getStore()?.open) {
      throw new CountersignError(
        'storage.nested_transaction',
        'A transaction was begun inside another and would wait for itself: use the outer one.',
      );
    }
    const request = Promise.withResolvers<T>();
    const lease = this.#lease.getStore();
    const current = { open: true, exhaustedAt: this.#connection.deadline() };
    const waiting: Waiting = {
      begin: AsyncLocalStorage.bind((group: () => Promise<void>) => this.#current.run(current, group)),
      // In the context of its own caller, not of the one that runs the group.
      run: AsyncLocalStorage.bind((transaction: Kysely<Database>) =>
        this.#current.run(current, () => this.#attempt(transaction, lease, work)),
      ),
      settle: (outcome) => {
        current.open = false;
        if ('error' in outcome) request.reject(outcome.error);
        else request.resolve(outcome.result as T);
      },
    };
    this.#patient.push(waiting);
    // Other jobs that are under way, apart from those that wait here themselves, will have a transaction soon.
    const areOthersAtWork = (lease?.others?.() ?? 0) >= this.#patient.length;
    if (waitsFor === 'caller' || (waitsFor === 'others' && areOthersAtWork))
      this.#patienceTimer ??= setTimeout(() => this.#commitWaiting(), PATIENCE_MS);
    else this.#commitWaiting();
    return request.promise;
  }

  /** Resolves when all transactions that were requested have ended. */
  async finish(): Promise<void> {
    this.#commitWaiting();
    await this.#commitAll;
  }

  #commitWaiting(): void {
    clearTimeout(this.#patienceTimer);
    this.#patienceTimer = undefined;
    this.#line.push(...this.#patient.splice(0));
    this.#commitAll ??= this.#outside(() => this.#commitLine());
  }

  async #attempt<T>(
    transaction: Kysely<Database>,
    lease: Lease | undefined,
    work: (tx: Tx) => Promise<T>,
  ): Promise<Attempt> {
    const unit = new UnitOfWork(() => {
      this.#isMoving = true;
    });
    try {
      const tx = tablesOn(transaction, this.#clock, { unit, known: this.known });
      const result = await work(tx);
      if (lease) await holdOrEnd(tx, lease, unit.endsJob);
      await unit.complete();
      return { result, unit };
    } catch (error) {
      unit.ended(false);
      throw error;
    }
  }

  async #commitLine(): Promise<void> {
    // What is requested in one turn of the event loop shares a commit.
    await nextTurn();
    while (this.#line.length > 0) await this.#commitGroup();
    this.#commitAll = undefined;
  }

  /**
   * Runs the waiting transactions in one of the database, so that they wait for the disk once. Each of them either
   * happens as a whole or not at all, and its caller hears of it only after the commit.
   */
  async #commitGroup(): Promise<void> {
    const [first] = this.#line;
    const done: { settle: Waiting['settle']; attempt: Attempt }[] = [];
    try {
      await first?.begin(() =>
        this.#connection.inTransaction(async (transaction, version) => {
          this.known.begins(version);
          for (let next = this.#line.shift(); next; next = this.#next(done.length)) {
            const attempt = await this.#isolated(transaction, next, done.length > 0);
            if (attempt) done.push({ settle: next.settle, attempt });
          }
        }, this.#current.getStore()?.exhaustedAt ?? 0),
      );
    } catch (error) {
      // The database may have undone it by itself.
      this.known.forget();
      // The transaction could not begin, so the first in line is still there.
      if (first && this.#line[0] === first) this.#line.shift()?.settle({ error });
      if (done.length > 1) this.#alone = ALONE_AFTER_FAILURE;
      for (const { settle, attempt } of done) {
        attempt.unit.ended(false);
        settle({ error });
      }
      return;
    }
    for (const { settle, attempt } of done) {
      attempt.unit.ended(true);
      settle(attempt);
    }
  }

  #next(done: number): Waiting | undefined {
    if (this.#alone > 0) this.#alone -= 1;
    if (done === 0 || done >= MAX_GROUP || this.#alone > 0) return undefined;
    return this.#line.shift();
  }

  /** Runs one transaction of a group. A failure undoes only its own writes. */
  async #isolated(
    transaction: Kysely<Database>,
    { run, settle }: Waiting,
    hasOthers: boolean,
  ): Promise<Attempt | undefined> {
    let attempt: Attempt | undefined;
    try {
      if (hasOthers) await SAVE.execute(transaction);
      attempt = await run(transaction);
      if (hasOthers) await RELEASE.execute(transaction);
      return attempt;
    } catch (error) {
      attempt?.unit.ended(false);
      settle({ error });
      // On a full disk, SQLite has undone the whole transaction.
      if (!hasOthers || !this.#connection.isInTransaction()) throw error;
      await UNDO.execute(transaction);
      await RELEASE.execute(transaction);
      return undefined;
    }
  }
}

/**
 * Ends the job, or makes sure that it is still held. One check is enough: nobody else can write, and so
 * take the job, before the transaction ends.
 */
async function holdOrEnd(tx: Tx, lease: Lease, ends: boolean): Promise<void> {
  const { jobId, token } = lease;
  if (!(await (ends ? tx.jobs.complete(jobId, token) : tx.jobs.isHeld(jobId, token)))) {
    throw new CountersignError(
      'queue.lease_lost',
      'Another worker took this job over, so nothing more of this one’s work is written.',
    );
  }
  if (ends) lease.onEnd?.(tx);
}
