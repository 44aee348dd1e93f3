import { AsyncLocalStorage } from 'node:async_hooks';
import { open, rm, statfs } from 'node:fs/promises';
import BetterSqlite3 from 'better-sqlite3';
import { Kysely, sql } from 'kysely';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Lease, ReadTx, Storage, Tx } from '../../ports/storage.ts';
import type { Database } from '../sql/schema.ts';
import { tablesOn } from '../sql/tables.ts';
import { sqliteDialect } from './dialect.ts';
import { diskIsFull, isDamage, sqliteFailure } from './failure.ts';
import { createLockWait, type LockWait } from './lock-wait.ts';

/** How much a disk that was full must have to count as one with room, in bytes: some deliveries' worth. */
const ROOM_BYTES = 1_048_576;

/** SQLite's number for it; https://sqlite.org/pragma.html#pragma_auto_vacuum. */
const INCREMENTAL = 2;
/** What stays free in the file, as the next days fill it again: a share of its pages, and a few megabytes at least. */
const SHARE_KEPT = 0.05;
const LEAST_PAGES_KEPT = 1_024;

/**
 * One connection that writes, for transactions, and one that only reads. Kysely hands the writing connection to one
 * transaction after the other; in WAL mode the reading one neither waits for it nor sees what it has not committed.
 */
export class SqliteStorage implements Storage {
  readonly read: ReadTx;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #connections: readonly [reader: BetterSqlite3.Database, writer: BetterSqlite3.Database];
  readonly #writer: Kysely<Database>;
  readonly #reader: Kysely<Database>;
  /** The transaction that the running code is part of; `open` ends with it, for what it started and left behind. */
  readonly #current = new AsyncLocalStorage<{ open: boolean; exhaustedAt: number }>();
  readonly #writerLock: LockWait;
  readonly #readerLock: LockWait;
  /** The lease for which the running code works. Carried along by the runtime, so that no handler can forget it. */
  readonly #lease = new AsyncLocalStorage<Lease>();
  #closed = false;
  /** Whether the last transaction that tried could not write: then reading alone does not prove that all is well. */
  #unwritable = false;
  /** Set for good once SQLite finds the file damaged: whatever is accepted from then on might be lost with it. */
  #damage: unknown;

  constructor(
    path: string,
    writer: BetterSqlite3.Database,
    reader: BetterSqlite3.Database,
    clock: Clock,
    timers: Timers = systemTimers,
  ) {
    this.#path = path;
    this.#clock = clock;
    // The one that writes is closed last: the last connection to close moves the log into the database file.
    this.#connections = [reader, writer];
    const translate = (error: unknown) => this.#failureOf(error);
    this.#writerLock = createLockWait(timers);
    this.#readerLock = createLockWait(timers);
    // A transaction waits from when it is asked for, its turn included; a reading has nobody's turn to wait for.
    const ofTransaction = {
      lock: this.#writerLock,
      exhaustedAt: () => this.#current.getStore()?.exhaustedAt,
    };
    const ofReading = { lock: this.#readerLock, exhaustedAt: () => undefined };
    this.#writer = new Kysely({ dialect: sqliteDialect(writer, translate, ofTransaction) });
    this.#reader = new Kysely({ dialect: sqliteDialect(reader, translate, ofReading) });
    this.read = tablesOn(this.#reader, clock);
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#current.getStore()?.open) {
      throw new CountersignError(
        'storage.nested_transaction',
        'A transaction was begun inside another and would wait for itself: use the outer one.',
      );
    }
    if (this.#closed) throw new CountersignError('storage.closed', `The database ${this.#path} is closed.`);
    if (this.#damage !== undefined) throw this.#damage;
    const current = { open: true, exhaustedAt: this.#writerLock.deadline() };
    try {
      return await this.#current.run(current, () =>
        this.#writer.transaction().execute(async (transaction) => {
          const tx = tablesOn(transaction, this.#clock);
          await this.#refuseOvertaken(tx);
          return work(tx);
        }),
      );
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'storage.unavailable') this.#unwritable = true;
      throw error;
    } finally {
      current.open = false;
    }
  }

  #failureOf(error: unknown): unknown {
    const failure = sqliteFailure(error, this.#path);
    if (isDamage(failure)) this.#damage ??= failure;
    return failure;
  }

  fenced<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
    return this.#lease.run(lease, work);
  }

  /** Looking once is enough: nobody else can write, and so take the job, before this transaction ends. */
  async #refuseOvertaken({ jobs }: Tx): Promise<void> {
    const lease = this.#lease.getStore();
    if (!lease || (await jobs.isHeld(lease.jobId, lease.token))) return;
    throw new CountersignError(
      'queue.lease_lost',
      'Another worker took this job over, so nothing more of this one’s work is written.',
    );
  }

  /** Reads; and writes, when the last attempt at writing failed. */
  async check(): Promise<void> {
    if (this.#damage !== undefined) throw this.#damage;
    const locked = this.#writerLock.locked() ?? this.#readerLock.locked();
    if (locked) throw locked;
    try {
      await sql`select max(version) from schema_migrations`.execute(this.#reader);
      if (!this.#unwritable) return;
      await this.#expectRoom();
      // Writes a page as it is: an UPDATE that changes nothing is written all the same.
      const rewrite = sql`update schema_migrations set name = name where version = 1`;
      // One try: whoever asks how things are wants to know now.
      await this.#current.run({ open: false, exhaustedAt: 0 }, () =>
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

  /** A page alone proves nothing: it fits into what a transaction that found the disk full has left of the log. */
  async #expectRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#path);
    if (bavail * bsize < ROOM_BYTES) {
      throw new CountersignError('storage.unavailable', diskIsFull(this.#path));
    }
  }

  async backup(path: string): Promise<void> {
    await claimNewFile(path);
    const source = new BetterSqlite3(this.#path, { readonly: true });
    try {
      // An open read holds one moment of the database fast: without it, each write begins the copy anew.
      source.exec('begin');
      source.prepare('select count(*) from schema_migrations').get();
      await source.backup(path);
    } catch (error) {
      await rm(path, { force: true });
      throw sqliteFailure(error, path);
    } finally {
      source.close();
    }
  }

  /** A file that was made without room for it (`auto_vacuum`) keeps its free pages, and fills them again. */
  giveBack(pages: number): Promise<boolean> {
    return this.transaction(async () => {
      const [, writer] = this.#connections;
      const pragma = (name: string) => Number(writer.pragma(name, { simple: true }));
      if (pragma('auto_vacuum') !== INCREMENTAL) return false;
      const kept = Math.max(LEAST_PAGES_KEPT, Math.ceil(pragma('page_count') * SHARE_KEPT));
      const spare = pragma('freelist_count') - kept;
      if (spare <= 0) return false;
      // Not as a query: each step of the statement frees one page, and a query that gives no columns is stepped once.
      writer.exec(`PRAGMA incremental_vacuum(${Math.min(pages, spare)})`);
      return spare > pages;
    });
  }

  /** Waits for the transactions that have been asked for and refuses new ones. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.connection().execute(async () => undefined);
    for (const connection of this.#connections) connection.close();
  }
}

/** Makes an empty file, which nobody else can have made: SQLite's backup would write over another's. */
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
