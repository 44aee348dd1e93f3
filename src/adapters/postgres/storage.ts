import { randomUUID } from 'node:crypto';
import type { CompiledQuery, Kysely } from 'kysely';
import { type Clock, systemTimers, type Timers, timedBy } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import { StorageLocked } from '../../ports/locked.ts';
import type { Lease, ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { keepsRows } from '../sql/compiled.ts';
import type { Database } from '../sql/schema.ts';
import { tablesOn } from '../sql/tables.ts';
import { TransactionLine } from '../sql/transaction-line.ts';
import { NEWEST, noteOwnCommit, REMOVE_OLD } from './commits.ts';
import { Connection } from './connection.ts';
import { ConnectionLost, postgresFailure } from './failure.ts';
import { IDLE_MS, LOCK } from './lock.ts';
import { capitalized } from './place.ts';
import { type Pool, rowsOf } from './pool.ts';
import type { Fence } from './serving.ts';
import { NOW } from './sharing.ts';
import { IS_UNFINISHED, unfinishedCopy } from './unfinished-copy.ts';

/**
 * How long work waits for another process's lock, or for a server that has just been restarted, in milliseconds. As for SQLite:
 * a webhook waits for the group before its own and for its own, within the ten seconds after which GitHub stops waiting.
 */
const WAIT_MS = 3_500;

/** Between two attempts to reach the server, in milliseconds. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/** How long one statement may take, in milliseconds. The longest of ours move a few hundred rows. */
const STATEMENT_MS = 30_000;
/** How long the server's answer to a statement may take to arrive, in milliseconds: it stops the statement before. */
const ANSWER_MS = STATEMENT_MS + 5_000;
/** How long a lost answer to a commit is looked for, in milliseconds: as long as a failover usually takes. */
const ASKING_MS = 15_000;

/**
 * A standby refuses this. So nothing is read there that may be behind, and no connection to it is kept: after a failover, the next one
 * leads to the new primary.
 */
const ON_PRIMARY = 'SET TRANSACTION READ WRITE;';

interface Options {
  /** For messages, such as `the database countersign on db.example.com`. */
  name: string;
  clock: Clock;
  timers?: Timers;
  /**
   * Of the process that serves the database: see `servingOf`. Others, such as the command line or a process that only receives
   * webhooks, have none. Asked at the beginning of each transaction, because a process may begin to serve while it runs.
   */
  fence?: () => Fence | undefined;
  /** Refuses transactions. */
  isReadOnly?: boolean;
}

/**
 * A pool of connections, one of which has a transaction that writes, at most. All processes take turns at writing by an advisory lock
 * (ADR 66), so whatever holds because SQLite has one writer holds here, too.
 */
export class PostgresStorage implements Storage {
  readonly read: ReadTx;
  readonly #pool: Pool;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #fence: () => Fence | undefined;
  readonly #isReadOnly: boolean;
  /** At the beginning of whatever reads. Who only reads may do so on a standby. */
  readonly #onPrimary: string;
  readonly #transactions: TransactionLine;
  /** Names this storage in the table of commits. */
  readonly #writer = randomUUID();
  /**
   * How many of its groups have begun to commit. None has the number of another one, whatever became of that: a commit of which nobody
   * could say whether it happened may have left its number.
   */
  #commits = 0;
  /** Whether one of them has changed something. */
  #hasWritten = false;
  #current: Connection | undefined;
  #closed = false;
  /** Whether the last transaction failed to write. A successful read then does not prove that the storage works. */
  #unwritable = false;

  constructor(
    pool: Pool,
    { name, clock, timers = systemTimers, fence = () => undefined, isReadOnly = false }: Options,
  ) {
    this.#pool = pool;
    this.#name = name;
    this.#clock = clock;
    this.#timers = timers;
    this.#fence = fence;
    this.#isReadOnly = isReadOnly;
    this.#onPrimary = isReadOnly ? '' : ON_PRIMARY;
    this.#transactions = new TransactionLine(
      {
        inTransaction: (group, exhaustedAt) => this.#inTransaction(group, exhaustedAt),
        isInTransaction: () => this.#current !== undefined && !this.#current.isLost,
        deadline: () => timers.elapsedMs() + WAIT_MS,
      },
      clock,
    );
    this.read = eachOnItsOwn((work) => this.#reading(work));
  }

  async transaction<T>(
    work: (tx: Tx) => Promise<T>,
    options?: { waitsFor?: 'others' | 'caller' },
  ): Promise<T> {
    if (this.#closed) throw this.#isClosed();
    if (this.#isReadOnly) throw new Error('the database was opened for reading');
    try {
      return await this.#transactions.transaction(work, options);
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'storage.unavailable') this.#unwritable = true;
      throw error;
    }
  }

  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#transactions.fenced(lease, work);
  }

  /** The newest commit that has changed something. */
  async version(): Promise<string> {
    const connection = await this.#connect();
    try {
      const answers = await connection.script(`${this.#onPrimary} SELECT (${NEWEST}) AS version`);
      return rowsOf<{ version: string | null }>(answers.at(-1))[0]?.version ?? '';
    } finally {
      connection.end();
    }
  }

  /** Reads. Also writes, if the last write failed. One attempt, because the caller wants the current state. */
  async check(): Promise<void> {
    if (this.#closed) throw new CountersignError('storage.unavailable', this.#isClosed().message);
    try {
      const connection = await this.#connect();
      try {
        await connection.script(`${this.#onPrimary} SELECT max(version) FROM schema_migrations`);
        if (!this.#unwritable) return;
        await connection.script('UPDATE schema_migrations SET name = name WHERE version = 43');
        this.#unwritable = false;
      } finally {
        connection.end();
      }
    } catch (error) {
      if (error instanceof CountersignError) throw error;
      throw new CountersignError('storage.unavailable', `${capitalized(this.#name)} does not answer.`, {
        cause: error,
      });
    }
  }

  async backup(): Promise<void> {
    throw new CountersignError(
      'storage.backup_refused',
      `The backup was not written: back up ${this.#name} with pg_dump, as docs/operations.md says.`,
    );
  }

  /** PostgreSQL returns free pages by itself. */
  async giveBack(): Promise<boolean> {
    return false;
  }

  /** Waits for the requested transactions and refuses new ones. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#transactions.finish();
    await this.#pool.end();
  }

  #isClosed(): CountersignError {
    return new CountersignError('storage.closed', `${capitalized(this.#name)} is closed.`);
  }

  readonly #failureOf = (error: unknown) => postgresFailure(error, this.#name);

  async #connect(sees?: (query: CompiledQuery) => void): Promise<Connection> {
    try {
      return new Connection(await this.#pool.connect(ANSWER_MS), this.#failureOf, sees);
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  /** A snapshot of its own for each read, so that rows that move to an archive meanwhile are in one place. */
  async #reading<T>(work: (tx: ReadTx) => Promise<T>): Promise<T> {
    return this.#outlasting(this.#timers.elapsedMs() + WAIT_MS, async () => {
      const connection = await this.#connect();
      let isWithin = true;
      try {
        await connection.script(
          `BEGIN ISOLATION LEVEL REPEATABLE READ; ${this.#onPrimary} SET TRANSACTION READ ONLY;
           SET LOCAL statement_timeout = ${STATEMENT_MS}`,
        );
        const result = await work(tablesOn(connection.db, this.#clock));
        await connection.script('COMMIT');
        isWithin = false;
        return result;
      } catch (error) {
        ({ isWithin } = await connection.rollBack());
        throw error;
      } finally {
        connection.end(isWithin);
      }
    });
  }

  async #inTransaction(
    group: (transaction: Kysely<Database>, version: unknown) => Promise<void>,
    exhaustedAt: number,
  ): Promise<void> {
    const { connection, version } = await this.#outlasting(exhaustedAt, () => this.#begin(exhaustedAt));
    this.#current = connection;
    let isWithin = true;
    try {
      await group(connection.db, version);
      await this.#commit(connection);
      isWithin = false;
    } catch (error) {
      ({ isWithin } = await connection.rollBack());
      throw error;
    } finally {
      this.#current = undefined;
      connection.end(isWithin);
    }
  }

  /** Nothing has happened if it fails. */
  async #begin(exhaustedAt: number): Promise<{ connection: Connection; version: unknown }> {
    const { known } = this.#transactions;
    const connection = await this.#connect((query) => {
      if (!keepsRows(query)) known.sees(query.sql);
    });
    const fence = this.#fence();
    // 0 would be no limit.
    const patience = Math.max(1, Math.floor(exhaustedAt - this.#timers.elapsedMs()));
    try {
      const row = await timedBy(this.#clock, async () => {
        const answers = await connection.script(
          `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = ${STATEMENT_MS};
           SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}; SET LOCAL lock_timeout = ${patience}; ${LOCK};
           SELECT (${NEWEST}) AS version,
             (SELECT fence FROM serving) AS fence, ${isWorker(fence)} AS works, ${IS_UNFINISHED} AS "isUnfinished", (${NOW}) AS now`,
        );
        const [first] = rowsOf<FirstAnswer>(answers.at(-1));
        if (!first) throw new Error('the database did not say who serves it');
        return first;
      });
      if (fence !== undefined && (row.fence !== fence.serving || !row.works)) {
        throw new CountersignError(
          'storage.not_serving',
          `Another process serves ${this.#name} now, so nothing more of this one is written.`,
        );
      }
      // The fence keeps out those that serve the database. A process that only receives webhooks has none.
      if (row.isUnfinished) throw unfinishedCopy(this.#name);
      return { connection, version: row.version };
    } catch (error) {
      const { isWithin } = await connection.rollBack();
      connection.end(isWithin);
      throw error;
    }
  }

  async #commit(connection: Connection): Promise<void> {
    this.#commits += 1;
    const own = this.#commits;
    let hasWritten = true;
    try {
      const [noted] = await connection.script(
        `${noteOwnCommit(this.#writer, own)} ${this.#hasWritten ? '' : REMOVE_OLD} COMMIT`,
      );
      hasWritten = noted?.rowCount === 1;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (!(await this.#hasCommitted(own, error))) throw error;
    }
    this.#transactions.committed();
    if (!hasWritten) return;
    this.#hasWritten = true;
    this.#transactions.known.wrote(`${this.#writer} ${own}`);
  }

  /**
   * Whether a commit happened whose answer was lost. The lock is free once the server has ended that transaction, one way or the
   * other. A row of our own says it, and not the number of the transaction: after a failover, another one may have that. One that has
   * changed nothing has no row, so it counts as one that did not happen, and its caller does it again: that loses nothing.
   * @throws CountersignError `storage.unavailable` if nobody can say. Then the caller must not conclude that it did not happen.
   */
  async #hasCommitted(own: number, lost: ConnectionLost): Promise<boolean> {
    const end = this.#timers.elapsedMs() + ASKING_MS;
    return this.#outlasting(end, async () => {
      const connection = await this.#connect();
      try {
        const answers = await connection.script(
          `BEGIN; SET LOCAL lock_timeout = ${WAIT_MS}; ${LOCK};
           SELECT own FROM commits WHERE writer = '${this.#writer}'; ROLLBACK`,
        );
        const [row] = rowsOf<{ own: number }>(answers.at(-2));
        return row?.own === own;
      } finally {
        connection.end(true);
      }
    }).catch(() => {
      throw new CountersignError(
        'storage.unavailable',
        `${lost.message} Whether the last transaction was written is not known.`,
        { cause: lost },
      );
    });
  }

  /** Repeats work that has changed nothing, while the server cannot be reached or others hold the lock, until that time. */
  async #outlasting<T>(exhaustedAt: number, work: () => Promise<T>): Promise<T> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        const passes = error instanceof ConnectionLost || error instanceof StorageLocked;
        if (!passes || this.#closed || this.#timers.elapsedMs() >= exhaustedAt) throw error;
        await this.#timers.sleep(pause);
      }
    }
  }
}

/** What each transaction asks at its beginning, under the lock of all that write. */
interface FirstAnswer {
  version: string | null;
  fence: number;
  works: boolean;
  isUnfinished: boolean;
  now: number;
}

function isWorker(fence: Fence | undefined): string {
  return fence?.worker === undefined ? 'TRUE' : `EXISTS (SELECT FROM workers WHERE id = '${fence.worker}')`;
}

/** Tables of which each call is a read of its own. */
function eachOnItsOwn(run: <T>(work: (tx: ReadTx) => Promise<T>) => Promise<T>): ReadTx {
  const onTable = (table: keyof ReadTx) =>
    new Proxy(
      {},
      {
        get:
          (_, name) =>
          (...of: unknown[]) =>
            run((tx) => {
              const methods = tx[table] as unknown as Record<
                PropertyKey,
                (...of: unknown[]) => Promise<unknown>
              >;
              return Promise.resolve(methods[name]?.(...of));
            }),
      },
    );
  const outside = () => {
    throw new Error('no transaction is open');
  };
  return new Proxy({} as ReadTx, {
    get: (_, name: keyof ReadTx) =>
      name === 'beforeCommit' || name === 'afterwards' || name === 'endJob' ? outside : onTable(name),
  });
}
