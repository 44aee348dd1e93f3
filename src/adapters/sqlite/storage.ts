import { AsyncLocalStorage } from 'node:async_hooks';
import { open, rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { type CompiledQuery, Kysely, sql } from 'kysely';
import { type Clock, systemTimers, type Timers } from '../../core/clock.ts';
import { CountersignError } from '../../core/errors.ts';
import type { Lease, ReadTx, Storage, Tx } from '../../ports/storage.ts';
import { keepsRows } from '../sql/compiled.ts';
import { KnownRows } from '../sql/known-rows.ts';
import type { Database } from '../sql/schema.ts';
import { tablesOn } from '../sql/tables.ts';
import { UnitOfWork } from '../sql/unit-of-work.ts';
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

/** The most transactions that share a commit: none should wait long for those after it. */
const MAX_GROUP = 8;

/**
 * How many transactions commit alone after a commit of several failed. SQLite checks some references only then and does
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

/**
 * One connection for transactions, and one that only reads. Kysely runs the transactions one after the other
 * on the first. In WAL mode, the second neither waits for it nor sees its uncommitted changes.
 */
export class SqliteStorage implements Storage {
  readonly read: ReadTx;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #connections: readonly [reader: BetterSqlite3.Database, writer: BetterSqlite3.Database];
  readonly #writer: Kysely<Database>;
  /** What transactions know of the database. */
  readonly #known = new KnownRows();
  readonly #dataVersion: () => unknown;
  /** The same for the connection that reads, which sees the commits of the other, too. */
  readonly #readVersion: () => unknown;
  readonly #reader: Kysely<Database>;
  /**
   * The transaction that the current code is part of. `open` becomes false at its end, for code that it
   * started and did not await.
   */
  readonly #current = new AsyncLocalStorage<{ open: boolean; exhaustedAt: number }>();
  readonly #writerLock: LockWait;
  readonly #readerLock: LockWait;
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
  /** Whether the open transaction moves rows into archives or out of them, and how many have done so. */
  #isMoving = false;
  #moves = 0;

  constructor(
    path: string,
    writer: BetterSqlite3.Database,
    reader: BetterSqlite3.Database,
    clock: Clock,
    timers: Timers = systemTimers,
  ) {
    this.#path = path;
    this.#clock = clock;
    // The writer is closed last: the last connection to close moves the log into the database file.
    this.#connections = [reader, writer];
    // https://sqlite.org/pragma.html#pragma_data_version
    const version = writer.prepare('PRAGMA data_version').pluck();
    this.#dataVersion = () => version.get();
    const readVersion = reader.prepare('PRAGMA data_version').pluck();
    this.#readVersion = () => readVersion.get();
    const translate = (error: unknown) => this.#failureOf(error);
    this.#writerLock = createLockWait(timers);
    this.#readerLock = createLockWait(timers);
    // A transaction's waiting time starts when it is requested, so it includes its place in line. Reads have
    // no line.
    const transactionWait = {
      lock: this.#writerLock,
      exhaustedAt: () => this.#current.getStore()?.exhaustedAt,
    };
    const readWait = { lock: this.#readerLock, exhaustedAt: () => undefined };
    const committed = () => {
      if (this.#isMoving) this.#moves += 1;
      this.#isMoving = false;
    };
    const sees = (query: CompiledQuery) => {
      if (!keepsRows(query)) this.#known.sees(query.sql);
    };
    const hooks = { committed, sees };
    this.#writer = new Kysely({ dialect: sqliteDialect(writer, translate, transactionWait, hooks) });
    this.#reader = new Kysely({ dialect: sqliteDialect(reader, translate, readWait) });
    this.read = undividedReads(tablesOn(this.#reader, clock), () => this.#moves);
  }

  async transaction<T>(
    work: (tx: Tx) => Promise<T>,
    { waitsFor }: { waitsFor?: 'others' | 'caller' } = {},
  ): Promise<T> {
    if (this.#current.getStore()?.open) {
      throw new CountersignError(
        'storage.nested_transaction',
        'A transaction was begun inside another and would wait for itself: use the outer one.',
      );
    }
    if (this.#closed) throw new CountersignError('storage.closed', `The database ${this.#path} is closed.`);
    if (this.#damage !== undefined) throw this.#damage;
    const request = Promise.withResolvers<T>();
    const lease = this.#lease.getStore();
    const current = { open: true, exhaustedAt: this.#writerLock.deadline() };
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
    try {
      return await request.promise;
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'storage.unavailable') this.#unwritable = true;
      throw error;
    }
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
      const tx = tablesOn(transaction, this.#clock, { unit, known: this.#known });
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
   * Runs the waiting transactions in one of SQLite, so that they wait for the disk once. Each of them either
   * happens as a whole or not at all, and its caller hears of it only after the commit.
   */
  async #commitGroup(): Promise<void> {
    const [first] = this.#line;
    const done: { settle: Waiting['settle']; attempt: Attempt }[] = [];
    try {
      await first?.begin(() =>
        this.#writer.transaction().execute(async (transaction) => {
          this.#known.begins(this.#dataVersion());
          for (let next = this.#line.shift(); next; next = this.#next(done.length)) {
            const attempt = await this.#isolated(transaction, next, done.length > 0);
            if (attempt) done.push({ settle: next.settle, attempt });
          }
        }),
      );
    } catch (error) {
      // SQLite may have undone it by itself.
      this.#known.forget();
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
      const [, writer] = this.#connections;
      // On a full disk, SQLite has undone the whole transaction.
      if (!hasOthers || !writer.inTransaction) throw error;
      await UNDO.execute(transaction);
      await RELEASE.execute(transaction);
      return undefined;
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
    this.#commitWaiting();
    await this.#commitAll;
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

/**
 * Ends the job, or makes sure that it is still held. One check is enough: no other process can write, and so
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
