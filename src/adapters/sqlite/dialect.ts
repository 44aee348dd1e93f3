import type BetterSqlite3 from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely';
import type { LockWait } from './lock-wait.ts';

/** More than the adapter has different statements, not counting batches of many sizes. */
const STATEMENTS_KEPT = 300;

/** Returns the error to throw instead of SQLite's. */
type Translate = (error: unknown) => unknown;

/** How statements wait for another process's lock. */
export interface LockWaitPolicy {
  lock: LockWait;
  /** When the current work must stop waiting, by the lock's clock; `undefined` if it has no deadline. */
  exhaustedAt(): number | undefined;
}

interface Hooks {
  committed?: (() => void) | undefined;
  /** Called before each statement. */
  sees?: ((query: CompiledQuery) => void) | undefined;
}

/**
 * Kysely's own SQLite dialect with another driver.
 * @param lockWait without it, a locked file is an error at once
 * @param committed called right after a transaction's writes can be read, before any other code runs
 */
export function sqliteDialect(
  db: BetterSqlite3.Database,
  translate: Translate,
  lockWait?: LockWaitPolicy,
  { committed, sees }: Hooks = {},
): Dialect {
  return {
    createDriver: () => new ImmediateDriver(db, translate, lockWait, { committed, sees }),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  };
}

/**
 * Differs from Kysely's driver in five ways:
 * - Transactions begin IMMEDIATE. A plain BEGIN fails without waiting if another process wrote between its
 *   first read and write.
 * - If SQLite has rolled back by itself (a full disk), the error of a second rollback does not hide the first
 *   error.
 * - Errors are translated where they occur, so that reads fail with the same messages as transactions.
 * - Statements are prepared once.
 * - A statement that finds the file locked waits without blocking the process.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #db: BetterSqlite3.Database;
  readonly #lockWait: LockWaitPolicy | undefined;
  readonly #committed: () => void;
  readonly #sees: (query: CompiledQuery) => void;
  #connection: DatabaseConnection | undefined;

  constructor(
    db: BetterSqlite3.Database,
    translate: Translate,
    lockWait: LockWaitPolicy | undefined,
    { committed = () => undefined, sees = () => undefined }: Hooks,
  ) {
    super({ database: withPreparedStatements(db, translate) });
    this.#db = db;
    this.#lockWait = lockWait;
    this.#committed = committed;
    this.#sees = sees;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    this.#connection ??= this.#waiting(await super.acquireConnection());
    return this.#connection;
  }

  /**
   * Only outside a transaction, where a statement that found the file locked has changed nothing: the one
   * that begins a transaction, and each read. Inside, this connection holds the lock.
   */
  #waiting(connection: DatabaseConnection): DatabaseConnection {
    const lockWait = this.#lockWait;
    if (!lockWait) return connection;
    const db = this.#db;
    const sees = this.#sees;
    return {
      executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
        sees(query);
        const work = () => connection.executeQuery<Row>(query);
        return db.inTransaction ? work() : lockWait.lock.outlast(work, lockWait.exhaustedAt());
      },
      streamQuery(query, size) {
        sees(query);
        return connection.streamQuery(query, size);
      },
    };
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // A rollback that failed has left the last one open. Its caller got an error, so none of it may be kept.
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite works synchronously, so nothing runs between the commit and the call after it.
    const done = connection.executeQuery(CompiledQuery.raw('commit'));
    this.#committed();
    await done;
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#db.inTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }
}

/**
 * Keeps the most recently used statements. SQLite itself prepares them again after a change of the schema.
 */
function withPreparedStatements(db: BetterSqlite3.Database, translate: Translate): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  const translated = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    prepare(sql) {
      const statement = statements.get(sql) ?? prepare(sql);
      statements.delete(sql);
      statements.set(sql, statement);
      if (statements.size > STATEMENTS_KEPT) {
        const [oldest] = statements.keys();
        if (oldest !== undefined) statements.delete(oldest);
      }
      return statement;
    },
    close: () => db.close(),
  };

  function prepare(sql: string): SqliteStatement {
    const statement = translated(() => db.prepare<unknown[]>(sql));
    return {
      reader: statement.reader,
      all: (parameters) => translated(() => statement.all(...parameters)),
      run: (parameters) => translated(() => statement.run(...parameters)),
      iterate: (parameters) => statement.iterate(...parameters) as IterableIterator<unknown>,
    };
  }
}
