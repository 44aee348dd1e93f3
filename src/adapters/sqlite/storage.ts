import { AsyncLocalStorage } from 'node:async_hooks';
import { open, rm } from 'node:fs/promises';
import BetterSqlite3 from 'better-sqlite3';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Lease, ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { keepsRows } from '../sql/compiled.ts';
import type { Database } from '../sql/schema.ts';
import { tablesOn } from '../sql/tables.ts';
import { TransactionLine } from '../sql/transaction-line.ts';
import { sqliteDialect } from './dialect.ts';
import { expectRoom } from './durable.ts';
import { isDamage, sqliteFailure } from './failure.ts';
import { createLockWait, type LockWait } from './lock-wait.ts';

/** How many pages a backup copies before it lets other work go on; the default of better-sqlite3. */
const PAGES_AT_ONCE = 100;

/** SQLite's number for it: https://sqlite.org/pragma.html#pragma_auto_vacuum */
const INCREMENTAL = 2;
/**
 * The free pages that stay in the file for the next days: a share of its pages, and at least a few megabytes.
 */
const RESERVED_SHARE = 0.05;
const MIN_RESERVED_PAGES = 1_024;

/**
 * One connection for transactions, and one that only reads. Kysely runs the transactions one after the other
 * on the first. In WAL mode, the second neither waits for it nor sees its uncommitted changes.
 */
export class SqliteStorage implements Storage {
  readonly read: ReadTx;
  readonly #path: string;
  readonly #connections: readonly [reader: BetterSqlite3.Database, writer: BetterSqlite3.Database];
  readonly #writer: Kysely<Database>;
  readonly #transactions: TransactionLine;
  /** When the open transaction must stop waiting for the lock. */
  readonly #exhaustedAt = new AsyncLocalStorage<number>();
  /** SQLite's `data_version` of the connection that reads, which sees the commits of the other, too. */
  readonly #readVersion: () => unknown;
  readonly #reader: Kysely<Database>;
  readonly #writerLock: LockWait;
  readonly #readerLock: LockWait;
  #closed = false;
  /**
   * Whether the last transaction failed to write. A successful read then does not prove that the storage
   * works.
   */
  #unwritable = false;
  /**
   * Set permanently once SQLite finds the file damaged, because anything accepted after that could be lost.
   */
  #damage: unknown;

  constructor(
    path: string,
    writer: BetterSqlite3.Database,
    reader: BetterSqlite3.Database,
    clock: Clock,
    timers: Timers = systemTimers,
  ) {
    this.#path = path;
    // The writer is closed last: the last connection to close moves the log into the database file.
    this.#connections = [reader, writer];
    // https://sqlite.org/pragma.html#pragma_data_version
    const version = writer.prepare('PRAGMA data_version').pluck();
    const readVersion = reader.prepare('PRAGMA data_version').pluck();
    this.#readVersion = () => readVersion.get();
    const translate = (error: unknown) => this.#failureOf(error);
    this.#writerLock = createLockWait(timers);
    this.#readerLock = createLockWait(timers);
    // A transaction's waiting time starts when it is requested, so it includes its place in line. Reads have
    // no line.
    const transactionWait = { lock: this.#writerLock, exhaustedAt: () => this.#exhaustedAt.getStore() };
    const readWait = { lock: this.#readerLock, exhaustedAt: () => undefined };
    const transactions = new TransactionLine(
      {
        inTransaction: (group, exhaustedAt) =>
          this.#exhaustedAt.run(exhaustedAt, () =>
            this.#writer.transaction().execute((transaction) => group(transaction, version.get())),
          ),
        isInTransaction: () => writer.inTransaction,
        deadline: () => this.#writerLock.deadline(),
      },
      clock,
    );
    this.#transactions = transactions;
    const hooks = {
      committed: () => transactions.committed(),
      sees(query: CompiledQuery) {
        if (!keepsRows(query)) transactions.known.sees(query.sql);
      },
    };
    this.#writer = new Kysely({ dialect: sqliteDialect(writer, translate, transactionWait, hooks) });
    this.#reader = new Kysely({ dialect: sqliteDialect(reader, translate, readWait) });
    this.read = undividedReads(tablesOn(this.#reader, clock), () => transactions.moves);
  }

  async transaction<T>(
    work: (tx: Tx) => Promise<T>,
    options?: { waitsFor?: 'others' | 'caller' },
  ): Promise<T> {
    if (this.#closed) throw new CountersignError('storage.closed', `The database ${this.#path} is closed.`);
    if (this.#damage !== undefined) throw this.#damage;
    try {
      return await this.#transactions.transaction(work, options);
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'storage.unavailable') this.#unwritable = true;
      throw error;
    }
  }

  #failureOf(error: unknown): unknown {
    const failure = sqliteFailure(error, this.#path);
    if (isDamage(failure)) this.#damage ??= failure;
    return failure;
  }

  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#transactions.fenced(lease, work);
  }

  async version(): Promise<string> {
    return String(this.#readVersion());
  }

  /** Reads. Also writes, if the last write failed. */
  async check(): Promise<void> {
    if (this.#damage !== undefined) throw this.#damage;
    const locked = this.#writerLock.locked() ?? this.#readerLock.locked();
    if (locked) throw locked;
    try {
      await sql`select max(version) from schema_migrations`.execute(this.#reader);
      if (!this.#unwritable) return;
      await expectRoom(this.#path);
      // Rewrites a page: SQLite also writes an UPDATE that changes nothing.
      const rewrite = sql`update schema_migrations set name = name where version = 1`;
      // One attempt, because the caller wants the current state.
      await this.#exhaustedAt.run(0, () =>
        this.#writer.transaction().execute((transaction) => rewrite.execute(transaction)),
      );
      this.#unwritable = false;
    } catch (error) {
      if (error instanceof CountersignError) throw error;
      throw new CountersignError('storage.unavailable', `The database ${this.#path} does not answer.`, {
        cause: error,
      });
    }
  }

  async backup(path: string, onProgress?: (copied: number, of: number) => void): Promise<void> {
    await claimNewFile(path);
    const source = new BetterSqlite3(this.#path, { readonly: true });
    try {
      // An open read transaction keeps one state of the database. Without it, each write would restart the
      // copy.
      source.exec('begin');
      source.prepare('select count(*) from schema_migrations').get();
      await source.backup(path, {
        progress({ totalPages, remainingPages }) {
          onProgress?.(totalPages - remainingPages, totalPages);
          return PAGES_AT_ONCE;
        },
      });
    } catch (error) {
      await rm(path, { force: true });
      throw sqliteFailure(error, path);
    } finally {
      source.close();
    }
  }

  /** Does nothing for a file created without `auto_vacuum`, which keeps its free pages and reuses them. */
  giveBack(pages: number): Promise<boolean> {
    return this.transaction(async () => {
      const [, writer] = this.#connections;
      const pragma = (name: string) => Number(writer.pragma(name, { simple: true }));
      if (pragma('auto_vacuum') !== INCREMENTAL) return false;
      const reserved = Math.max(MIN_RESERVED_PAGES, Math.ceil(pragma('page_count') * RESERVED_SHARE));
      const spare = pragma('freelist_count') - reserved;
      if (spare <= 0) return false;
      // `exec` and not a query: each step of the statement frees one page, and a query without columns is
      // stepped only once.
      writer.exec(`PRAGMA incremental_vacuum(${Math.min(pages, spare)})`);
      return spare > pages;
    });
  }

  /** Waits for the requested transactions and refuses new ones. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#transactions.finish();
    await this.#writer.connection().execute(async () => undefined);
    for (const connection of this.#connections) connection.close();
  }
}

/** The tables whose rows can be in archives, so that a read of them takes several statements. */
const ARCHIVED = ['runs', 'approvals', 'effects', 'artifacts', 'deliveries'] as const;

/**
 * Each read begins again if rows were moved to an archive or back since it began. It could otherwise miss them in both
 * places, and with them a rejection, or find them twice. Rejected: a read transaction for each read, because all reads
 * share a connection.
 */
function undividedReads(tables: ReadTx, moves: () => number): ReadTx {
  const undivided = <Table extends object>(table: Table): Table => {
    const reads = Object.entries(table).map(
      ([name, read]: [string, (...of: unknown[]) => Promise<unknown>]) => [
        name,
        async (...of: unknown[]) => {
          for (;;) {
            const before = moves();
            const found = await read.apply(table, of);
            if (moves() === before) return found;
          }
        },
      ],
    );
    return Object.fromEntries(reads);
  };
  return { ...tables, ...Object.fromEntries(ARCHIVED.map((name) => [name, undivided(tables[name])])) };
}

/** Creates an empty file, which fails if it exists: SQLite's backup would overwrite it. */
async function claimNewFile(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new CountersignError(
      'storage.backup_refused',
      exists
        ? `The backup was not written: ${path} is there already; name another file, or remove this one first.`
        : `The backup was not written: ${path} cannot be made; is its folder there, and may it be written to?`,
      { cause: error },
    );
  }
}
